import type { AlertPolicy } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";

/**
 * How a job's failures stand for one report block, kept by whoever dispatches it: one state for `onFailure` (fed each failed run), one for
 * `onPermanentFailure` (fed each permanent failure), both fed each success.
 */
export interface AlertState {
  /** Failures since the last success. */
  readonly failures: number;
  /** When this row of failures was last told of; null while it has not been. */
  readonly toldAt: EpochMs | null;
}

export const quiet: AlertState = { failures: 0, toldAt: null };

export interface AlertEvent {
  readonly kind: "failed" | "succeeded";
  readonly at: EpochMs;
}

/** What the block is told: nothing, a failure as ever, a failure again after a while, or the first success after failures it knows of. */
export type AlertTell = "no" | "failure" | "reminder" | "recovery";

/**
 * Whether a report block with an alert policy hears of this. With the default policy it hears of every failure and of nothing else, as
 * without one.
 */
export function alertStep(
  state: AlertState,
  policy: AlertPolicy,
  { kind, at }: AlertEvent,
): { readonly state: AlertState; readonly tell: AlertTell } {
  if (kind === "succeeded")
    return { state: quiet, tell: policy.onRecovery && state.toldAt !== null ? "recovery" : "no" };
  const failures = state.failures + 1;
  const silent = { state: { ...state, failures }, tell: "no" } as const;
  if (failures < policy.afterFailures) return silent;
  const told = { failures, toldAt: at };
  if (state.toldAt === null || policy.remindEverySeconds === null) return { state: told, tell: "failure" };
  const since = at - state.toldAt;
  // A clock that was set back must not silence reminders for as long.
  return since >= 0 && since < policy.remindEverySeconds * 1_000 ? silent : { state: told, tell: "reminder" };
}
