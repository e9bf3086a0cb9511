import { isUtf8 } from "node:buffer";
import { isObject, type JsonObject, type JsonValue } from "../store/json.ts";
import { BadJson, encodeJson, parseJson } from "../store/json-text.ts";
import { Refusal } from "./refusal.ts";

/** A request's JSON object. `unportable` tells why it cannot be kept although it is JSON: a number the store has no place for (FMT-5). */
export interface RequestFields {
  readonly values: JsonObject;
  readonly unportable: string | null;
}

/** Reads a body whatever its Content-Type; an empty one is `{}` (V1-2). @throws Refusal */
export function requestFields(body: Uint8Array): RequestFields {
  if (body.length === 0) return { values: {}, unportable: null };
  const { value, unportable } = parsed(body);
  if (!isObject(value)) throw new Refusal(400, "request body must be a JSON object");
  return { values: value, unportable };
}

function parsed(body: Uint8Array): { readonly value: JsonValue; readonly unportable: string | null } {
  if (!isUtf8(body)) throw notJson();
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");
  try {
    return { value: parseJson(text), unportable: null };
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    return { value: roundedJson(text), unportable: error.message };
  }
}

/** Numbers as doubles, for what only looks at them. */
function roundedJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(); // whatever a parser says about it, it is not JSON
  }
}

function notJson(): Refusal {
  return new Refusal(400, "request body is not valid JSON");
}

/** A field that must be a text with something in it (V1-5). @throws Refusal */
export function requiredText(value: JsonValue | undefined, field: string): string {
  if (value === undefined || value === null || value === "") throw new Refusal(400, `${field} is required`);
  if (typeof value !== "string") throw new Refusal(400, `${field} must be a string`);
  return value;
}

/**
 * Refuses a value that no document may hold (FMT-5) or that is larger than `bytesMax`, 0 for no limit. Its size is that of its text as
 * it is kept (KV-1).
 *
 * @throws Refusal
 */
export function checkStorable(value: JsonValue, unportable: string | null, bytesMax: number): void {
  // As deep as it stands in a document: inside the envelope and its data.
  const encoded = encodeJson([[value]]);
  const problem = unportable ?? (encoded.kind === "not portable" ? encoded.problem : null);
  if (problem !== null || encoded.kind === "not portable") throw notPortable(problem ?? "");
  const bytes = encoded.text.length - "[[]]".length;
  if (bytesMax > 0 && bytes > bytesMax)
    throw new Refusal(413, `value of ${bytes} bytes exceeds the configured limit of ${bytesMax} bytes`);
}

export function notPortable(problem: string): Refusal {
  return new Refusal(400, `value is not portable across the fleet: ${problem}`);
}
