import type { EpochMs } from "../platform/clock.ts";
import type { LimitsRecord, ResourceUsage, RunId, Trigger, Verification } from "./run.ts";

/** One line of a job's history (running 8): a run that ended, a slot that was skipped on purpose, or a run that was cut. */
export type HistoryRow = RanRow | SkippedRow | InterruptedRow;

export interface RanRow {
  readonly kind: "ran";
  /** Null in rows of builds that do not write it. */
  readonly runId: RunId | null;
  /** Null in rows of builds that do not write it. */
  readonly trigger: Trigger | null;
  /** "unknown" only in rows of other builds whose outcome this one does not know: never a success (RUN-2). */
  readonly outcome: "success" | "failure" | "cancelled" | "unknown";
  readonly exitCode: number | null;
  readonly startedAt: EpochMs | null;
  /** When it was reaped: streams drained, verification done. */
  readonly finishedAt: EpochMs;
  /** The instant the run ended (F-47). */
  readonly ranAt: EpochMs;
  readonly failReason: string | null;
  readonly resources: ResourceUsage | null;
  readonly verification: Verification | null;
  readonly limits: LimitsRecord | null;
}

export interface SkippedRow {
  readonly kind: "skipped";
  /** Null in rows of builds that do not write it. */
  readonly slot: EpochMs | null;
  readonly finishedAt: EpochMs;
  readonly skipReason: "paused" | null;
}

/**
 * A run of which no completion was recorded (INF-7). No verdict: its outcome is shown as "unknown", no rate and no duration counts it.
 */
export interface InterruptedRow {
  readonly kind: "interrupted";
  /** When the run had started. */
  readonly interruptedAt: EpochMs;
  /** Its slot counts as missed and catch-up runs it again: jobs with `onMissed` other than skip (INF-8). */
  readonly owed: boolean;
  readonly failReason: string | null;
}
