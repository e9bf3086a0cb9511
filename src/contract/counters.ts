import type { EpochMs } from "../platform/clock.ts";
import type { SlaCheck } from "./report.ts";

export type RunOutcome = "success" | "failure" | "cancelled" | "skipped" | "unknown";

/** What has been counted of one job (CNT-1): plain data, added up by whoever counts. */
export interface JobCounters {
  readonly runs: Readonly<Partial<Record<RunOutcome, number>>>;
  readonly retries: number;
  readonly permanentFailures: number;
  readonly startFailures: number;
  readonly durations: DurationHistogram;
  readonly lastSuccessAt: EpochMs | null;
  readonly lastFailureAt: EpochMs | null;
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  /** Runs whose CPU time is in the sums. */
  readonly cpuRuns: number;
  readonly maxRssBytes: number;
  readonly slaBreaches: Readonly<Partial<Record<SlaCheck, number>>>;
}

export interface DurationHistogram {
  readonly sumSeconds: number;
  readonly count: number;
  /** Runs at most as long as each bound, one number per bound, never falling. */
  readonly bucketCounts: readonly number[];
}

/** Counters of all jobs of a node, and the bounds their histograms are kept for, in seconds, rising. */
export interface CountersSnapshot {
  readonly bounds: readonly number[];
  readonly jobs: ReadonlyMap<string, JobCounters>;
}
