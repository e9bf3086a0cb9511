import type { Clock } from "../platform/clock.ts";
import { isArray, JsonFloat, type JsonObject, type JsonValue, jsonFloat } from "../store/json.ts";
import { compareValues } from "../store/order.ts";
import type { Change, Store } from "../store/store.ts";
import { json, type Routes } from "./call.ts";
import { Refusal } from "./refusal.ts";
import { checkStorable, requiredText } from "./request-fields.ts";
import { allowedScope } from "./scopes.ts";
import type { StoreTrouble } from "./store-trouble.ts";

interface CursorParts {
  readonly store: Pick<Store, "documents">;
  readonly trouble: StoreTrouble;
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly valueBytesMax: number;
}

/** Watermarks that only grow (CUR-1). */
export function cursorRoutes({ store: { documents }, trouble, clock, valueBytesMax }: CursorParts): Routes {
  return {
    "/v1/cursor/get": {
      method: "GET",
      async handle({ run, query }) {
        const name = requiredText(query.get("name"), "name");
        const scope = allowedScope(run, query.get("scope"));
        const body = trouble.valueOf(await documents.peek(namespaceOf(scope), name));
        if (body === null) throw new Refusal(404, `cursor '${name}' is not set in scope '${scope}'`);
        return json({ value: body.value ?? null, updatedAt: body.updatedAt ?? null });
      },
    },
    "/v1/cursor/advance": {
      method: "POST",
      async handle(call) {
        const { values, unportable } = await call.fields();
        const name = requiredText(values.name, "name");
        const scope = allowedScope(call.run, values.scope);
        const { value, force } = values;
        if (value === undefined) throw new Refusal(400, "value is required");
        checkStorable(value, unportable, valueBytesMax);
        const updatedAt = jsonFloat(clock.wallNow() / 1000);
        const advance = (body: JsonObject | null): Change<Advance> => {
          const found = advanced(body?.value ?? null, value, force === true);
          if (found.kind !== "advanced") return { kind: "keep", answer: found };
          return { kind: "put", body: { name, value, updatedAt }, answer: found };
        };
        const answer = trouble.valueOf(await documents.mutate(namespaceOf(scope), name, advance));
        if (answer.kind === "incomparable") throw new Refusal(409, incomparable(name, answer.current, value));
        return json({ value: answer.value, advanced: answer.kind === "advanced" });
      },
    },
  };
}

function namespaceOf(scope: string): string {
  return `cursor/${scope}`;
}

type Advance =
  | { readonly kind: "advanced"; readonly value: JsonValue }
  | { readonly kind: "kept"; readonly value: JsonValue }
  | { readonly kind: "incomparable"; readonly current: JsonValue };

/** What a cursor at `current` becomes (CUR-2). A cursor that was never set, or holds null, takes any value. */
function advanced(current: JsonValue, value: JsonValue, force: boolean): Advance {
  if (force || current === null) return { kind: "advanced", value };
  const order = compareValues(value, current);
  if (order === null) return { kind: "incomparable", current };
  return order > 0 ? { kind: "advanced", value } : { kind: "kept", value: current };
}

function incomparable(name: string, current: JsonValue, value: JsonValue): string {
  return `cursor '${name}' holds a ${typeName(current)} but was advanced with a ${typeName(value)}; advance it with a comparable value or pass force`;
}

/** Types by the names that existing scripts look for. */
function typeName(value: JsonValue): string {
  if (value === null) return "NoneType";
  if (value instanceof JsonFloat) return "float";
  if (isArray(value)) return "list";
  switch (typeof value) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "object":
      return "dict";
    default:
      return typeof value === "bigint" || Number.isSafeInteger(value) ? "int" : "float";
  }
}
