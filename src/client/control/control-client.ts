import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** The control API did not answer, or refused; `message` says which, and what it said. */
export class ControlError extends Error {}

/** Calls the control API of a running daemon (http 1). */
export interface ControlClient {
  get(path: string): Promise<unknown>;
  /** @param body is sent as JSON */
  post(path: string, body?: unknown): Promise<unknown>;
}

/** Longest wait for an answer. */
const ANSWER_LIMIT_MS = 30_000;

/**
 * @param base `http://…`, `https://…` or `unix:///path/of/the/socket`
 * @param token null where the API asks for none
 */
export function controlClient(base: string, token: string | null): ControlClient {
  const url = new URL(base);
  const socketPath = url.protocol === "unix:" ? decodeURIComponent(url.pathname) : null;
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;

  const call = (method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? null : JSON.stringify(body);
      const headers = {
        accept: "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(text === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const options = { method, path, headers, timeout: ANSWER_LIMIT_MS };
      const where =
        socketPath === null ? { host: bareHost(url.hostname), port: url.port || undefined } : { socketPath };
      const exchange = send({ ...options, ...where }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", (error) => reject(unreachable(base, error.message)));
        response.on("end", () => {
          const answer = parsed(Buffer.concat(parts).toString("utf8"));
          const status = response.statusCode ?? 0;
          if (status >= 200 && status < 300) resolve(answer);
          else reject(new ControlError(refusalText(status, answer)));
        });
      });
      exchange.on("timeout", () => exchange.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} s`)));
      exchange.on("error", (error) => reject(unreachable(base, error.message)));
      exchange.end(text ?? undefined);
    });

  return { get: (path) => call("GET", path), post: (path, body) => call("POST", path, body) };
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, ""); // node:http wants IPv6 without its brackets
}

function unreachable(base: string, why: string): ControlError {
  return new ControlError(
    `the daemon cannot be reached at ${base} (${why}); name another address with --url, or start it`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

function refusalText(status: number, answer: unknown): string {
  const said =
    typeof answer === "object" && answer !== null && "error" in answer ? String(answer.error) : String(answer);
  const hint = status === 401 ? "; give a token with --token or CRONSTABLE_TOKEN" : "";
  return `${said || `the daemon answered ${status}`}${hint}`;
}
