import { JsonFloat, type JsonValue } from "../store/json.ts";
import { Refusal } from "./refusal.ts";

/** The value of a JSON number of any form; null for everything else. */
export function numberOf(value: JsonValue | undefined): number | null {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : null;
}

/** @throws Refusal */
export function finiteNumber(value: JsonValue, field: string): number {
  const number = numberOf(value);
  if (number === null) throw new Refusal(400, `${field} must be a number`);
  if (!Number.isFinite(number)) throw new Refusal(400, `${field} must be a finite number`);
  return number;
}
