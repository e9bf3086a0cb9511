import type { Clock } from "../platform/clock.ts";
import { compareCodePoints, type JsonObject, type JsonValue, jsonFloat } from "../store/json.ts";
import type { Store } from "../store/store.ts";
import { json, type Routes } from "./call.ts";
import { Refusal } from "./refusal.ts";
import { checkStorable, requiredText } from "./request-fields.ts";
import { allowedScope } from "./scopes.ts";
import type { StoreTrouble } from "./store-trouble.ts";

interface KvParts {
  readonly store: Pick<Store, "documents">;
  readonly trouble: StoreTrouble;
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly valueBytesMax: number;
}

/** A map per scope that survives restarts (KV-1). The last write wins. */
export function kvRoutes({ store: { documents }, trouble, clock, valueBytesMax }: KvParts): Routes {
  return {
    "/v1/kv/get": {
      method: "GET",
      async handle({ run, query }) {
        const key = requiredText(query.get("key"), "key");
        const scope = allowedScope(run, query.get("scope"));
        const body = trouble.valueOf(await documents.peek(namespaceOf(scope), key));
        if (body === null) throw new Refusal(404, `key '${key}' is not set in scope '${scope}'`);
        return json({ value: body.value ?? null, updatedAt: body.updatedAt ?? null });
      },
    },
    "/v1/kv/set": {
      method: "POST",
      async handle(call) {
        const { values, unportable } = await call.fields();
        const key = requiredText(values.key, "key");
        const scope = allowedScope(call.run, values.scope);
        const value = values.value ?? null;
        checkStorable(value, unportable, valueBytesMax);
        const updatedAt = jsonFloat(clock.wallNow() / 1000);
        const body = { key, value, updatedAt };
        trouble.valueOf(await documents.mutate(namespaceOf(scope), key, () => ({ kind: "put", body, answer: null })));
        return json({ ok: true, updatedAt });
      },
    },
    "/v1/kv/delete": {
      method: "POST",
      async handle(call) {
        const { values } = await call.fields();
        const key = requiredText(values.key, "key");
        const scope = allowedScope(call.run, values.scope);
        const existed = trouble.valueOf(
          await documents.mutate(namespaceOf(scope), key, (body) => ({ kind: "delete", answer: body !== null })),
        );
        return json({ existed });
      },
    },
    "/v1/kv/list": {
      method: "GET",
      async handle({ run, query }) {
        const scope = allowedScope(run, query.get("scope"));
        const bodies = trouble.valueOf(await documents.list(namespaceOf(scope)));
        return json({ scope, keys: bodies.flatMap(listed).sort((a, b) => compareCodePoints(a.key, b.key)) });
      },
    },
  };
}

function namespaceOf(scope: string): string {
  return `kv/${scope}`;
}

/** Nothing for a body that is none of ours. */
function listed(
  body: JsonObject,
): { readonly key: string; readonly value: JsonValue; readonly updatedAt: JsonValue }[] {
  const { key, value = null, updatedAt = null } = body;
  return typeof key === "string" ? [{ key, value, updatedAt }] : [];
}
