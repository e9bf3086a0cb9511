import type { EpochMs } from "../platform/clock.ts";

/** ISO-8601 in UTC as reports have always shown it: `2026-11-30T08:49:00.123000+00:00`, without the fraction when it is zero. */
export function instantText(at: EpochMs): string {
  const text = new Date(at).toISOString();
  return text.endsWith(".000Z") ? `${text.slice(0, -5)}+00:00` : `${text.slice(0, -1)}000+00:00`;
}

/** The same to whole seconds. */
export function secondText(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 19)}+00:00`;
}
