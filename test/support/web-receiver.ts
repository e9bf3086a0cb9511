import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificate.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
}

export interface WebReceiver {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when so many requests are there. */
  received(count: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
}

/** A real HTTP server on a free port of the loopback interface; `answer` says what it does, 200 without it. */
export async function webReceiver(
  answer: (response: ServerResponse, request: ReceivedRequest) => void = (response) => response.end(),
  tls?: Certificate,
): Promise<WebReceiver> {
  const requests: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const connections = new Map<object, number>();
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    connections.set(request.socket, connections.get(request.socket) ?? connections.size + 1);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const received = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        connection: connections.get(request.socket) ?? 0,
      };
      requests.push(received);
      answer(response, received);
      for (const look of waiting) look();
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    requests,
    received: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (requests.length < count) return;
          waiting.delete(look);
          resolve(requests);
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
