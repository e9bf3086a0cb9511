import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { takesGzip } from "./accept.rules.ts";
import { type AccessPolicy, judgeAccess } from "./access.rules.ts";
import type { AccessLog } from "./access-log.ts";
import { type Answer, type FollowedLog, type Headers, refusal } from "./answer.ts";
import type { Call, Query, Route } from "./call.ts";
import { isKnownTag } from "./etag.ts";
import { HEADER_BYTES_MAX } from "./limits.ts";
import { createLogFeeds } from "./log-feed.ts";
import { type LogTail, tailLog } from "./log-tail.ts";
import { BadBody, readBody, readFields } from "./request-body.ts";
import type { ResponseHeaders } from "./response-headers.ts";
import type { Match, Router } from "./router.ts";

export interface ServiceParts {
  readonly router: Router<Route>;
  readonly policy: AccessPolicy;
  readonly headers: ResponseHeaders;
  readonly accessLog: AccessLog;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Answers requests, whatever listener they came by. */
export interface Service {
  readonly serve: RequestListener;
  /** Sends every log stream its end. */
  endStreams(): void;
}

/**
 * The way of every request (http 3): Origin gate, authentication, then what the path and method come to. Nothing that goes wrong leaves
 * without an answer in the error envelope.
 */
export function createService(parts: ServiceParts): Service {
  const { router, policy, headers, accessLog, clock, log } = parts;
  const feeds = createLogFeeds();
  const tails = new Set<LogTail>();

  const answerTo = (request: IncomingMessage): Answer | Promise<Answer> => {
    const target = targetOf(request.url ?? "");
    const method = request.method ?? "";
    const match = router(method, target.path);
    const fields = inspect(request.rawHeaders);
    if (fields === "too large") return refusal(431, "a header field is too large");
    if ((request.url?.length ?? 0) > HEADER_BYTES_MAX) return refusal(414, "the request line is too long");
    const access = judgeAccess(policy, {
      method,
      path: target.path,
      routeScope: match.kind === "route" ? match.route.scope : null,
      origin: request.headers.origin,
      host: request.headers.host,
      authorization: fields === "two credentials" ? "ambiguous" : request.headers.authorization,
      isPreflight: request.headers["access-control-request-method"] !== undefined,
      queryToken: () => target.query.get("token") ?? null,
    });
    if (access.kind === "refused") return refusal(access.status, access.error);
    if (match.kind !== "route") return unmatched(match);
    const call: Call = {
      params: match.params,
      query: target.query,
      headers: request.headers,
      caller: access.caller,
      fields: () => readFields(request),
      bytes: (bytesMax) => readBody(request, bytesMax),
    };
    return match.route.handle(call);
  };

  const send = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
    if (response.destroyed) return;
    switch (answer.kind) {
      case "body": {
        const own: Headers = [
          ...(answer.contentType === null ? [] : ([["Content-Type", answer.contentType]] as const)),
          ...(answer.status === 204 ? [] : ([["Content-Length", String(Buffer.byteLength(answer.body))]] as const)),
          ...answer.headers,
        ];
        response.writeHead(answer.status, headers.around(own, answer.decorated ? "decorated" : "plain"));
        response.end(answer.body);
        return;
      }
      case "product":
      case "page":
        sendProduct(request, response, answer);
        return;
      case "log":
        sendLog(request, response, answer.follow);
        return;
    }
  };

  const sendProduct = (request: IncomingMessage, response: ServerResponse, answer: ProductAnswer): void => {
    const { product } = answer;
    const { etag } = product;
    const kind = answer.kind === "page" ? "page" : "decorated";
    const own: Headers = [
      ...(etag === null ? [] : ([["ETag", etag]] as const)),
      ["Vary", product.vary],
      ...answer.headers,
    ];
    const asked = request.headers["if-none-match"];
    if (etag !== null && (kind === "page" ? asked === etag : isKnownTag(asked, etag))) {
      response.writeHead(304, headers.around(own, kind));
      response.end();
      return;
    }
    const whole = (body: Buffer, encoding: Headers): void => {
      const described: Headers = [
        ["Content-Type", product.contentType],
        ["Content-Length", String(body.length)],
        ...encoding,
        ...own,
      ];
      response.writeHead(200, headers.around(described, kind));
      response.end(body);
    };
    const gzipped = takesGzip(request.headers["accept-encoding"]) ? product.gzipped() : null;
    if (gzipped === null) whole(product.body, []);
    else
      gzipped
        .then((body) => whole(body, [["Content-Encoding", "gzip"]]))
        .catch((error: unknown) => fail(request, response, error));
  };

  const sendLog = (request: IncomingMessage, response: ServerResponse, follow: FollowedLog): void => {
    response.writeHead(200, headers.around(streamHeaders, "stream"));
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    response.flushHeaders();
    const tail = tailLog({ response, log: follow, feeds, clock, onOver: () => tails.delete(tail) });
    if (!response.writableEnded) tails.add(tail);
  };

  const fail = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    if (error instanceof BadBody) {
      if (!response.headersSent) send(request, response, refusal(400, error.message));
      return;
    }
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log.error(`web: ${request.method} ${targetOf(request.url ?? "").path} failed: ${reason}`);
    if (response.headersSent) response.destroy();
    else send(request, response, internalError);
  };

  return {
    serve(request, response) {
      accessLog(request, response);
      try {
        const answer = answerTo(request);
        if (answer instanceof Promise)
          answer
            .then((settled) => send(request, response, settled))
            .catch((error: unknown) => fail(request, response, error));
        else send(request, response, answer);
      } catch (error) {
        fail(request, response, error);
      }
    },
    endStreams() {
      for (const tail of [...tails]) tail.end();
    },
  };
}

type ProductAnswer = Extract<Answer, { kind: "product" | "page" }>;

const internalError = refusal(500, "internal error; the reason is in the cronstable log");

const streamHeaders: Headers = [
  ["Content-Type", "text/event-stream"],
  ["Cache-Control", "no-cache"],
  ["X-Accel-Buffering", "no"],
];

function unmatched(match: Exclude<Match<Route>, { kind: "route" }>): Answer {
  return match.kind === "no route"
    ? refusal(404, "404: Not Found")
    : refusal(405, "405: Method Not Allowed", [["Allow", match.allow]]);
}

interface Target {
  /** As it came; what does not begin with a slash matches nothing. */
  readonly path: string;
  readonly query: Query;
}

const noQuery: Query = { get: () => undefined };

function targetOf(url: string): Target {
  const mark = url.indexOf("?");
  if (mark === -1) return { path: url, query: noQuery };
  let parsed: URLSearchParams | null = null;
  return {
    path: url.slice(0, mark),
    query: {
      get(name) {
        parsed ??= new URLSearchParams(url.slice(mark + 1));
        return parsed.get(name) ?? undefined;
      },
    },
  };
}

/** Looks at each field as it came: what is too long, and whether there is more than one credential. */
function inspect(rawHeaders: readonly string[]): "fine" | "too large" | "two credentials" {
  let credentials = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length + (rawHeaders[index + 1]?.length ?? 0) > HEADER_BYTES_MAX) return "too large";
    if (name.length === 13 && name.toLowerCase() === "authorization") credentials++;
  }
  return credentials > 1 ? "two credentials" : "fine";
}
