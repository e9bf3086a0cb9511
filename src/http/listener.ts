import { lookup } from "node:dns/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { isIP, type ListenOptions, type Socket } from "node:net";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import {
  CLOSE_PATIENCE_MS,
  CONNECTIONS_MAX,
  HEADERS_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  REQUEST_TIMEOUT_MS,
  TIMEOUTS_CHECK_MS,
} from "./limits.ts";
import type { ListenAddress } from "./listen-address.rules.ts";
import { contextOptions, type TlsMaterial } from "./tls-material.ts";
import { bindUnixSocket } from "./unix-socket.ts";

/** One entry of `web.listen`, served. */
export interface Listener {
  /** The real port of a TCP address, null for a socket file. */
  readonly port: number | null;
  /** IP addresses it is bound to; none for a socket file. */
  readonly hosts: readonly string[];
  /** New handshakes use this material; idle connections are closed so that their clients come back by it. */
  renew(tls: TlsMaterial | null): void;
  /** Takes no more connections; those that are answered within a second are, then all are cut. */
  close(): Promise<void>;
}

interface ListenerParts {
  readonly address: Exclude<ListenAddress, { kind: "unusable" }>;
  /** Needed by a secure address. */
  readonly tls: TlsMaterial | null;
  readonly socketMode: number | null;
  readonly serve: RequestListener;
  readonly log: Logger;
  readonly clock: Clock;
}

const options = {
  maxHeaderSize: HEADERS_BYTES_MAX,
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUTS_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  requireHostHeader: false, // what is sent over a socket file may have none
};

/** Rejects when the address cannot be bound; nothing stays open then. */
export async function openListener(parts: ListenerParts): Promise<Listener> {
  const { address } = parts;
  if (address.kind === "unix") {
    const server = serverFor(parts);
    const remove = await bindUnixSocket(server, address.path, parts.socketMode, parts.log);
    return listenerOf(parts, [server], null, [], remove);
  }
  const hosts = await addressesOf(address.host);
  const servers: Server[] = [];
  const bound: string[] = [];
  let port = address.port;
  let missing: unknown = null;
  for (const host of hosts) {
    const server = serverFor(parts);
    try {
      await bindTcp(server, { port, host, ipv6Only: isIP(host) === 6 });
    } catch (error) {
      server.close();
      // A name may stand for an address that this host does not have; the others serve.
      if (isAbsentAddress(error) && hosts.length > 1) {
        missing = error;
        continue;
      }
      await Promise.all(servers.map((opened) => closeServer(opened, parts.clock)));
      throw error;
    }
    const real = server.address();
    if (typeof real === "object" && real !== null) port = real.port; // further addresses of a free port take the same
    servers.push(server);
    bound.push(host);
  }
  if (servers.length === 0) throw missing;
  return listenerOf(parts, servers, port, bound, async () => undefined);
}

function listenerOf(
  { clock }: ListenerParts,
  servers: readonly Server[],
  port: number | null,
  hosts: readonly string[],
  remove: () => Promise<void>,
): Listener {
  return {
    port,
    hosts,
    renew(tls) {
      for (const server of servers) {
        if (tls !== null && isSecure(server)) server.setSecureContext(contextOptions(tls));
        server.closeIdleConnections();
      }
    },
    async close() {
      await Promise.all(servers.map((server) => closeServer(server, clock)));
      await remove();
    },
  };
}

function serverFor({ address, tls, serve }: ListenerParts): Server {
  const server = createFor(address, tls);
  server.maxConnections = CONNECTIONS_MAX;
  server.on("request", serve);
  server.on("clientError", refuseUnreadable);
  return server;
}

function createFor(address: ListenerParts["address"], tls: TlsMaterial | null): Server {
  if (address.kind === "unix" || !address.secure) return createServer(options);
  if (tls === null) throw new Error("no usable web.tls material for an https listener");
  return createSecureServer({ ...options, ...contextOptions(tls), requestCert: tls.clientCa !== null });
}

function isSecure(server: Server): server is Server & SecureServer {
  return "setSecureContext" in server;
}

async function addressesOf(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await lookup(host, { all: true });
  return [...new Set(found.map(({ address }) => address))];
}

function isAbsentAddress(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EADDRNOTAVAIL" || error.code === "EAFNOSUPPORT");
}

function bindTcp(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

function closeServer(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = clock.after(CLOSE_PATIENCE_MS, () => server.closeAllConnections());
    server.close(() => {
      stopWaiting();
      resolve();
    });
    server.closeIdleConnections();
  });
}

const unreadable: Readonly<Record<string, readonly [status: string, text: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request line and headers are too large"],
};

/** A request that is no HTTP, or that does not come to its end. Nothing is said to one that failed its TLS handshake. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const code = error.code ?? "";
  if (!socket.writable || !(code.startsWith("HPE_") || code.startsWith("ERR_HTTP_"))) {
    socket.destroy();
    return;
  }
  const [status, text] = unreadable[code] ?? ["400 Bad Request", "the request is not valid HTTP"];
  const headers = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${text}`, () => socket.destroy());
}
