import type { RanRow } from "../../contract/history.ts";
import type { EpochMs } from "../../platform/clock.ts";

/** The row of a retry given up because its job belongs to another node, which cannot go on with it (RSM-2). Nothing ran. */
export function abandonedRetry(attempt: number, now: EpochMs): RanRow {
  return {
    kind: "ran",
    runId: null,
    trigger: { kind: "retry", attempt },
    outcome: "cancelled",
    exitCode: null,
    startedAt: null,
    finishedAt: now,
    ranAt: now,
    failReason: "retry abandoned: cluster ownership moved to another node",
    resources: null,
    verification: null,
    limits: null,
  };
}
