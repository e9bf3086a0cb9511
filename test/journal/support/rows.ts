import type { HistoryRow, RanRow } from "../../../src/contract/history.ts";

/** A run that took ten seconds and ended at `finishedAt`. */
export function ran(finishedAt: number, over: Partial<RanRow> = {}): RanRow {
  return {
    kind: "ran",
    runId: "0123456789abcdef0123456789abcdef",
    trigger: { kind: "schedule", slot: finishedAt - 10_000 },
    outcome: "success",
    exitCode: 0,
    startedAt: finishedAt - 10_000,
    finishedAt,
    ranAt: finishedAt,
    failReason: null,
    resources: null,
    verification: null,
    limits: null,
    ...over,
  };
}

export function failed(finishedAt: number): RanRow {
  return ran(finishedAt, { outcome: "failure", exitCode: 1, failReason: "command exited with code 1" });
}

export function skipped(finishedAt: number): HistoryRow {
  return { kind: "skipped", slot: finishedAt, finishedAt, skipReason: "paused" };
}
