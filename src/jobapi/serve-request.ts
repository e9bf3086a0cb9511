import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "../contract/log.ts";
import { spacedJson } from "../store/json-spaced.ts";
import type { Answer, Route, Routes } from "./call.ts";
import { createLatch } from "./latch.ts";
import { Refusal } from "./refusal.ts";
import type { BodyReader } from "./request-body.ts";
import { requestFields } from "./request-fields.ts";
import type { RunSession, RunSessions } from "./run-sessions.ts";

interface ServeParts {
  readonly routes: Routes;
  readonly sessions: RunSessions;
  readonly bodies: BodyReader;
  readonly log: Logger;
}

export interface RequestServer {
  /**
   * Serves one request: route, then token, then the rest (V1-1). A path is matched as it came: what is spelled another way is not
   * found. Never rejects; whatever goes wrong is answered.
   */
  readonly serve: RequestListener;
  /** Resolves when no request is being served. */
  drained(): Promise<void>;
}

export function requestServer({ routes, sessions, bodies, log }: ServeParts): RequestServer {
  const serving = new Set<ServerResponse>();
  let onDrained = (): void => undefined;

  const answerTo = async (request: IncomingMessage, response: ServerResponse, target: Target): Promise<Answer> => {
    const route = routeOf(routes, target.path, request.method ?? "");
    const run = sessions.authorized(request.headersDistinct.authorization);
    if (run === null) throw new Refusal(401, "401: Unauthorized");
    return route.handle(callOf(run, request, response, target));
  };

  const callOf = (run: RunSession, request: IncomingMessage, response: ServerResponse, { query }: Target) => {
    const hungUp = createLatch();
    response.once("close", () => {
      if (!response.writableFinished) hungUp.trip();
    });
    const bytes = (): Promise<Uint8Array> => bodies.read(request, response);
    return { run, query, hungUp, bytes, fields: async () => requestFields(await bytes()) };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    serving.add(response);
    response.once("close", () => {
      serving.delete(response);
      if (serving.size === 0) onDrained();
    });
    try {
      send(response, await answerTo(request, response, targetOf(request.url ?? "")));
    } catch (error) {
      if (!(error instanceof Refusal)) {
        const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
        log.error(`state: a job's request ${request.method} ${targetOf(request.url ?? "").path} failed: ${reason}`);
      }
      refuse(response, error instanceof Refusal ? error : internalError);
    }
  };

  return {
    serve,
    drained: () =>
      new Promise((resolve) => {
        onDrained = resolve;
        if (serving.size === 0) resolve();
      }),
  };
}

const internalError = new Refusal(500, "internal error; the reason is in the cronstable log");

interface Target {
  readonly path: string;
  readonly query: URLSearchParams;
}

function targetOf(url: string): Target {
  const mark = url.indexOf("?");
  if (mark === -1) return { path: url, query: new URLSearchParams() };
  return { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) };
}

/** @throws Refusal */
function routeOf(routes: Routes, path: string, method: string): Route {
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) throw new Refusal(404, "404: Not Found");
  const allowed = route.method === "GET" ? ["GET", "HEAD"] : [route.method];
  if (!allowed.includes(method)) throw new Refusal(405, "405: Method Not Allowed", { Allow: allowed.join(",") });
  return route;
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer.kind === "json") sendJson(response, 200, spacedJson(answer.body), {});
  else {
    const { bytes, headers } = answer;
    response
      .writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": bytes.length, ...headers })
      .end(bytes);
  }
}

function refuse(response: ServerResponse, { status, message, headers }: Refusal): void {
  sendJson(response, status, errorText(message), headers);
}

/** The body of every answer that refuses (V1-3). */
export function errorText(message: string): string {
  return spacedJson({ error: message });
}

function sendJson(response: ServerResponse, status: number, text: string, headers: Refusal["headers"]): void {
  const own = { "Content-Type": "application/json; charset=utf-8", "Content-Length": text.length };
  response.writeHead(status, { ...own, ...headers }).end(text);
}
