import type { RetryConfig } from "../config/model.ts";
import type { Trigger } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";

/**
 * A job's retry sequence while it lives (running 9.2). A job has at most one; a run remembers the id of the one it was launched
 * with, so a run whose ladder is gone or was followed by another one knows that it has none.
 */
export interface Ladder {
  readonly id: number;
  /** Retries scheduled so far. */
  readonly count: number;
  /** How long the next retry waits. */
  readonly delaySeconds: number;
  readonly wait: RetryWait | null;
  /** Which sequence of its job the pool counts it as; null without a pool, or while that is not known. */
  readonly poolEpoch: number | null;
}

/** A retry that has been scheduled and is not due yet. */
export interface RetryWait {
  readonly dueAt: EpochMs;
  readonly delaySeconds: number;
  readonly armedAt: EpochMs;
  /** It was due once and could not go: paused, or a gate was shut for the moment. */
  readonly deferred: boolean;
}

/** The ladder a scheduled fire starts with, null when the job has no retries (F-17). */
export function freshLadder(id: number, retry: RetryConfig): Ladder | null {
  if (retry.maximumRetries === 0) return null;
  return { id, count: 0, delaySeconds: retry.initialDelaySeconds, wait: null, poolEpoch: null };
}

/**
 * The ladder of a retry that an earlier daemon, or another node, had armed: at its attempt, waiting until it is due, and with the delay
 * the next failure would wait, as if all its failures had happened here (RET-9).
 */
export function resumedLadder(
  id: number,
  retry: RetryConfig,
  { attempt, dueAt, armedAt }: { readonly attempt: number; readonly dueAt: EpochMs; readonly armedAt: EpochMs },
): Ladder & { readonly wait: RetryWait } {
  const waited = delayOf(attempt, retry);
  const wait = { dueAt, delaySeconds: waited, armedAt, deferred: false };
  return { id, count: attempt, delaySeconds: nextDelay(waited, retry), wait, poolEpoch: null };
}

/** How long retry `attempt` waits, without going through those before it: an unlimited ladder may have come far. */
function delayOf(attempt: number, retry: RetryConfig): number {
  const { initialDelaySeconds, backoffMultiplier, maximumDelaySeconds } = retry;
  if (attempt <= 1) return initialDelaySeconds;
  const second = nextDelay(initialDelaySeconds, retry);
  return Math.min(second * backoffMultiplier ** (attempt - 2), maximumDelaySeconds);
}

function nextDelay(delaySeconds: number, { backoffMultiplier, maximumDelaySeconds }: RetryConfig): number {
  return Math.min(delaySeconds * backoffMultiplier, maximumDelaySeconds);
}

export type AfterFailure =
  | { readonly next: "retry"; readonly ladder: Ladder & { readonly wait: RetryWait } }
  | { readonly next: "permanent failure"; readonly because: "no retries" | "exhausted" };

/**
 * What follows a failed run (F-23). `ladder` is the one the run holds, null when it has none or it has ended. The first wait is
 * `initialDelay` even above the cap, later ones are capped (F-16). A retry that already waits is dropped for the new one.
 */
export function afterFailure(ladder: Ladder | null, retry: RetryConfig, now: EpochMs): AfterFailure {
  if (ladder === null) return { next: "permanent failure", because: "no retries" };
  if (retry.maximumRetries !== "unlimited" && ladder.count >= retry.maximumRetries) {
    return { next: "permanent failure", because: "exhausted" };
  }
  return {
    next: "retry",
    ladder: {
      ...ladder,
      count: ladder.count + 1,
      delaySeconds: nextDelay(ladder.delaySeconds, retry),
      wait: {
        dueAt: now + ladder.delaySeconds * 1000,
        delaySeconds: ladder.delaySeconds,
        armedAt: now,
        deferred: false,
      },
    },
  };
}

/**
 * Whether the success or the operator's cancel of a run ends the job's ladder (F-24, F-25). A ladder that another launch made and
 * that has scheduled no retry yet is left alone: an older run that overlaps a newer one must not take the newer one's retries.
 */
export function endsLadder(ladder: Ladder, heldByRun: number | null): boolean {
  return ladder.id === heldByRun || ladder.count > 0;
}

/**
 * Whether the ladder still stands at the retry that asked whether it may go. Not when it ended meanwhile (J4), nor when the failure of
 * another of its runs has armed the next one, waiting or due by now.
 */
export function standsAt(ladder: Ladder | null, ladderId: number | null, trigger: Trigger): ladder is Ladder {
  if (ladder === null || ladder.wait !== null || (ladderId !== null && ladder.id !== ladderId)) return false;
  return trigger.kind === "retry" && trigger.attempt === ladder.count;
}

/** A due retry that cannot go now (paused, a gate shut) is looked at again after its own delay, at least a second (F-29). */
export function deferRetry(
  ladder: Ladder & { readonly wait: RetryWait },
  now: EpochMs,
): Ladder & { readonly wait: RetryWait } {
  const waitMs = Math.max(ladder.wait.delaySeconds * 1000, 1000);
  return { ...ladder, wait: { ...ladder.wait, dueAt: now + waitMs, deferred: true } };
}
