import type { JobConfig, NotifyEvent, ReportConfig } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { RunId, RunResult } from "./run.ts";

export type Hook = "onFailure" | "onPermanentFailure" | "onSuccess" | "onLate";

export type SlaCheck = "maxTimeSinceSuccess" | "lateAfter" | "maxRuntime";

/** What happened, as reporters and their templates see it (running 11.2). */
export type ReportFacts =
  | {
      readonly kind: "run";
      readonly hook: Exclude<Hook, "onLate">;
      readonly job: JobConfig;
      readonly runId: RunId | null;
      readonly result: RunResult;
      /** Set when an alert policy told of it: the job is well again, or is still failing. */
      readonly note: "recovered" | "reminder" | null;
    }
  | {
      readonly kind: "late";
      readonly job: JobConfig;
      readonly check: SlaCheck;
      readonly thresholdSeconds: number;
      readonly observedSeconds: number;
      readonly lastSuccessAt: EpochMs | null;
    }
  | {
      readonly kind: "event";
      readonly event: NotifyEvent;
      readonly name: string;
      readonly subject: string;
      readonly message: string;
      /** `dag`, `run_key`, `taskkey`, `role`, … as running 13 lists them. */
      readonly extras: Readonly<Record<string, string | boolean | readonly string[]>>;
    };

/** Tells people and systems. */
export interface Reporting {
  /** Whether any reporter of the block would act; asked first so that nothing is logged or spawned for an empty block (running 11). */
  wouldAct(block: ReportConfig): boolean;
  /**
   * Runs all reporters of the block side by side and resolves when each has ended, at its own limit at the latest. Never rejects: a
   * reporter's trouble is logged, names job and reporter, and stops nothing.
   */
  report(block: ReportConfig, facts: ReportFacts): Promise<void>;
}
