import type { DaemonEvents } from "../contract/events.ts";
import type { HistoryRow, InterruptedRow } from "../contract/history.ts";
import { finishInstant, latestOf } from "../journal/ledger/latest.rules.ts";
import { HISTORY_ROWS_MAX, REFUSALS_MAX } from "./limits.ts";

export type Refusal = DaemonEvents["run.refused"];

/** What a job did and did not do, newest last, in memory (running 8). Grows only for jobs that something happened to. */
export interface JobHistory {
  add(row: HistoryRow): void;
  /** Puts rows of before this process in front, in their order; nothing when there are rows already (REH-1). */
  warm(rows: readonly HistoryRow[]): void;
  /**
   * Adds the row of a run of this node that a crash cut. It is the last run whatever its instant, until another run ends: an overlapping
   * instance routinely finishes after it started and would hide the crash (RUN-5).
   */
  addCut(row: InterruptedRow): void;
  refuse(refusal: Refusal): void;
  readonly rows: readonly HistoryRow[];
  readonly refusals: readonly Refusal[];
  /** The row that finished last, of equals the later one; skipped slots do not count (RUN-4). */
  lastRun(): Exclude<HistoryRow, { kind: "skipped" }> | null;
  /** The same, skipped slots included (http 7.2). Costs nothing, however many rows there are. */
  readonly lastRow: HistoryRow | null;
}

export function jobHistory(): JobHistory {
  const rows: HistoryRow[] = [];
  const refusals: Refusal[] = [];
  let cut: InterruptedRow | null = null;
  let lastRow: HistoryRow | null = null;

  const add = (row: HistoryRow): void => {
    if (lastRow === null || finishInstant(row) >= finishInstant(lastRow)) lastRow = row;
    rows.push(row);
    if (rows.length > HISTORY_ROWS_MAX) rows.shift();
  };

  return {
    add(row) {
      if (row.kind === "ran" && cut !== null && finishInstant(row) > finishInstant(cut)) cut = null;
      add(row);
    },
    warm(earlier) {
      if (rows.length === 0) for (const row of earlier.slice(-HISTORY_ROWS_MAX)) add(row);
    },
    addCut(row) {
      add(row);
      cut = row;
    },
    refuse(refusal) {
      refusals.push(refusal);
      if (refusals.length > REFUSALS_MAX) refusals.shift();
    },
    rows,
    refusals,
    get lastRow() {
      return cut ?? lastRow;
    },
    lastRun: () => cut ?? latestOf(rows.filter((row) => row.kind !== "skipped")),
  };
}
