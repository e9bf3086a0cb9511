import type { LiveOutput } from "../contract/launcher.ts";
import type { Product } from "./product.ts";

/** What a route says. `decorated`: the configured `web.headers` go with it (http 3.4). */
export type Answer =
  | {
      readonly kind: "body";
      readonly status: number;
      readonly contentType: string | null;
      readonly body: string;
      readonly headers: Headers;
      readonly decorated: boolean;
    }
  /** "page": its version, caching and variants are not to be configured. */
  | { readonly kind: "product" | "page"; readonly product: Product; readonly headers: Headers }
  | { readonly kind: "log"; readonly follow: FollowedLog };

/** Name and value, in the order they are sent. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A log that is sent as it grows. `output` null: there is none. */
export interface FollowedLog {
  readonly output: LiveOutput | null;
  /** Null for the form that existing clients know: no ids, and an end without words. */
  readonly numbered: NumberedLog | null;
}

export interface NumberedLog {
  /** The client has the lines up to this one. */
  readonly after: number;
  /** What the last event says. */
  end(): Readonly<Record<string, unknown>>;
}

const none: Headers = [];

export function json(value: unknown, status = 200, headers: Headers = none): Answer {
  const body = JSON.stringify(value);
  return { kind: "body", status, contentType: "application/json", body, headers, decorated: true };
}

export function text(body: string, contentType = "text/plain; charset=utf-8", headers: Headers = none): Answer {
  return { kind: "body", status: 200, contentType, body, headers, decorated: true };
}

/** A refusal as the layer around the routes gives it: without the configured headers. */
export function refusal(status: number, error: string, headers: Headers = none): Answer {
  return { ...ownRefusal(status, error), headers, decorated: false };
}

/** A refusal that a route words itself; the configured headers go with it. */
export function ownRefusal(status: number, error: string) {
  return {
    kind: "body",
    status,
    contentType: "application/json; charset=utf-8",
    body: JSON.stringify({ error }),
    headers: none,
    decorated: true,
  } as const satisfies Answer;
}

export function product(shared: Product, headers: Headers = none): Answer {
  return { kind: "product", product: shared, headers };
}
