import type { Clock } from "../platform/clock.ts";
import { type JsonObject, type JsonValue, jsonFloat } from "../store/json.ts";
import type { Change, Store } from "../store/store.ts";
import { json, type Routes } from "./call.ts";
import { finiteNumber, numberOf } from "./numbers.ts";
import { requiredText } from "./request-fields.ts";
import { allowedScope } from "./scopes.ts";
import type { StoreTrouble } from "./store-trouble.ts";

interface IdempotencyParts {
  readonly store: Pick<Store, "documents">;
  readonly trouble: StoreTrouble;
  readonly clock: Clock;
}

/** Keys that are won once, fleet-wide (IDM-1): the first claim is fresh, until it expires or is released. */
export function idempotencyRoutes({ store: { documents }, trouble, clock }: IdempotencyParts): Routes {
  return {
    "/v1/idempotency/claim": {
      method: "POST",
      async handle(call) {
        const { values } = await call.fields();
        const key = requiredText(values.key, "key");
        const scope = allowedScope(call.run, values.scope);
        const ttlSeconds = finiteNumber(values.ttl ?? 0, "ttl");
        const nowSeconds = clock.wallNow() / 1000;
        const claim = trouble.valueOf(
          await documents.mutate(namespaceOf(scope), key, (body) => claimed(body, key, ttlSeconds, nowSeconds)),
        );
        return json({ ...claim });
      },
    },
    "/v1/idempotency/release": {
      method: "POST",
      async handle(call) {
        const { values } = await call.fields();
        const key = requiredText(values.key, "key");
        const scope = allowedScope(call.run, values.scope);
        const released = trouble.valueOf(
          await documents.mutate(namespaceOf(scope), key, (body) => ({ kind: "delete", answer: body !== null })),
        );
        return json({ released });
      },
    },
  };
}

function namespaceOf(scope: string): string {
  return `idem/${scope}`;
}

interface Claim {
  readonly fresh: boolean;
  readonly claimedAt: JsonValue;
}

/** Whether a key with this document is free at `nowSeconds`. A time to live of 0 or less is for ever. */
function claimed(body: JsonObject | null, key: string, ttlSeconds: number, nowSeconds: number): Change<Claim> {
  const expiresAt = numberOf(body?.expiresAt);
  const expired = expiresAt !== null && expiresAt <= nowSeconds;
  if (body !== null && !expired) return { kind: "keep", answer: { fresh: false, claimedAt: body.claimedAt ?? null } };
  const claimedAt = jsonFloat(nowSeconds);
  const expiry = ttlSeconds > 0 ? { expiresAt: jsonFloat(nowSeconds + ttlSeconds) } : {};
  return { kind: "put", body: { key, claimedAt, ...expiry }, answer: { fresh: true, claimedAt } };
}
