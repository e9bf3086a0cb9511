import type { JsonObject } from "../store/json.ts";
import type { Latch } from "./latch.ts";
import type { RequestFields } from "./request-fields.ts";
import type { RunSession } from "./run-sessions.ts";

/** One request of a live run whose token has been checked. */
export interface Call {
  readonly run: RunSession;
  readonly query: URLSearchParams;
  /** The body as JSON. @throws Refusal */
  fields(): Promise<RequestFields>;
  /** The body as it is. @throws Refusal */
  bytes(): Promise<Uint8Array>;
  /** The client is gone before it has its answer. */
  readonly hungUp: Latch;
}

/** What a request is answered with when it is not refused. */
export type Answer =
  | { readonly kind: "json"; readonly body: JsonObject }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly headers: Readonly<Record<string, string>> };

export interface Route {
  readonly method: "GET" | "POST";
  /** @throws Refusal */
  readonly handle: (call: Call) => Promise<Answer>;
}

/** Routes by their exact path. */
export type Routes = Readonly<Record<string, Route>>;

export function json(body: JsonObject): Answer {
  return { kind: "json", body };
}
