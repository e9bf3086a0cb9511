/** What a set of a job's rows adds up to (TRD-1); null where no row has the figure. Seconds and bytes. */
export interface RunStats {
  /** All rows, skipped ones included. */
  readonly total: number;
  readonly success: number;
  readonly failure: number;
  readonly cancelled: number;
  readonly unknown: number;
  /** success / (success + failure) */
  readonly successRate: number | null;
  readonly averageDurationSeconds: number | null;
  readonly minDurationSeconds: number | null;
  readonly maxDurationSeconds: number | null;
  /** `last…` come from the run that finished last. */
  readonly lastDurationSeconds: number | null;
  readonly averageCpuSeconds: number | null;
  readonly maxCpuSeconds: number | null;
  readonly lastCpuSeconds: number | null;
  readonly averageRssBytes: number | null;
  readonly maxRssBytes: number | null;
  readonly lastRssBytes: number | null;
}

export type TrendWindow = "1h" | "24h" | "7d" | "30d" | "all";

/** The figures of a job over time. `memory`: the store did not answer, so only the rows kept in memory count (TRD-3). */
export interface Trends {
  readonly source: "durable" | "memory";
  readonly generatedAt: number;
  readonly windows: Readonly<Record<TrendWindow, RunStats>>;
}
