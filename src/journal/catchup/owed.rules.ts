import type { EpochMs } from "../../platform/clock.ts";
import type { Schedule } from "../../schedule/expression.ts";
import type { Zone } from "../../schedule/zone.ts";
import { CATCHUP_LAUNCHES_MAX } from "../limits.ts";
import { lastMissedSlot, missedSlots, type PauseWindow } from "./missed.rules.ts";

/**
 * A stretch of time a job may owe runs of. "start": what was missed while no daemon ran, up to `now`, the instant from which the live
 * scheduler serves the job (CAT-11). "resume": what a running daemon slept through (CAT-25).
 */
export type CatchUpWindow =
  | { readonly kind: "start"; readonly now: EpochMs }
  | {
      readonly kind: "resume";
      /** Just before the first skipped slot, exclusive. */
      readonly after: EpochMs;
      /** The slot that fires as usual, exclusive. */
      readonly before: EpochMs;
      /** When the gap was noticed. */
      readonly observed: EpochMs;
    };

/** What the store tells about a job (CAT, evaluation steps 1 and 2). */
export interface CatchUpFacts {
  /** WM-1. */
  readonly lastRunAt: EpochMs | null;
  /** WM-2. */
  readonly lastCompletedAt: EpochMs | null;
  /** The open checkpoint's watermark, "none" when no cycle is open. */
  readonly open: EpochMs | null | "none";
  /** Of the newest pause, also one that is over. */
  readonly pause: PauseWindow | null;
}

/** How a job catches up. */
export interface CatchUpPolicy {
  readonly onMissed: "run-once" | "run-all";
  readonly schedule: Schedule;
  readonly zone: Zone;
  readonly startingDeadlineSeconds: number | null;
}

export interface Owed {
  /** Slots to launch, oldest first; of run-once the newest one stands for all. */
  readonly slots: readonly EpochMs[];
  /** From where the count began: what the open checkpoint carries, so that a restart counts the same. */
  readonly watermark: EpochMs | null;
  /** More was missed than one cycle launches. */
  readonly truncated: boolean;
}

/** What a job owes for a window. Nothing without a point of reference: a job that never ran schedules forward (CAT-2). */
export function owedRuns(window: CatchUpWindow, facts: CatchUpFacts, policy: CatchUpPolicy): Owed {
  const watermark = referenceOf(window, facts);
  if (watermark === null) return { slots: [], watermark: null, truncated: false };
  const { schedule, zone, startingDeadlineSeconds } = policy;
  const noticedAt = window.kind === "start" ? window.now : window.observed;
  const earliest = startingDeadlineSeconds === null ? watermark : noticedAt - startingDeadlineSeconds * 1000;
  const stretch = {
    schedule,
    zone,
    after: Math.max(watermark, earliest), // CAT-3
    upTo: window.kind === "start" ? window.now : window.before - 1,
    pause: facts.pause,
  };
  if (policy.onMissed === "run-once") {
    const slot = lastMissedSlot(stretch);
    return { slots: slot === null ? [] : [slot], watermark, truncated: false };
  }
  const slots = missedSlots(stretch, CATCHUP_LAUNCHES_MAX + 1);
  return { slots: slots.slice(0, CATCHUP_LAUNCHES_MAX), watermark, truncated: slots.length > CATCHUP_LAUNCHES_MAX };
}

/** What a paused job's open checkpoint remembers of the backlog from before its pause (CAT-13, CAT-25). */
export function pinWatermark(window: CatchUpWindow, facts: CatchUpFacts): EpochMs | null {
  return window.kind === "start" ? facts.lastCompletedAt : window.after;
}

function referenceOf(window: CatchUpWindow, facts: CatchUpFacts): EpochMs | null {
  let after = window.kind === "start" ? facts.lastRunAt : window.after;
  if (facts.open !== "none" && facts.open !== null && (after === null || facts.open < after)) after = facts.open;
  if (window.kind === "resume" || facts.pause === null || after === null) return after;
  // Skipped slots count as dealt with; what was owed from before the pause must not go with them.
  return facts.lastCompletedAt !== null && facts.lastCompletedAt < after ? facts.lastCompletedAt : after;
}
