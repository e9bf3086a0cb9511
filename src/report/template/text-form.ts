/** How values look as text: Python's `str()` and `repr()`, and the JSON of the `tojson` filter (running 11.1 items 2 and 4). */
import type { Budget } from "./budget.ts";
import { Float, isList, isMap, Macro, Namespace, TemplateError, Undefined, type Value } from "./value.ts";

/** What `{{ value }}` prints. */
export function textOf(value: Value, budget: Budget): string {
  if (typeof value === "string") return value;
  if (value instanceof Undefined) return "";
  return literal(value, budget);
}

/** The Python literal form, best effort: `'it''s'` is quoted as Python would. */
export function literal(value: Value, budget: Budget): string {
  budget.spend(1);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (value instanceof Float) return floatText(value.value);
  if (typeof value === "string") {
    budget.eachCharacter(value.length);
    return quoted(value);
  }
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Namespace) return "<Namespace>";
  if (value instanceof Macro) return `<Macro '${value.name}'>`;
  const parts: string[] = [];
  if (isMap(value)) for (const [key, item] of value) parts.push(`${literal(key, budget)}: ${literal(item, budget)}`);
  else if (isList(value)) for (const item of value) parts.push(literal(item, budget));
  const text = parts.join(", ");
  budget.text(text.length);
  return isMap(value) ? `{${text}}` : `[${text}]`;
}

/** Shortest form that reads back as the same number, with a point or an exponent: 2.0, 0.1, 1e-05, 1e+16. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  const plain = String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** `number` with that many decimals, from its exact binary value; a true tie goes to the even digit. */
export function fixedText(number: number, digits: number): string {
  const up = number.toFixed(digits);
  const [, rest = ""] = number.toFixed(Math.min(100, digits + 50)).split(".");
  if (!/^50*$/.test(rest.slice(digits)) || !Number.isFinite(number)) return up;
  if (Number(up.at(-1)) % 2 === 0) return up;
  return (number < 0 ? "-" : "") + (Math.abs(number) - 10 ** -digits / 2).toFixed(digits);
}

/** What Python does not print as it is: control, format, unassigned and lone surrogate code points, and separators but the space. */
const NOT_PRINTABLE = /(?! )[\p{C}\p{Z}\\]/gu;

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let body = text.replace(NOT_PRINTABLE, escaped);
  if (quote === "'") body = body.replaceAll("'", "\\'");
  return `${quote}${body}${quote}`;
}

function escaped(char: string): string {
  switch (char) {
    case "\\":
      return "\\\\";
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
  }
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/**
 * JSON in ASCII, also safe inside HTML: keys sorted, `<`, `>`, `&` and `'` escaped. `indent` null gives one line with `, ` and `: `.
 *
 * @throws TemplateError for a value JSON does not have
 */
export function jsonText(value: Value, indent: number | null, budget: Budget): string {
  return jsonPart(value, indent === null ? null : " ".repeat(indent), "\n", budget);
}

function jsonPart(value: Value, indent: string | null, lineStart: string, budget: Budget): string {
  budget.spend(1);
  if (value === null) return "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "number") return String(value);
  if (value instanceof Float) return jsonFloat(value.value);
  if (typeof value === "string") {
    budget.text(value.length);
    return asciiJson(value);
  }
  const inner = indent === null ? "" : lineStart + indent;
  const parts: string[] = [];
  if (isMap(value)) {
    const keys = [...value.keys()].map((key) => ({
      key,
      text: typeof key === "string" ? key : jsonPart(key, null, "", budget),
    }));
    keys.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
    for (const { key, text } of keys)
      parts.push(`${asciiJson(text)}: ${jsonPart(value.get(key) ?? null, indent, inner, budget)}`);
  } else if (isList(value)) for (const item of value) parts.push(jsonPart(item, indent, inner, budget));
  else if (value instanceof Undefined) throw new TemplateError(value.complaint);
  else throw new TemplateError("this value has no JSON form");
  const [open, close] = isMap(value) ? "{}" : "[]";
  if (parts.length === 0) return `${open}${close}`;
  const text = indent === null ? parts.join(", ") : inner + parts.join(`,${inner}`) + lineStart;
  budget.text(text.length);
  return `${open}${text}${close}`;
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "-Infinity" : "Infinity";
  return floatText(value);
}

/** Every character that must not stay as it is inside the quotes `JSON.stringify` made. */
const UNSAFE = /[\u007f-\uffff<>&']/g;
/** From this length on, escaping byte by byte is quicker, however many characters need it. */
const LONG_JSON_CHARS = 20_000;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const HEX = Buffer.from("0123456789abcdef");

function asciiJson(text: string): string {
  const json = JSON.stringify(text);
  if (json.length < LONG_JSON_CHARS)
    return json.replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const bytes = Buffer.allocUnsafe(json.length * 6);
  let end = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit < 0x7f && unit !== 0x3c && unit !== 0x3e && unit !== 0x26 && unit !== 0x27) {
      bytes[end++] = unit;
      continue;
    }
    bytes[end++] = BACKSLASH;
    bytes[end++] = LETTER_U;
    for (let shift = 12; shift >= 0; shift -= 4) bytes[end++] = HEX[(unit >> shift) & 0xf] ?? 0;
  }
  return bytes.toString("latin1", 0, end);
}
