import { isArray, isObject, type JsonValue } from "./json.ts";
import { encodeJson } from "./json-text.ts";

/**
 * JSON as it goes over the wire to jobs and is printed for people: `{"n": 3, "s": "\u00e9"}`. ASCII only, members in their own
 * order, numbers as the store writes them.
 *
 * @throws RangeError for a number that is not finite or not in the range the store knows
 */
export function spacedJson(value: JsonValue): string {
  if (typeof value === "string") return asciiString(value);
  if (isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, item]) => `${asciiString(key)}: ${spacedJson(item)}`);
    return `{${members.join(", ")}}`;
  }
  const encoded = encodeJson(value);
  if (encoded.kind === "not portable") throw new RangeError(encoded.problem);
  return encoded.text;
}

/** Half a surrogate pair, which `JSON.stringify` escapes, stays one: texts are only shown here, not kept. */
function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
