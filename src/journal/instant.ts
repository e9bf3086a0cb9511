import type { EpochMs } from "../platform/clock.ts";

/**
 * An instant as records carry it: ISO-8601 in UTC, six fractional digits or, on a whole second, none; never `Z` (FMT-6). Such texts
 * order as the instants do, so watermarks and claims compare them as text.
 *
 * @param at fractions of a millisecond are kept to the microsecond
 */
export function isoInstant(at: EpochMs): string {
  const micros = Math.round(at * 1000);
  const wholeSecond = Math.floor(micros / 1e6);
  const fraction = micros - wholeSecond * 1e6;
  const date = new Date(wholeSecond * 1000).toISOString().slice(0, 19);
  return fraction === 0 ? `${date}+00:00` : `${date}.${String(fraction).padStart(6, "0")}+00:00`;
}

const FORM =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)?$/;

/**
 * The instant a record's text means; null for anything that is none. Other offsets and `Z` are understood, a text without one is UTC
 * (FMT-6).
 */
export function readInstant(text: unknown): EpochMs | null {
  if (typeof text !== "string") return null;
  const found = FORM.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour, minute, second = "0", fraction = "", offset = "Z"] = found;
  const seconds = Number(second);
  const wholeMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), seconds);
  // A field out of its range rolls over into the next one: such a text names no instant.
  const label = new Date(wholeMs);
  if (label.getUTCFullYear() !== Number(year) || label.getUTCDate() !== Number(day)) return null;
  if (label.getUTCHours() !== Number(hour) || label.getUTCMinutes() !== Number(minute)) return null;
  if (label.getUTCSeconds() !== seconds) return null;
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  return wholeMs + micros / 1000 - offsetMs(offset);
}

function offsetMs(offset: string): number {
  if (offset === "Z" || offset === "z") return 0;
  const digits = offset.slice(1).replaceAll(":", "");
  const [hours = 0, minutes = 0, seconds = 0] = [0, 2, 4].map((at) => Number(digits.slice(at, at + 2) || 0));
  return (offset.startsWith("-") ? -1 : 1) * ((hours * 60 + minutes) * 60 + seconds) * 1000;
}
