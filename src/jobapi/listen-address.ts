import { isIPv6 } from "node:net";

/** Where the endpoint listens. */
export interface ListenAddress {
  readonly secure: boolean;
  /** As `listen` of a server takes it: without brackets. */
  readonly host: string;
  /** 0 for one that the system chooses. */
  readonly port: number;
}

const FORM = /^(?:(https?):\/\/)?(\[[^\]]*\]|[^/:]*)(?::(\d+))?\/?$/i;

/** Reads `state.jobApi.listen`, whose form the configuration has checked; null is any free port of the loopback interface. */
export function listenAddress(listen: string | null): ListenAddress {
  const [, scheme = "http", host = "", port = "0"] = FORM.exec(listen ?? "127.0.0.1:0") ?? [];
  return { secure: scheme.toLowerCase() === "https", host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

/** The address that jobs are told: the configured host, or for one that stands for all the loopback address of its family (JAP-4). */
export function advertisedUrl({ secure, host }: ListenAddress, boundPort: number): string {
  const told = wildcards.get(host) ?? host;
  return `${secure ? "https" : "http"}://${isIPv6(told) ? `[${told}]` : told}:${boundPort}`;
}

const wildcards: ReadonlyMap<string, string> = new Map([
  ["", "127.0.0.1"],
  ["*", "127.0.0.1"],
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** What `listen` of a server takes for the host; undefined for all addresses of the machine. */
export function bindHost({ host }: ListenAddress): string | undefined {
  return host === "" || host === "*" ? undefined : host;
}
