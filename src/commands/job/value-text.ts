import { type JsonValue, jsonFloat } from "../../store/json.ts";
import { spacedJson } from "../../store/json-spaced.ts";

/** A value as a script reads it: a text as it is, everything else as JSON. */
export function valueText(value: JsonValue): string {
  return typeof value === "string" ? value : spacedJson(value);
}

/** What a cursor's value on the command line means: a whole number, else a number, else the text that it is. */
export function cursorValue(text: string): JsonValue {
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text.replace(/^\+/, ""));
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return jsonFloat(Number(text));
  return text;
}
