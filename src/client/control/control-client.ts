import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { z } from "zod";
import { errorShape } from "../../contract/wire/error.ts";
import type { Wire } from "../../contract/wire/shape.ts";
import { ANSWER_BYTES_MAX, ANSWER_PATIENCE_MS } from "./limits.ts";

/**
 * Why a call came to nothing; `message` says it for people. "refused": the daemon said no, in its own words. "unreachable": nobody answered
 * in time, and the request may have been carried out all the same. "foreign": what answered is no daemon of ours.
 */
export class ControlError extends Error {
  constructor(
    readonly kind: "refused" | "unreachable" | "foreign",
    message: string,
  ) {
    super(message);
  }
}

/** An answer as the daemon wrote it, and what it says. */
export interface Answer<T> {
  readonly text: string;
  readonly value: T;
}

/** Calls the control API of a running daemon (http 1). Every call rejects with a ControlError when it comes to nothing. */
export interface ControlClient {
  get<S extends z.ZodType>(path: string, shape: S): Promise<Answer<Wire<S>>>;
  /** @param body is sent as JSON */
  post<S extends z.ZodType>(path: string, shape: S, body: object): Promise<Answer<Wire<S>>>;
}

/** Where an API is, and what it is shown. */
export interface ControlEndpoint {
  /** `http://…`, `https://…` or `unix:///path/of/the/socket`. */
  readonly url: string;
  /** Null where the API asks for none; else free of control characters. */
  readonly token: string | null;
}

export function controlClient(endpoint: ControlEndpoint): ControlClient {
  const call = async <S extends z.ZodType>(method: "GET" | "POST", path: string, shape: S, body: string | null) => {
    const { status, text } = await exchange(endpoint, method, path, body);
    if (status < 200 || status >= 300) throw refusal(endpoint.url, status, text);
    const read = shape.safeParse(parsed(text));
    if (!read.success) throw foreign(endpoint.url);
    return { text, value: read.data as Wire<S> };
  };
  return {
    get: (path, shape) => call("GET", path, shape, null),
    post: (path, shape, body) => call("POST", path, shape, JSON.stringify(body)),
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

function exchange(endpoint: ControlEndpoint, method: string, path: string, body: string | null): Promise<Reply> {
  const { url, token } = endpoint;
  const { send, where } = destination(url);
  const headers = {
    accept: "application/json",
    // A header's characters are bytes: those of the token are its UTF-8. A body of text would have Node write both as UTF-8.
    ...(token === null ? {} : { authorization: `Bearer ${Buffer.from(token, "utf8").toString("latin1")}` }),
    ...(body === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      request.destroy();
      reject(unreachable(url, why));
    };
    const request = send({ ...where, method, path, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > ANSWER_BYTES_MAX) fail(`its answer is larger than ${ANSWER_BYTES_MAX} bytes`);
        else parts.push(part);
      });
      response.on("error", (error) => fail(reasonOf(error)));
      response.on("end", () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") });
      });
    });
    const timer = setTimeout(() => fail(`no answer within ${ANSWER_PATIENCE_MS / 1000} s`), ANSWER_PATIENCE_MS);
    request.on("error", (error) => fail(reasonOf(error)));
    request.end(body === null ? undefined : Buffer.from(body, "utf8"));
  });
}

function destination(base: string): { readonly send: typeof httpRequest; readonly where: RequestOptions } {
  const url = new URL(base);
  if (url.protocol === "unix:")
    return { send: httpRequest, where: { socketPath: decodeURIComponent(url.pathname), host: "localhost" } };
  const host = url.hostname.replace(/^\[|\]$/g, ""); // node:http wants IPv6 without its brackets
  return { send: url.protocol === "https:" ? httpsRequest : httpRequest, where: { host, port: url.port || undefined } };
}

/** Of several addresses that all refused, Node gives an error without a message. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.message || error.code || error.name;
}

function unreachable(url: string, why: string): ControlError {
  return new ControlError(
    "unreachable",
    `the daemon cannot be reached at ${url} (${why}); name another address with --url, or start it`,
  );
}

function foreign(url: string): ControlError {
  return new ControlError(
    "foreign",
    `what answers at ${url} is no cronstable daemon, or one of another age; name another address with --url`,
  );
}

function refusal(url: string, status: number, text: string): ControlError {
  const said = errorShape.safeParse(parsed(text));
  // The two refusals that every server might send are told with what helps.
  if (status === 401)
    return new ControlError(
      "refused",
      `${said.data?.error ?? "401: Unauthorized"}; give a token with --token, --token-file or CRONSTABLE_TOKEN`,
    );
  return said.success ? new ControlError("refused", said.data.error) : foreign(url);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
