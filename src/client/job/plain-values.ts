import { isArray, JsonFloat, type JsonValue, setOwn } from "../../store/json.ts";
import { JobApiError } from "./job-api-error.ts";

/** A stored value as JavaScript has it: floats are numbers, whole numbers beyond 2^53 stay exact as bigints. */
export function toPlain(value: JsonValue): unknown {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(toPlain);
  const plain: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(plain, key, toPlain(item));
  return plain;
}

/**
 * What `JSON.stringify` would make of a value, and bigints as whole numbers.
 *
 * @throws JobApiError for what has no JSON form
 */
export function fromPlain(value: unknown): JsonValue {
  const found = jsonOf(value);
  if (found === undefined) throw new JobApiError("refused", `a value of type ${typeof value} has no JSON form`);
  return found;
}

/** Undefined where JSON has nothing: functions, symbols, undefined. */
function jsonOf(value: unknown): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
    case "number":
      return value;
    case "object":
      return value === null ? null : objectOf(value);
    default:
      return undefined;
  }
}

function objectOf(value: object): JsonValue | undefined {
  if ("toJSON" in value && typeof value.toJSON === "function") return jsonOf(value.toJSON());
  if (Array.isArray(value)) return value.map((item) => jsonOf(item) ?? null);
  const members: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    const found = jsonOf(item);
    if (found !== undefined) setOwn(members, key, found);
  }
  return members;
}
