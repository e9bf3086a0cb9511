import { createSocket, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import type { Clock } from "../platform/clock.ts";
import { ADDRESS_AGE_MAX_MS, LOOKUP_REST_MS, QUEUED_BYTES_MAX, WELL_AFTER_MS } from "./limits.ts";

export type Sent =
  | { readonly kind: "sent" }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: Error };

export interface UdpDestination {
  /** Hands a datagram to the network, in the order of the calls. Never rejects; dropped datagrams are not told apart further. */
  send(datagram: string): Promise<Sent>;
  close(): void;
}

/** What goes wrong is told once per episode: `onAsyncError` for what the network answers later, `failed` for what never left. */
export interface UdpDestinationEnvironment {
  readonly clock: Clock;
  readonly onAsyncError: (error: Error) => void;
  readonly resolve?: (host: string) => Promise<{ readonly address: string; readonly family: number }>;
}

interface Waiting {
  readonly datagram: Buffer;
  readonly settle: (sent: Sent) => void;
}

interface Line {
  readonly socket: Socket;
  readonly openedAt: number;
  inFlight: number;
  isRetired: boolean;
}

/**
 * One UDP peer, with a socket that is connected so that a refusal by the peer comes back to us. The address is looked up when first
 * needed, again when it is old and after any error. Never keeps the process alive.
 */
export function udpDestination(
  host: string,
  port: number,
  { clock, onAsyncError, resolve = (name) => lookup(name) }: UdpDestinationEnvironment,
): UdpDestination {
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let line: Line | null = null;
  let isOpening = false;
  let restUntil = Number.NEGATIVE_INFINITY;
  let isTroubled = false;
  let wellSince: number | null = null;

  /** @returns whether this begins an episode */
  const noteTrouble = (): boolean => {
    wellSince = null;
    const begins = !isTroubled;
    isTroubled = true;
    return begins;
  };

  const noteSent = (): void => {
    wellSince ??= clock.elapsedNow();
  };

  const endEpisodeIfWell = (): void => {
    if (wellSince !== null && clock.elapsedNow() - wellSince >= WELL_AFTER_MS) isTroubled = false;
  };

  const retire = (): void => {
    if (line === null) return;
    line.isRetired = true;
    if (line.inFlight === 0) line.socket.close();
    line = null;
  };

  const open = async (): Promise<void> => {
    isOpening = true;
    try {
      const { address, family } = await resolve(host);
      const socket = await connected(address, port, family === 6 ? "udp6" : "udp4");
      const opened: Line = { socket, openedAt: clock.elapsedNow(), inFlight: 0, isRetired: false };
      socket.on("error", (error) => {
        if (line === opened) retire();
        if (noteTrouble()) onAsyncError(error);
      });
      line = opened;
    } catch (error) {
      restUntil = clock.elapsedNow() + LOOKUP_REST_MS;
      failAll(error instanceof Error ? error : new Error(String(error)));
    } finally {
      isOpening = false;
    }
    if (line !== null) flush(line);
  };

  /** The first datagram of an episode tells why; the others are dropped as they would be from now on. */
  const failAll = (error: Error): void => {
    for (const { datagram, settle } of queue.splice(0)) {
      queuedBytes -= datagram.length;
      settle(noteTrouble() ? { kind: "failed", error } : { kind: "dropped" });
    }
  };

  const flush = (through: Line): void => {
    for (const { datagram, settle } of queue.splice(0)) {
      through.inFlight += 1;
      through.socket.send(datagram, (error) => {
        queuedBytes -= datagram.length;
        through.inFlight -= 1;
        if (through.isRetired && through.inFlight === 0) through.socket.close();
        if (error === null) {
          noteSent();
          settle({ kind: "sent" });
        } else {
          if (line === through) retire();
          settle(noteTrouble() ? { kind: "failed", error } : { kind: "dropped" });
        }
      });
    }
  };

  return {
    send(text) {
      const now = clock.elapsedNow();
      const datagram = Buffer.from(text);
      if (now < restUntil || queuedBytes + datagram.length > QUEUED_BYTES_MAX)
        return Promise.resolve({ kind: "dropped" });
      endEpisodeIfWell();
      if (line !== null && now - line.openedAt >= ADDRESS_AGE_MAX_MS) retire();
      queuedBytes += datagram.length;
      return new Promise((settle) => {
        queue.push({ datagram, settle });
        if (line !== null) flush(line);
        else if (!isOpening) void open();
      });
    },
    close() {
      retire();
      restUntil = Number.POSITIVE_INFINITY;
      for (const { settle } of queue.splice(0)) settle({ kind: "dropped" });
    },
  };
}

function connected(address: string, port: number, type: "udp4" | "udp6"): Promise<Socket> {
  const socket = createSocket(type);
  socket.unref();
  return new Promise<Socket>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.connect(port, address);
  }).catch((error: unknown) => {
    socket.close();
    throw error;
  });
}
