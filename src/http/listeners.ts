import type { RequestListener } from "node:http";
import type { WebConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { readListenAddress } from "./listen-address.rules.ts";
import { type Listener, openListener } from "./listener.ts";
import type { TlsMaterial } from "./tls-material.ts";

/** One entry of `web.listen` that is served. */
export interface BoundAddress {
  /** As configured. */
  readonly address: string;
  readonly secure: boolean;
  /** The real port; null for a socket file. */
  readonly port: number | null;
  readonly hosts: readonly string[];
}

/** The addresses that are served, each by itself: one that cannot be bound harms no other (http 1.2). */
export interface Listeners {
  /** Opens what is configured and not open, closes what is open and not configured. */
  bind(config: Pick<WebConfig, "listen" | "socketMode" | "tls">, tls: TlsMaterial | null): Promise<void>;
  /** New handshakes use this material; every idle connection is closed. */
  renew(tls: TlsMaterial | null): void;
  /** What secure addresses are served with now. */
  material(): TlsMaterial | null;
  bound(): readonly BoundAddress[];
  closeAll(): Promise<void>;
}

interface Open {
  readonly listener: Listener;
  readonly bound: BoundAddress;
  /** What cannot be changed while it is open. */
  readonly shape: string;
}

export function createListeners(parts: {
  readonly serve: RequestListener;
  readonly log: Logger;
  readonly clock: Clock;
}): Listeners {
  const { serve, log, clock } = parts;
  const open = new Map<string, Open>();
  const complaints = new Map<string, string>();
  let current: TlsMaterial | null = null;

  /** A complaint is made once, and again when it is another one. */
  const complain = (address: string, message: string): void => {
    if (complaints.get(address) !== message) log.warning(message);
    complaints.set(address, message);
  };

  const openOne = async (text: string, shape: string, socketMode: number | null): Promise<void> => {
    const address = readListenAddress(text);
    if (address.kind === "unusable") return complain(text, `Ignoring web listen url ${text}: ${address.why}`);
    if (address.kind === "unix" && process.platform === "win32")
      return complain(
        text,
        `Ignoring web listen url ${text}: unix-socket listeners are not supported on this platform`,
      );
    const secure = address.kind === "tcp" && address.secure;
    if (secure && current === null)
      return complain(text, `Ignoring web listen url ${text}: no usable web.tls material for an https listener`);
    try {
      const listener = await openListener({ address, tls: current, socketMode, serve, log, clock });
      const { port, hosts } = listener;
      open.set(text, { listener, shape, bound: { address: text, secure, port, hosts } });
      complaints.delete(text);
      const chosen = address.kind === "tcp" && address.port === 0 ? ` (port ${port})` : "";
      log.info(`web: started listening on ${text}${chosen}`);
    } catch (error) {
      complain(text, `web: could not listen on ${text}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  const closeOne = async (text: string): Promise<void> => {
    const known = open.get(text);
    open.delete(text);
    await known?.listener.close();
  };

  return {
    async bind({ listen, socketMode, tls: configured }, tls) {
      current = tls;
      const shapeOf = (text: string): string =>
        text.toLowerCase().startsWith("unix:")
          ? `mode ${socketMode}`
          : `client certificate ${configured?.clientCa != null}`;
      for (const [text, { shape }] of open) if (!listen.includes(text) || shape !== shapeOf(text)) await closeOne(text);
      for (const text of new Set(listen)) if (!open.has(text)) await openOne(text, shapeOf(text), socketMode);
      if (open.size === 0)
        log.error(
          "web: no listen address could be bound, so the web API is not up; retrying on the next housekeeping pass",
        );
    },
    renew(tls) {
      current = tls;
      for (const { listener } of open.values()) listener.renew(tls);
    },
    material: () => current,
    bound: () => Array.from(open.values(), ({ bound }) => bound),
    async closeAll() {
      await Promise.all([...open.keys()].map(closeOne));
    },
  };
}
