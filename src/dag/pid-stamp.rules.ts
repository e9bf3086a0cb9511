import { type Claim, isInClaim } from "./claim.rules.ts";
import type { EpochSeconds, RunDocument } from "./run-document.ts";
import { draftOf } from "./run-draft.ts";

/** The process a claim became. */
export interface PidStamp {
  readonly claim: Claim;
  readonly pid: number;
  /** What tells it from a later process of the same pid, also across a boot (D-CRS-4); null when the system does not say. */
  readonly pidStart: number | string | null;
}

/** The run with the pids of what was just launched (6.3 step 6); of claims that are no longer in force nothing is written (D-CLM-9). */
export function stampPids(
  document: RunDocument,
  proc: string,
  stamps: readonly PidStamp[],
  now: EpochSeconds,
): RunDocument {
  const draft = draftOf(document);
  for (const { claim, pid, pidStart } of stamps) {
    const record = draft.tasks.get(claim.taskKey);
    if (record === undefined || !isInClaim(record, claim, proc)) continue;
    draft.put(claim.taskKey, { ...record, pid, ...(pidStart === null ? {} : { pidStart }), updatedAt: now });
  }
  return draft.finish(now);
}
