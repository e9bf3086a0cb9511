import { secondsPerDay } from "./civil.ts";
import { labelAt, resolve, type Zone } from "./zone.ts";

/** Labels that clocks skipped or showed twice when they were changed. */
export interface ClockChange {
  readonly kind: "skipped" | "repeated";
  readonly firstLabel: number;
  /** First label after them. */
  readonly endLabel: number;
}

/** The changes that make a date's midnight offset differ from the one of the day before, from tomorrow for a year and a day. */
export function comingChanges(zone: Zone, nowMs: number): readonly ClockChange[] {
  if (zone.offsets === null) return [];
  const today = Math.floor(labelAt(zone, nowMs / 1000) / secondsPerDay);
  const known = latest.get(zone);
  if (known?.today === today) return known.changes;
  const changes = findChanges(zone, today);
  latest.set(zone, { today, changes });
  return changes;
}

/** All schedules of a zone are looked at on one day, so one answer per zone is kept. */
const latest = new WeakMap<Zone, { readonly today: number; readonly changes: readonly ClockChange[] }>();

function findChanges(zone: Zone, today: number): ClockChange[] {
  const changes: ClockChange[] = [];
  let offset = midnightOffset(zone, today);
  for (let day = today + 1; day <= today + 366; day++) {
    const offsetHere = midnightOffset(zone, day);
    if (offsetHere !== offset) changes.push(...changesWithin(zone, day - 1, day + 1));
    offset = offsetHere;
  }
  return changes;
}

function midnightOffset(zone: Zone, day: number): number {
  const midnight = day * secondsPerDay;
  return midnight - resolve(zone, midnight).instant;
}

/** The changes among the labels of the days from `firstDay` up to, not including, `endDay`. */
function changesWithin({ offsets }: Zone, firstDay: number, endDay: number): ClockChange[] {
  if (offsets === null) return [];
  const [firstLabel, endLabel] = [firstDay * secondsPerDay, endDay * secondsPerDay];
  const changes: ClockChange[] = [];
  for (let at = firstLabel - 2 * secondsPerDay; at < endLabel + 2 * secondsPerDay; at = offsets(at).end) {
    const { start, offset, offsetBefore } = offsets(at);
    const [from, to] = [start + Math.min(offset, offsetBefore), start + Math.max(offset, offsetBefore)];
    if (from < to && to > firstLabel && from < endLabel)
      changes.push({ kind: offsetBefore < offset ? "skipped" : "repeated", firstLabel: from, endLabel: to });
  }
  return changes;
}
