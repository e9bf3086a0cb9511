import type { BoundAddress } from "./listeners.ts";

/** What is announced on the local network (http 2.4). No secret, and nothing of jobs. */
export interface Advert {
  /** Of the instance, as people see it. */
  readonly name: string;
  /** What the service record points at. */
  readonly target: string;
  readonly port: number;
  readonly address: string;
  readonly txt: { readonly v: string; readonly scheme: "http" | "https" };
}

export interface AdvertFacts {
  readonly bound: readonly BoundAddress[];
  /** As configured; null for the host's name. */
  readonly name: string | null;
  readonly hostName: string;
  readonly version: string;
  /** Where packets to elsewhere leave from; null when there is no way. */
  readonly primaryAddress: string | null;
}

const LABEL_BYTES_MAX = 63;
const TARGET_ENDING = "-cronstable";

/** One address is announced: the first secure one that others can reach over IPv4, else the first plain one; null without either. */
export function advertOf({ bound, name, hostName, version, primaryAddress }: AdvertFacts): Advert | null {
  const reachable = bound.filter(({ port, hosts }) => port !== null && hosts.some(isReachable));
  const chosen = reachable.find(({ secure }) => secure) ?? reachable[0];
  if (chosen === undefined || chosen.port === null) return null;
  const own = chosen.hosts.find((host) => isReachable(host) && host !== "0.0.0.0");
  const address = own ?? primaryAddress;
  if (address === null) return null;
  const instance = cut((name ?? hostName).replaceAll(".", "-"), LABEL_BYTES_MAX);
  const label = cut(instance.replace(/[^a-z0-9-]+/gi, "-"), LABEL_BYTES_MAX - TARGET_ENDING.length);
  return {
    name: instance,
    target: `${label}${TARGET_ENDING}.local`,
    port: chosen.port,
    address,
    txt: { v: version, scheme: chosen.secure ? "https" : "http" },
  };
}

/** An IPv4 address that is not this host's own loopback. */
function isReachable(host: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) && !host.startsWith("127.");
}

/** At most so many bytes, no character cut in two. */
function cut(text: string, bytesMax: number): string {
  let kept = "";
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytesMax) break;
    kept += character;
  }
  return kept;
}
