import { createSocket } from "node:dgram";
import { once } from "node:events";
import { hostname, networkInterfaces } from "node:os";
import type { WebConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import { version } from "../contract/version.ts";
import { type Advert, advertOf } from "./advert.rules.ts";
import type { BoundAddress } from "./listeners.ts";

/** Announces something on the local network until it is withdrawn. Rejects when it cannot. */
export type Announce = (advert: Advert, onTrouble: (reason: string) => void) => Promise<() => Promise<void>>;

/** The announcement of the API, kept in step with what is bound (http 2.4). Trouble with it is logged and harms nothing else. */
export interface Advertiser {
  update(bonjour: WebConfig["bonjour"], bound: readonly BoundAddress[]): Promise<void>;
  withdraw(): Promise<void>;
}

export function createAdvertiser(announce: Announce, log: Logger): Advertiser {
  let current: { readonly text: string; readonly withdraw: () => Promise<void> } | null = null;

  const trouble = (reason: string): void => log.warning(`web: bonjour: ${reason}`);

  const withdraw = async (): Promise<void> => {
    const known = current;
    current = null;
    await known?.withdraw().catch((error: unknown) => trouble(`could not be withdrawn: ${textOf(error)}`));
  };

  return {
    withdraw,
    async update(bonjour, bound) {
      const facts = { bound, hostName: hostname(), version };
      const advert =
        bonjour === null ? null : advertOf({ ...facts, name: bonjour.name, primaryAddress: await primaryAddress() });
      const text = JSON.stringify(advert);
      if (text === (current?.text ?? "null")) return;
      await withdraw();
      if (advert === null) return;
      try {
        current = { text, withdraw: await announce(advert, trouble) };
        log.info(
          `web: bonjour: announcing ${advert.txt.scheme}://${advert.address}:${advert.port} as '${advert.name}'`,
        );
      } catch (error) {
        trouble(`could not announce: ${textOf(error)}`);
      }
    },
  };
}

/** Announces by multicast DNS; loaded when it is first used. */
export const announceByMdns: Announce = async (advert, onTrouble) => {
  const { Bonjour } = await import("bonjour-service");
  const { name, port, target: host, txt } = advert;
  const bonjour = new Bonjour({}, (error: unknown) => onTrouble(textOf(error)));
  const service = bonjour.publish({ name, port, host, txt, type: "cronstable", protocol: "tcp", disableIPv6: true });
  // Asked for when its name has proven free: of all the host's addresses only the one that is served is told.
  const all = service.records.bind(service);
  service.records = () => [
    ...all().filter(({ type }) => type !== "A" && type !== "AAAA"),
    { name: host, type: "A", ttl: 120, data: advert.address },
  ];
  return () =>
    new Promise((resolve) => {
      bonjour.unpublishAll(() => bonjour.destroy(resolve));
    });
};

/** The address that packets to other networks leave from: the system is asked for the way, nothing is sent. */
async function primaryAddress(): Promise<string | null> {
  const socket = createSocket("udp4");
  try {
    socket.connect(9, "192.0.2.1"); // an address of no host (RFC 5737)
    await once(socket, "connect");
    return socket.address().address;
  } catch {
    const addresses = Object.values(networkInterfaces()).flat();
    return addresses.find((own) => own?.family === "IPv4" && !own.internal)?.address ?? null;
  } finally {
    socket.close();
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
