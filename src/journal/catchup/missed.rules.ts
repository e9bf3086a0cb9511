import type { EpochMs } from "../../platform/clock.ts";
import type { Schedule } from "../../schedule/expression.ts";
import { nextFire, previousFire } from "../../schedule/fires.ts";
import type { Zone } from "../../schedule/zone.ts";

/** Slots that nothing is owed for: from `since` on, null for ever, up to but not including `until` (CAT step 2). */
export interface PauseWindow {
  readonly since: EpochMs | null;
  readonly until: EpochMs;
}

/** The stretch that is asked about: after `after`, up to and including `upTo`. */
export interface MissedStretch {
  readonly schedule: Schedule;
  readonly zone: Zone;
  readonly after: EpochMs;
  readonly upTo: EpochMs;
  readonly pause: PauseWindow | null;
}

/**
 * The slots of a stretch that the live scheduler would have fired, one by one, oldest first, at most `limit` (CAT-1). A pause is jumped
 * over as a whole; the slot at its end counts.
 */
export function missedSlots(stretch: MissedStretch, limit: number): EpochMs[] {
  const { schedule, zone, upTo, pause } = stretch;
  const slots: EpochMs[] = [];
  let slot = nextFire(schedule, zone, stretch.after);
  while (slot !== null && slot <= upTo && slots.length < limit) {
    if (isPaused(slot, pause)) {
      slot = nextFire(schedule, zone, pause.until - BEFORE_MS);
      continue;
    }
    slots.push(slot);
    slot = nextFire(schedule, zone, slot);
  }
  return slots;
}

/** The newest of those slots, null when there is none: all that one coalesced run needs to know, however long the stretch. */
export function lastMissedSlot(stretch: MissedStretch): EpochMs | null {
  const { schedule, zone, after, upTo, pause } = stretch;
  let slot = previousFire(schedule, zone, upTo + BEFORE_MS);
  if (slot !== null && isPaused(slot, pause)) {
    slot = pause.since === null ? null : previousFire(schedule, zone, pause.since);
  }
  return slot !== null && slot > after ? slot : null;
}

/** A microsecond, the least step between instants; fires are whole seconds. */
const BEFORE_MS = 0.001;

function isPaused(slot: EpochMs, pause: PauseWindow | null): pause is PauseWindow {
  return pause !== null && slot < pause.until && (pause.since === null || slot >= pause.since);
}
