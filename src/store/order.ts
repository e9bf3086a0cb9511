import { compareCodePoints, isArray, JsonFloat, type JsonValue } from "./json.ts";

/**
 * Order of two JSON values: numbers by value (a boolean counts as 0 or 1), texts by code point, arrays item by item. Null where
 * they do not compare (DRV-1, CUR-2).
 */
export function compareValues(a: JsonValue, b: JsonValue): number | null {
  const x = numeric(a);
  const y = numeric(b);
  if (x !== null && y !== null) return x < y ? -1 : x > y ? 1 : 0;
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (isArray(a) && isArray(b)) return compareArrays(a, b);
  return null;
}

/** JavaScript compares numbers and bigints by value, exactly. */
function numeric(value: JsonValue): number | bigint | null {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" || typeof value === "bigint" ? value : null;
}

function compareArrays(a: readonly JsonValue[], b: readonly JsonValue[]): number | null {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compareValues(a[at] ?? null, b[at] ?? null);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
