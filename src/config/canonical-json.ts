/** JSON whose bytes depend on the value alone (config 11.2): they are hashed, and other implementations write the same. */
import { byCodePoint } from "./code-points.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Keys sorted by code point, no blanks, ASCII only. Keys whose value is undefined are left out. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string") return asciiString(value);
  if (typeof value === "number") return numberText(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return objectOf(entries.map(([key, part]) => [key, canonicalJson(part)]));
}

/** An object of parts whose text is known already. */
export function objectOf(parts: readonly (readonly [key: string, text: string])[]): string {
  const sorted = parts.toSorted(([a], [b]) => byCodePoint(a, b));
  return `{${sorted.map(([key, text]) => `${asciiString(key)}:${text}`).join(",")}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

const plain = /^[\u0020\u0021\u0023-\u005b\u005d-\u007e]*$/;
const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

function asciiString(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  const escaped = text.replace(/["\\]|[^\u0020-\u007e]/g, (unit) => {
    return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}

/** As Python writes them: whole numbers in full digits, others in the shortest form that reads back, small ones with an exponent. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (Number.isInteger(value)) return BigInt(value).toString();
  if (Math.abs(value) >= 1e-4) return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e-");
  return `${digits}e-${exponent.padStart(2, "0")}`;
}
