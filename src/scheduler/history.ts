import type { DaemonEvents } from "../contract/events.ts";
import type { HistoryRow } from "../contract/history.ts";
import { HISTORY_ROWS_MAX, REFUSALS_MAX } from "./limits.ts";

export type Refusal = DaemonEvents["run.refused"];

/** What a job did and did not do, newest last, in memory (running 8). Grows only for jobs that something happened to. */
export interface JobHistory {
  add(row: HistoryRow): void;
  refuse(refusal: Refusal): void;
  readonly rows: readonly HistoryRow[];
  readonly refusals: readonly Refusal[];
  /** The row that finished last; skipped slots do not count. */
  lastRun(): HistoryRow | null;
}

export function jobHistory(): JobHistory {
  const rows: HistoryRow[] = [];
  const refusals: Refusal[] = [];
  return {
    add(row) {
      rows.push(row);
      if (rows.length > HISTORY_ROWS_MAX) rows.shift();
    },
    refuse(refusal) {
      refusals.push(refusal);
      if (refusals.length > REFUSALS_MAX) refusals.shift();
    },
    rows,
    refusals,
    lastRun() {
      let last: HistoryRow | null = null;
      for (const row of rows) {
        if (row.kind === "ran" && (last === null || row.finishedAt >= last.finishedAt)) last = row;
      }
      return last;
    },
  };
}
