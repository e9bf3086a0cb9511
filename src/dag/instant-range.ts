import type { EpochMs } from "../platform/clock.ts";
import { readTimestamp } from "../schedule/timestamp.ts";

/** Instants from `from` to `to`, both included. */
export interface InstantRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** Reads two ISO dates or date-times; without an offset they are UTC (D-BKF-5). Null when one is none, or the second is before the first. */
export function readRange(from: string, to: string): InstantRange | null {
  const range = [from, to].map((text) => {
    const read = readTimestamp(text);
    return read === null ? null : (read.label - (read.offset ?? 0)) * 1000 + read.milliseconds;
  });
  const [first = null, last = null] = range;
  return first === null || last === null || last < first ? null : { from: first, to: last };
}
