import { isUtf8 } from "node:buffer";
import { isObject, type JsonObject, type JsonValue } from "./json.ts";
import { BadJson, type Encoded, encodeJson, parseJson, type WrittenParts } from "./json-text.ts";

/** The scheme this build writes, and the only one it reads (LAY-4). */
export const SCHEMA_VERSION = "v1";

/** What the text of a record or document can turn out to be (QUA-2). */
export type Decoded =
  | { readonly kind: "current"; readonly data: JsonObject }
  /** A whole envelope of a scheme this build does not know; `schemaVersion` as it would be shown. */
  | { readonly kind: "foreign"; readonly schemaVersion: string }
  | { readonly kind: "damaged"; readonly reason: "unreadable-or-invalid-json" | "unknown-schema" };

/** Depth of what the members of a record's or document's data hold: envelope, data, member, and this. */
const ENTRY_DEPTH = 4;

/** Remembers the texts of the entries of one document, such as the tasks of a run, from one writing to the next. */
export function writtenEntries(): WrittenParts {
  return { depth: ENTRY_DEPTH, texts: new WeakMap() };
}

/** Text of a record or document (FMT-1). */
export function encodeEnvelope(data: JsonObject, written: WrittenParts | null = null): Encoded {
  return encodeJson({ data, schemaVersion: SCHEMA_VERSION }, written);
}

export function decodeEnvelope(text: string): Decoded {
  let root: JsonValue;
  try {
    root = parseJson(text);
  } catch (error) {
    if (error instanceof BadJson) return { kind: "damaged", reason: "unreadable-or-invalid-json" };
    throw error;
  }
  if (!isObject(root)) return { kind: "damaged", reason: "unknown-schema" };
  const { data, schemaVersion } = root;
  if (!isObject(data)) return { kind: "damaged", reason: "unknown-schema" };
  if (schemaVersion !== SCHEMA_VERSION)
    return { kind: "foreign", schemaVersion: typeof schemaVersion === "string" ? schemaVersion : "(none)" };
  return { kind: "current", data };
}

/** The text of a file's bytes, or null when they are not UTF-8 (FMT-7). A byte order mark stays, and is no JSON. */
export function utf8Text(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString("utf8") : null;
}
