import type { Schedule } from "./expression.ts";
import { isFire, nextFire } from "./fires.ts";
import { inlineReplayMs } from "./limits.ts";
import type { Zone } from "./zone.ts";

/** What to launch for a slot that has come due, and when the schedule is due next; null when never again (7.4). */
export type Due =
  /** Ordinary lateness: every slot up to now, each its own launch, oldest first. */
  | { readonly kind: "replay"; readonly slots: readonly number[]; readonly nextMs: number | null }
  /** Time was lost: the current slot, if it is one, and nothing in between. */
  | {
      readonly kind: "resume";
      readonly lateMs: number;
      readonly slot: number | null;
      /** Slots from `fromMs` up to, not including, `beforeMs` were passed over; null when there can be none. */
      readonly skipped: { readonly fromMs: number; readonly beforeMs: number } | null;
      readonly nextMs: number | null;
    };

/**
 * Judges a due slot. Costs a handful of searches, however long the gap.
 *
 * @param dueMs the slot, a member of the fire set and not after now
 */
export function judgeDue(schedule: Schedule, zone: Zone, dueMs: number, nowMs: number): Due {
  const lateMs = nowMs - dueMs;
  if (lateMs >= inlineReplayMs) {
    const slot = currentSlot(schedule, nowMs);
    return {
      kind: "resume",
      lateMs,
      slot: isFire(schedule, zone, slot) ? slot : null,
      skipped: dueMs < slot ? { fromMs: dueMs, beforeMs: slot } : null,
      nextMs: nextFire(schedule, zone, nowMs),
    };
  }
  const slots = [dueMs];
  let next = nextFire(schedule, zone, dueMs);
  for (; next !== null && next <= nowMs; next = nextFire(schedule, zone, next)) slots.push(next);
  return { kind: "replay", slots, nextMs: next };
}

/** Now, cut down to the granularity of the schedule: its second when seconds are written, else its minute. */
export function currentSlot({ secondLevel }: Schedule, nowMs: number): number {
  const unit = secondLevel ? 1000 : 60_000;
  return Math.floor(nowMs / unit) * unit;
}
