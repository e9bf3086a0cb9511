import type { JsonValue } from "../store/json.ts";
import { isArray } from "../store/json.ts";
import { BadJson, encodeJson, parseJson } from "../store/json-text.ts";
import { FAN_OUT_BYTES_MAX, FAN_OUT_ITEMS_MAX } from "./limits.ts";

/** What a mapped task is to be made of. */
export type FanOutList =
  | { readonly kind: "items"; readonly items: readonly JsonValue[] }
  /** The task fails, and nothing is made of it (D-MAP-10). */
  | { readonly kind: "too many"; readonly count: number };

/** What the store answered, once it did answer (D-MAP-7). */
export type PublishedList =
  /** Its source finished without it. */
  | { readonly kind: "absent" }
  /** Larger than is ever fetched (D-MAP-12). */
  | { readonly kind: "too large"; readonly bytes: number }
  /** The record is there and its payload is not. */
  | { readonly kind: "gone" }
  | { readonly kind: "payload"; readonly bytes: Uint8Array };

/** `problem` says why there are no items although something was published; it is worth a warning (D-MAP-8). */
export interface JudgedList {
  readonly list: FanOutList;
  readonly problem: string | null;
}

/** Whether a payload of this size is worth fetching: judged by its record (8.2 step 5). */
export function isFetchable(bytes: number): boolean {
  return bytes <= FAN_OUT_BYTES_MAX;
}

/** The definitive answer to a definitive reading: what is no usable list is an empty one. */
export function judgeList(published: PublishedList): JudgedList {
  switch (published.kind) {
    case "absent":
      return { list: none, problem: null };
    case "too large":
      return empty(`its ${published.bytes} bytes exceed the cap of ${FAN_OUT_BYTES_MAX}`);
    case "gone":
      return empty("its payload is gone from the store");
    case "payload":
      return judgePayload(published.bytes);
  }
}

function judgePayload(bytes: Uint8Array): JudgedList {
  const text = utf8(bytes);
  if (text === null) return empty("it is not UTF-8");
  const count = countBeyondCap(text);
  if (count !== null) return { list: { kind: "too many", count }, problem: null };
  const value = parsed(text);
  if (value instanceof BadJson) return empty(`it is not JSON this store can keep: ${value.message}`);
  if (!isArray(value)) return empty("it is not a list");
  const encoded = encodeJson(atItsPlace(value));
  if (encoded.kind === "not portable") return empty(`it cannot be kept: ${encoded.problem}`);
  return { list: { kind: "items", items: value }, problem: null };
}

const none: FanOutList = { kind: "items", items: [] };

function empty(problem: string): JudgedList {
  return { list: none, problem };
}

/** A byte order mark stays, and is no JSON. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function utf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null; // the one thing that is thrown here
  }
}

function parsed(text: string): JsonValue | BadJson {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof BadJson) return error;
    throw error;
  }
}

/** A list over the cap fails its task whatever its items are: their values are not looked at (8.2 step 5). */
function countBeyondCap(text: string): number | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > FAN_OUT_ITEMS_MAX ? value.length : null;
  } catch {
    return null; // not JSON, which the exact reader words
  }
}

/** As deep as it will stand in a document, envelope included, so that what passes here can be written there. */
function atItsPlace(items: readonly JsonValue[]): JsonValue {
  return [[[[items]]]];
}
