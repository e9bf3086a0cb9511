import {
  compareCodePoints,
  INTEGER_MAX,
  INTEGER_MIN,
  isArray,
  JsonFloat,
  type JsonObject,
  type JsonValue,
  setOwn,
} from "./json.ts";
import { READ_DEPTH_MAX, WRITTEN_DEPTH_MAX } from "./limits.ts";

/** The text of a value, or why it may not be written where other implementations read it (FMT-5). */
export type Encoded =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not portable"; readonly problem: string };

/**
 * Texts of the objects at one depth of a value that is written over and over, mostly as it was. An object never changes once it was
 * written; the outermost has depth 1.
 */
export interface WrittenParts {
  readonly depth: number;
  readonly texts: WeakMap<JsonObject, string>;
}

/**
 * Writes a value in the one form every writer of a store uses (FMT-2, FMT-3): no spaces, keys by code point, ASCII only,
 * floats with `.0` or a two-digit exponent.
 *
 * @param written what need not be written again, and gets what is
 */
export function encodeJson(value: JsonValue, written: WrittenParts | null = null): Encoded {
  try {
    return { kind: "text", text: write(value, 1, written) };
  } catch (error) {
    if (error instanceof NotPortable) return { kind: "not portable", problem: error.message };
    throw error;
  }
}

class NotPortable extends Error {}

/** @param depth what `value` would have if it is a container; the outermost has 1 */
function write(value: JsonValue, depth: number, written: WrittenParts | null): string {
  switch (typeof value) {
    case "string":
      return writeString(value);
    case "number":
      return writeNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      if (value < INTEGER_MIN || value > INTEGER_MAX)
        throw new NotPortable(`integer ${value} is outside ${INTEGER_MIN}..${INTEGER_MAX}`);
      return value.toString();
    case "object":
      if (value === null) return "null";
      if (value instanceof JsonFloat) return writeFloat(value.value);
      if (depth > WRITTEN_DEPTH_MAX) throw new NotPortable(`nested more than ${WRITTEN_DEPTH_MAX} levels deep`);
      if (isArray(value)) return `[${value.map((item) => write(item, depth + 1, written)).join(",")}]`;
      return written?.depth === depth ? writeOnce(value, written) : writeObject(value, depth, written);
    default:
      throw new NotPortable(`a value of type ${typeof value} is not JSON`);
  }
}

function writeOnce(value: JsonObject, written: WrittenParts): string {
  const known = written.texts.get(value);
  if (known !== undefined) return known;
  const text = writeObject(value, written.depth, null);
  written.texts.set(value, text);
  return text;
}

function writeObject(value: JsonObject, depth: number, written: WrittenParts | null): string {
  const members: string[] = [];
  for (const key of Object.keys(value).sort(compareCodePoints)) {
    const item = value[key];
    if (item === undefined) throw new NotPortable(`key ${JSON.stringify(key)} has no value`);
    members.push(`${writeString(key)}:${write(item, depth + 1, written)}`);
  }
  return `{${members.join(",")}}`;
}

const BEYOND_ASCII = /[\x7f-\uffff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The engine's own writer escapes what JSON must have escaped, many times faster than a pattern; the rest is DEL and non-ASCII. */
function writeString(text: string): string {
  const quoted = JSON.stringify(text);
  if (!BEYOND_ASCII.test(text)) return quoted;
  if (LONE_SURROGATE.test(text)) throw new NotPortable("a string holds half of a surrogate pair");
  return withoutNonAscii(quoted);
}

const HEX_DIGITS = Buffer.from("0123456789abcdef", "latin1");

/** Byte by byte into one buffer: joining millions of short texts would hold the event loop for seconds. */
function withoutNonAscii(quoted: string): string {
  const bytes = Buffer.allocUnsafe(quoted.length * 6);
  let length = 0;
  for (let at = 0; at < quoted.length; at++) {
    const unit = quoted.charCodeAt(at);
    if (unit < 0x7f) {
      bytes[length++] = unit;
      continue;
    }
    bytes[length++] = 0x5c; // backslash
    bytes[length++] = 0x75; // u
    for (let shift = 12; shift >= 0; shift -= 4) bytes[length++] = HEX_DIGITS[(unit >> shift) & 15] ?? 0;
  }
  return bytes.toString("latin1", 0, length);
}

function writeNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : writeFloat(value);
}

/** Shortest digits that read back as the same double, laid out as the format's other writers do: `1.0`, `1e+16`, `1e-05`. */
function writeFloat(value: number): string {
  if (!Number.isFinite(value)) throw new NotPortable(`${value} is not a finite number`);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits = "", exponentText = "0"] = Math.abs(value).toExponential().split("e");
  const exponent = Number(exponentText);
  const sign = value < 0 ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  const plain = String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** A text that is not JSON, or JSON this format does not allow (FMT-4, FMT-7). */
export class BadJson extends Error {}

/** Number forms `JSON.parse` would blur, and text whose nesting needs counting, go to the exact reader. */
const NEEDS_CARE = /\d{16}|\d[eE][+-]?\d|\.0+(?!\d)|-0/;

/**
 * Reads a value without loss.
 *
 * @throws BadJson
 */
export function parseJson(text: string): JsonValue {
  if (NEEDS_CARE.test(text) || opensMany(text)) return exactReader(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadJson(error instanceof Error ? error.message : String(error));
  }
}

function opensMany(text: string): boolean {
  let opened = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if ((unit === 0x7b || unit === 0x5b) && ++opened > READ_DEPTH_MAX) return true;
  }
  return false;
}

function exactReader(text: string): JsonValue {
  const numberForm = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
  const space = /[ \t\n\r]*/y;
  let at = 0;

  const skipSpace = (): void => {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  };

  const fail = (): never => {
    throw new BadJson(at < text.length ? `unexpected ${JSON.stringify(text[at])} at ${at}` : "the text ends too early");
  };

  const word = <T extends JsonValue>(literal: string, value: T): T => {
    if (!text.startsWith(literal, at)) fail();
    at += literal.length;
    return value;
  };

  const string = (): string => {
    const start = at;
    at++;
    for (let plain = true; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === 0x22) {
        at++;
        return plain ? text.slice(start + 1, at - 1) : unescaped(text.slice(start, at));
      }
      if (unit === 0x5c) {
        plain = false;
        at++;
      } else if (unit < 0x20) fail();
    }
    return fail();
  };

  const number = (): JsonValue => {
    numberForm.lastIndex = at;
    const [literal = "", fraction, exponent] = numberForm.exec(text) ?? fail();
    at += literal.length;
    return fraction === undefined && exponent === undefined ? integer(literal) : float(literal);
  };

  const array = (depth: number): readonly JsonValue[] => {
    const items: JsonValue[] = [];
    at++;
    skipSpace();
    if (text[at] === "]") {
      at++;
      return items;
    }
    for (;;) {
      items.push(value(depth + 1));
      skipSpace();
      const next = text[at];
      if (next !== "," && next !== "]") fail();
      at++;
      if (next === "]") return items;
    }
  };

  const object = (depth: number): JsonObject => {
    const members: Record<string, JsonValue> = {};
    at++;
    skipSpace();
    if (text[at] === "}") {
      at++;
      return members;
    }
    for (;;) {
      skipSpace();
      if (text[at] !== '"') fail();
      const key = string();
      skipSpace();
      if (text[at] !== ":") fail();
      at++;
      setOwn(members, key, value(depth + 1));
      skipSpace();
      const next = text[at];
      if (next !== "," && next !== "}") fail();
      at++;
      if (next === "}") return members;
    }
  };

  const value = (depth: number): JsonValue => {
    skipSpace();
    const first = text[at];
    if (depth > READ_DEPTH_MAX && (first === "{" || first === "["))
      throw new BadJson(`nested more than ${READ_DEPTH_MAX} levels deep`);
    switch (first) {
      case "{":
        return object(depth);
      case "[":
        return array(depth);
      case '"':
        return string();
      case "t":
        return word("true", true);
      case "f":
        return word("false", false);
      case "n":
        return word("null", null);
      default:
        return number();
    }
  };

  const root = value(1);
  skipSpace();
  if (at < text.length) fail();
  return root;
}

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal);
  } catch (error) {
    throw new BadJson(error instanceof Error ? error.message : String(error));
  }
}

function integer(literal: string): number | bigint {
  const near = Number(literal);
  if (Number.isSafeInteger(near)) return near === 0 ? 0 : near;
  const exact = BigInt(literal);
  if (exact < INTEGER_MIN || exact > INTEGER_MAX) throw new BadJson(`integer ${literal} is out of range`);
  return exact;
}

function float(literal: string): number | JsonFloat {
  const value = Number(literal);
  if (!Number.isFinite(value)) throw new BadJson(`${literal} is out of range`);
  return Number.isInteger(value) ? new JsonFloat(value) : value;
}
