import { createHash } from "node:crypto";

const TOKEN_MAX = 130;
const TRUNCATED_KEEP = 96;
const TRUNCATED_MARK = "%.";
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/;

/**
 * The file name that stands for a logical name (LAY-2, state 4.2). No two names share one, also on file systems that ignore
 * case or know device names; a name too long for a file is cut and marked with its hash.
 */
export function encodeName(name: string): string {
  let token = encodePrefix(name) || "_";
  if (DEVICE_NAME.test(token)) token = escaped(token.charCodeAt(0)) + token.slice(1);
  if (token.length <= TOKEN_MAX) return token;
  const digest = createHash("sha256").update(utf8Bytes(name)).digest("hex");
  return token.slice(0, TRUNCATED_KEEP) + TRUNCATED_MARK + digest.slice(0, 32);
}

/** How every name that begins with `prefix` begins once encoded, as long as it is not cut (ENC-2). */
export function encodePrefix(prefix: string): string {
  let token = "";
  for (const byte of utf8Bytes(prefix)) token += isPlain(byte) ? String.fromCharCode(byte) : escaped(byte);
  return token;
}

/** The logical name of a file name, or null when it is not exactly what `encodeName` makes of one (ENC-3). */
export function decodeName(token: string): string | null {
  const bytes: number[] = [];
  for (let at = 0; at < token.length; at++) {
    if (token[at] !== "%") bytes.push(token.charCodeAt(at));
    else {
      const code = token.slice(at + 1, at + 3);
      if (!/^[0-9A-F]{2}$/.test(code)) return null;
      bytes.push(Number.parseInt(code, 16));
      at += 2;
    }
  }
  const name = textOf(bytes);
  return name !== null && encodeName(name) === token ? name : null;
}

/** Whether the file name was cut, so that its name must be kept elsewhere (ENC-4). */
export function isTruncated(token: string): boolean {
  return token.includes(TRUNCATED_MARK);
}

function isPlain(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f || byte === 0x2d;
}

function escaped(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** UTF-8, where half a surrogate pair has bytes of its own instead of becoming a replacement character. */
function utf8Bytes(text: string): Uint8Array {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text, "utf8");
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0xd800 || point > 0xdfff) bytes.push(...Buffer.from(character, "utf8"));
    else bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** The inverse. Bytes that are no such UTF-8 give null or a text that encodes differently; the caller compares. */
function textOf(bytes: readonly number[]): string | null {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    let point = length === 1 ? lead : lead & (0x7f >> length);
    for (let more = 1; more < length; more++) {
      const byte = bytes[at + more];
      if (byte === undefined) return null;
      point = (point << 6) | (byte & 0x3f);
    }
    if (point > 0x10ffff) return null;
    text += String.fromCodePoint(point);
    at += length;
  }
  return text;
}
