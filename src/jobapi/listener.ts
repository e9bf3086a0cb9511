import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { StateConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { loadCertificates, signatureOf, watchCertificates } from "./certificates.ts";
import { CONNECTIONS_MAX, HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS, TIMEOUTS_CHECK_MS } from "./limits.ts";
import { advertisedUrl, bindHost, listenAddress } from "./listen-address.ts";
import { errorText } from "./serve-request.ts";

export interface Listener {
  /** What jobs are told to connect to. */
  readonly url: string;
  /** Takes no more connections, ends idle ones, and the others when they have been answered. */
  close(): void;
  /** Ends all connections. */
  destroy(): void;
}

interface ListenerParts {
  readonly config: Pick<StateConfig["jobApi"], "listen" | "tls">;
  readonly serve: RequestListener;
  readonly clock: Clock;
  readonly log: Logger;
}

const options = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUTS_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
};

/** Opens the port. Rejects when it cannot be bound or the certificate does not load. */
export async function openListener({ config, serve, clock, log }: ListenerParts): Promise<Listener> {
  const address = listenAddress(config.listen);
  const { server, stopWatching } = await serverFor(address.secure, config.tls, clock, log);
  server.maxConnections = CONNECTIONS_MAX;
  server.on("request", serve);
  server.on("checkContinue", serve);
  server.on("clientError", refuseUnreadable);
  try {
    server.listen({ port: address.port, host: bindHost(address) });
    await once(server, "listening");
  } catch (error) {
    stopWatching();
    throw error;
  }
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : address.port;
  return {
    url: advertisedUrl(address, port),
    close() {
      stopWatching();
      server.close();
      server.closeIdleConnections();
    },
    destroy: () => server.closeAllConnections(),
  };
}

async function serverFor(
  secure: boolean,
  tls: ListenerParts["config"]["tls"],
  clock: Clock,
  log: Logger,
): Promise<{ readonly server: Server; readonly stopWatching: () => void }> {
  if (!secure || tls?.cert == null || tls.key === null)
    return { server: createServer(options), stopWatching: () => undefined };
  const files = { cert: tls.cert, key: tls.key };
  const seen = await signatureOf(files);
  const server = createSecureServer({ ...options, ...(await loadCertificates(files)) });
  return { server, stopWatching: watchCertificates(server, files, seen, clock, log) };
}

const unreadable: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request line and headers are too large"],
};

/** A request that is no HTTP, or that does not come to its end. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return;
  const [status, message] = unreadable[error.code ?? ""] ?? ["400 Bad Request", "the request is not valid HTTP"];
  const body = errorText(message);
  const headers = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`, () => socket.destroy());
}
