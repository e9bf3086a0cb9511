import type { ClientRequest, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { Endpoint } from "./endpoint.ts";
import { JobApiError } from "./job-api-error.ts";

/** A request to the endpoint. */
export interface Exchange {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  readonly body?: RequestBody;
  /** How long the whole of it may take. */
  readonly patienceMs: number;
  readonly abort?: AbortSignal | undefined;
}

export interface RequestBody {
  readonly type: "application/json" | "application/octet-stream";
  readonly content: Uint8Array | string | Readable;
  readonly bytes: number;
}

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** Bodies from this size on are sent when the endpoint has agreed to take them, so that its refusal is heard. */
const ASK_FIRST_BYTES = 256 * 1024;

/**
 * One request on a connection of its own: never through a proxy, no redirect followed, certificates always verified (CLI-3).
 *
 * @throws JobApiError when no whole answer comes in time
 */
export async function exchange(
  endpoint: Endpoint,
  { method, path, body, patienceMs, abort }: Exchange,
): Promise<Reply> {
  const { url, token, ca } = endpoint;
  const bodyHeaders = body === undefined ? {} : { "Content-Type": body.type, "Content-Length": body.bytes };
  const asksFirst = body !== undefined && body.bytes >= ASK_FIRST_BYTES;
  const request = open(url, ca, {
    method,
    path,
    agent: false,
    signal: abort,
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: "*/*",
      ...bodyHeaders,
      ...(asksFirst ? { Expect: "100-continue" } : {}),
    },
  });
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      request.destroy();
      reject(unreachable(url, error));
    };
    const timer = setTimeout(() => fail(new Error(`no answer within ${patienceMs / 1000} s`)), patienceMs);
    request.on("error", fail);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        clearTimeout(timer);
        // An endpoint that has answered before it had the whole body wants no more of it.
        if (!request.writableFinished) request.destroy();
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
      });
    });
    if (asksFirst) request.once("continue", () => send(request, body, fail));
    else send(request, body, fail);
    request.flushHeaders();
  });
}

// An import of these modules would build a namespace of all they export: some milliseconds of a command's start (CLI-5).
function open(url: URL, ca: Buffer | null, options: RequestOptions): ClientRequest {
  if (url.protocol === "http:") return process.getBuiltinModule("node:http").request(url, options);
  // Stated, so that no variable of the environment switches it off.
  const trust = { rejectUnauthorized: true, ...(ca === null ? {} : { ca }) };
  return process.getBuiltinModule("node:https").request(url, { ...options, ...trust });
}

function send(request: ClientRequest, body: RequestBody | undefined, fail: (error: Error) => void): void {
  if (body === undefined) request.end();
  else if (typeof body.content === "string" || body.content instanceof Uint8Array) request.end(body.content);
  else body.content.on("error", fail).pipe(request);
}

function unreachable(url: URL, error: NodeJS.ErrnoException): JobApiError {
  const place = url.origin;
  const message = isTrustProblem(error)
    ? `the TLS handshake with the cronstable state endpoint at ${place} failed: ${error.message}`
    : `cannot reach the cronstable state endpoint at ${place}: ${error.message}`;
  return new JobApiError("unreachable", message);
}

/** Codes of the verification of certificates and of OpenSSL itself. */
function isTrustProblem({ code = "" }: NodeJS.ErrnoException): boolean {
  return /CERT|^ERR_(SSL|TLS|OSSL)_|UNABLE_TO_|^EPROTO$/.test(code);
}
