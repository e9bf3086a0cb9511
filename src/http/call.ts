import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { Fields } from "../contract/control-plane.ts";
import type { Caller } from "./access.rules.ts";
import type { Answer } from "./answer.ts";
import type { Params, Routed } from "./router.ts";

/** A request that may be served. */
export interface Call {
  readonly params: Params;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** The body as a JSON object, `{}` without one. @throws BadBody */
  fields(): Promise<Fields>;
  /** The body as bytes. @throws BadBody when it is larger */
  bytes(bytesMax: number): Promise<Buffer>;
}

/** Query parameters, decoded; of several the first. */
export interface Query {
  get(name: string): string | undefined;
}

/** One method of one path, and what `openapi.json` says of it. */
export interface Route extends Routed {
  readonly doc: RouteDoc;
  handle(call: Call): Answer | Promise<Answer>;
}

export interface RouteDoc {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, QueryDoc>>;
  readonly body?: { readonly shape: z.ZodType; readonly required: boolean };
  /** Whether `If-None-Match` and `ETag` work. */
  readonly conditional?: boolean;
  /** Beyond a token in the header: `token` in the query, or nothing at all. */
  readonly access?: "query token" | "public";
  readonly answers: Readonly<Record<number, AnswerDoc>>;
}

export interface QueryDoc {
  readonly type: "string" | "integer" | "boolean";
  readonly about: string;
  readonly required?: boolean;
  readonly values?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface AnswerDoc {
  readonly about: string;
  /** By media type: a shape, or text. */
  readonly content?: Readonly<Record<string, z.ZodType | "text">>;
}

/** One of `name`s, the first that is given at all (http 3.2). */
export function firstGiven(query: Query, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = query.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}
