import type { EpochMs } from "../platform/clock.ts";
import type { LimitsRecord, ResourceUsage, RunId, Trigger, Verification } from "./run.ts";

/** One line of a job's history (running 8): a run that ended, or a slot that was skipped on purpose. */
export type HistoryRow = RanRow | SkippedRow;

export interface RanRow {
  readonly kind: "ran";
  readonly runId: RunId;
  readonly trigger: Trigger;
  readonly outcome: "success" | "failure" | "cancelled";
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
  readonly slot: EpochMs;
  readonly finishedAt: EpochMs;
  readonly skipReason: "paused";
}
