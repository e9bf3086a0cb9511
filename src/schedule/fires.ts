import type { Schedule } from "./expression.ts";
import { firstLabelFrom, horizonLabel, lastLabelUpTo, matches } from "./labels.ts";
import { type Offsets, widestShiftSeconds } from "./offsets.ts";
import { isRoundTheClock } from "./parts.ts";
import type { Zone } from "./zone.ts";

/**
 * The fire set (section 6): the instants that the due labels of a schedule resolve to in a zone.
 *   F1. A label that exists once fires then.
 *   F2. A label that clocks went back over fires the first time it is shown, except that a schedule due in every
 *       hour of the day fires both times: its rhythm goes on through the repeated hour.
 *   F3. A label that clocks went forward over fires late by the size of the jump.
 *   F4. Two labels that resolve to one instant fire once.
 * Within one stretch of constant offset the set is made of the labels shown in it, without the repeated ones (F2),
 * and, up to the size of the jump after a forward one, of the labels jumped over (F3).
 */

/**
 * The first fire strictly after an instant; null when there is none up to the end of civil year 2099.
 *
 * @param afterMs milliseconds since 1970, fractions allowed; the answer is a whole second
 */
export function nextFire(schedule: Schedule, zone: Zone, afterMs: number): number | null {
  const from = Math.floor(afterMs / 1000) + 1;
  const fire = zone.offsets === null ? firstLabelFrom(schedule, from) : firstInZone(schedule, zone.offsets, from);
  return Number.isFinite(fire) ? fire * 1000 : null;
}

/** The last fire strictly before an instant; null when there is none back to the start of civil year 1970. */
export function previousFire(schedule: Schedule, zone: Zone, beforeMs: number): number | null {
  const upTo = Math.ceil(beforeMs / 1000) - 1;
  const fire = zone.offsets === null ? lastLabelUpTo(schedule, upTo) : lastInZone(schedule, zone.offsets, upTo);
  return Number.isFinite(fire) ? fire * 1000 : null;
}

/** All fires strictly after an instant in order. Each step costs one search, so stop when you have enough. */
export function* fires(schedule: Schedule, zone: Zone, afterMs: number): Generator<number, void, undefined> {
  for (let fire = nextFire(schedule, zone, afterMs); fire !== null; fire = nextFire(schedule, zone, fire)) yield fire;
}

/** Whether a schedule fires at exactly that instant. */
export function isFire(schedule: Schedule, zone: Zone, instantMs: number): boolean {
  const instant = instantMs / 1000;
  if (!Number.isInteger(instant)) return false;
  const due = (label: number) => label < horizonLabel && matches(schedule, label);
  if (zone.offsets === null) return due(instant);
  const { start, offset, offsetBefore } = zone.offsets(instant);
  const isRepeated = instant + offset < start + offsetBefore;
  if (due(instant + offset) && (!isRepeated || isRoundTheClock(schedule.hours))) return true; // F1, F2
  return instant + offsetBefore < start + offset && due(instant + offsetBefore); // F3
}

/** First fire not before `from`, in seconds; Infinity when there is none. */
function firstInZone(schedule: Schedule, offsets: Offsets, from: number): number {
  for (let at = from; at < horizonLabel + widestShiftSeconds; ) {
    const { start, end, offset, offsetBefore } = offsets(at);
    const unseen = isRoundTheClock(schedule.hours) ? at + offset : Math.max(at + offset, start + offsetBefore); // F2
    const shown = firstLabelFrom(schedule, unseen);
    let fire = shown - offset;
    if (at + offsetBefore < start + offset) {
      const skipped = firstLabelFrom(schedule, at + offsetBefore);
      if (skipped < start + offset) fire = Math.min(fire, skipped - offsetBefore); // F3, F4
    }
    if (fire < end) return fire;
    // No label from here to `shown` is due. Only one that is about to be shown again can still come before it.
    at = end - at <= widestShiftSeconds ? end : Math.max(end, shown - widestShiftSeconds);
  }
  return Number.POSITIVE_INFINITY;
}

/** Last fire not after `upTo`, in seconds; -Infinity when there is none. The mirror image of `firstInZone`. */
function lastInZone(schedule: Schedule, offsets: Offsets, upTo: number): number {
  for (let at = Math.min(upTo, horizonLabel + widestShiftSeconds); at > -widestShiftSeconds; ) {
    const { start, offset, offsetBefore } = offsets(at);
    const unseen = start + (isRoundTheClock(schedule.hours) ? offset : Math.max(offset, offsetBefore)); // F2
    const shown = lastLabelUpTo(schedule, at + offset);
    let fire = shown < unseen ? Number.NEGATIVE_INFINITY : shown - offset;
    if (offsetBefore < offset) {
      const skipped = lastLabelUpTo(schedule, Math.min(at + offsetBefore, start + offset - 1));
      if (skipped >= start + offsetBefore) fire = Math.max(fire, skipped - offsetBefore); // F3, F4
    }
    if (fire >= start) return fire;
    at = at - start <= widestShiftSeconds ? start - 1 : Math.min(start - 1, shown + widestShiftSeconds);
  }
  return Number.NEGATIVE_INFINITY;
}
