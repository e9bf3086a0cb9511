import type { HistoryRow, RanRow } from "../../contract/history.ts";
import type { EpochMs } from "../../platform/clock.ts";

/**
 * Where a row stands among its job's others. A peer's record may come later in the stream and have finished earlier, so everything
 * that asks for "the latest run" goes by this and not by position (RUN-3).
 */
export function finishInstant(row: HistoryRow): EpochMs {
  return row.kind === "interrupted" ? row.interruptedAt : row.finishedAt;
}

/** Rows by finish instant; equal ones stay in their order, so the later in the stream counts as the later one (RUN-4, REH-3). */
export function inFinishOrder(rows: readonly HistoryRow[]): HistoryRow[] {
  return [...rows].sort((a, b) => finishInstant(a) - finishInstant(b));
}

/** The row that finished last, null without any; of equals the later one (RUN-4). */
export function latestOf<R extends HistoryRow>(rows: readonly R[]): R | null {
  return last(rows, finishInstant);
}

/** The newest verdict; cancelled, skipped, interrupted and unknown rows are none (DEP-2). */
export function latestVerdict(rows: readonly HistoryRow[]): VerdictRow | null {
  return latestOf(rows.filter(isVerdict));
}

/** When a run of the job last succeeded, null when none of the rows is a success. */
export function latestSuccessAt(rows: readonly HistoryRow[]): EpochMs | null {
  const row = latestOf(rows.filter((row) => row.kind === "ran" && row.outcome === "success"));
  return row === null ? null : finishInstant(row);
}

/**
 * When a run of the job last ended, whatever its outcome (WM-2): what tells whether a run came after a retry was armed. A skipped slot
 * is no run, and neither is an interrupted one whose slot is still owed.
 */
export function latestCompletionAt(rows: readonly HistoryRow[]): EpochMs | null {
  const completions = rows.map(completedAt).filter((at) => at !== null);
  return last(completions, (at) => at);
}

/**
 * When a slot of the job was last dealt with (WM-1): any row tells, a skipped one too, except an interrupted run whose slot is still owed.
 */
export function latestDealtWithAt(rows: readonly HistoryRow[]): EpochMs | null {
  return last(rows.filter((row) => row.kind !== "interrupted" || !row.owed).map(finishInstant), (at) => at);
}

/**
 * Whether a row tells of the time up to `upTo`: it had ended by then, or it served a slot of that time. Runs that the live scheduler has
 * started since do not.
 */
export function belongsBefore(row: HistoryRow, upTo: EpochMs): boolean {
  if (finishInstant(row) <= upTo) return true;
  if (row.kind === "skipped") return row.slot !== null && row.slot <= upTo;
  const slot = servedSlot(row);
  return slot !== null && slot <= upTo;
}

/** The newest slot that a run of the job served, null when no row tells of one. */
export function latestSlot(rows: readonly HistoryRow[]): EpochMs | null {
  return last(
    rows.map(servedSlot).filter((slot) => slot !== null),
    (slot) => slot,
  );
}

function servedSlot(row: HistoryRow): EpochMs | null {
  return row.kind === "ran" && row.trigger !== null && "slot" in row.trigger ? row.trigger.slot : null;
}

export type VerdictRow = RanRow & { readonly outcome: "success" | "failure" };

export function isVerdict(row: HistoryRow): row is VerdictRow {
  return row.kind === "ran" && (row.outcome === "success" || row.outcome === "failure");
}

function completedAt(row: HistoryRow): EpochMs | null {
  if (row.kind === "skipped") return null;
  if (row.kind === "ran") return row.ranAt;
  return row.owed ? null : row.interruptedAt;
}

/** The greatest by `rank`; of equals the last one. */
function last<T>(items: readonly T[], rank: (item: T) => number): T | null {
  let best: T | null = null;
  for (const item of items) if (best === null || rank(item) >= rank(best)) best = item;
  return best;
}
