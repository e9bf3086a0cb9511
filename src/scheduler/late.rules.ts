import type { EpochMs } from "../platform/clock.ts";
import type { Schedule } from "../schedule/expression.ts";
import { isFire, nextFire } from "../schedule/fires.ts";
import type { Zone } from "../schedule/zone.ts";

/** From here on a late wake-up resumes at the current slot instead of replaying what it missed (schedules 7.4). */
const REPLAY_LIMIT_MS = 10_000;

/** What a due job's wake-up at `now` means. */
export interface Wake {
  /** Slots to launch, in order. */
  readonly slots: readonly EpochMs[];
  /** The next instant to wait for; null when the schedule has no further fire. */
  readonly next: EpochMs | null;
  /** Set when the scheduler fell behind: slots from `from` on, before `until`, are not launched here. */
  readonly gap: { readonly lateMs: number; readonly from: EpochMs; readonly until: EpochMs } | null;
}

/**
 * Decides for a job whose pending instant `due` is at or before `now`. Less than ten seconds late, every slot up to now is launched,
 * one by one. Later than that only the current slot is, if it is one of the schedule's; the gap is never walked, so decades cost as
 * little as a minute.
 */
export function wake(schedule: Schedule, zone: Zone, due: EpochMs, now: EpochMs): Wake {
  const lateMs = now - due;
  if (lateMs < REPLAY_LIMIT_MS) {
    const slots: EpochMs[] = [];
    let slot: EpochMs | null = due;
    while (slot !== null && slot <= now) {
      slots.push(slot);
      slot = nextFire(schedule, zone, slot);
    }
    return { slots, next: slot, gap: null };
  }
  const grainMs = schedule.secondLevel ? 1000 : 60_000;
  const current = Math.floor(now / grainMs) * grainMs;
  return {
    slots: isFire(schedule, zone, current) ? [current] : [],
    next: nextFire(schedule, zone, now),
    gap: { lateMs, from: due, until: current },
  };
}
