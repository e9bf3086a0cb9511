/**
 * A number that was written, or is to be written, as a float although its value is whole: `1.0`, `1e16`, `0.0` (FMT-4).
 * Everywhere else a plain number suffices.
 */
export class JsonFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/**
 * JSON without loss: whole numbers a double cannot hold are bigints, floats of whole value are `JsonFloat`, everything else
 * is what `JSON.parse` would give. What was read is written back as the same value of the same type.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonFloat | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

/** Whole numbers of these bounds survive in every implementation that shares a store (FMT-4). */
export const INTEGER_MIN = -(2n ** 63n);
export const INTEGER_MAX = 2n ** 64n - 1n;

/** An epoch instant, a duration, anything whose type on disk is float whatever its value is (FMT-6). */
export function jsonFloat(value: number): number | JsonFloat {
  return Number.isInteger(value) ? new JsonFloat(value) : value;
}

/** A deep copy in ordinary numbers, for readers that do not write the value back. Whole numbers beyond 2^53 are rounded. */
export function plainJson(value: JsonValue): unknown {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) return value.map(plainJson);
  const plain: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setOwn(plain, key, plainJson(item));
  return plain;
}

/** `Array.isArray` does not narrow a readonly array. */
export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat);
}

/** Sets a property of its own whatever the key is: `__proto__` is an ordinary key in JSON. */
export function setOwn<T>(object: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Order by Unicode code point, where JavaScript's own comparison goes by UTF-16 unit. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other UTF-16 unit. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
