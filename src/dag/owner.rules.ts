import type { DagTaskConfig } from "../config/model.ts";
import { claimKey, claimOf } from "./claim.rules.ts";
import { ended, failedAttempt, idle, isSensorRecord, RECONCILED, released } from "./instance.rules.ts";
import { OUTSIDE_WAIT_SECONDS } from "./limits.ts";
import { type PassContext, processKey } from "./pass.ts";
import { isTerminal, type TaskKey, type TaskRecord } from "./run-document.ts";

/**
 * What becomes of an instance that some process has claimed (13.2). It stays while that process is at work on it; else it is as far as it was
 * before the claim, or has lost an attempt.
 *
 * @param task null when it is no longer configured: then nothing runs it again (D-CRS-5)
 */
export function settleOwner(
  pass: PassContext,
  key: TaskKey,
  record: TaskRecord,
  task: DagTaskConfig | null,
): TaskRecord {
  const { facts, found, now } = pass;
  if (record.proc === facts.proc) {
    const claim = claimOf(key, record);
    if (facts.handedOut.has(claimKey(claim)) || task === null) return record;
    found.released.push(claim);
    return pass.draft.put(key, released(record, now)); // D-CLM-3
  }
  if (isAtWork(pass, key, record)) return record;
  found.reconciled.push(key);
  return pass.draft.put(key, afterCrash(record, task, now));
}

function afterCrash(record: TaskRecord, task: DagTaskConfig | null, now: number): TaskRecord {
  if (task !== null && isSensorRecord(record)) return idle(record, record.pokeCount ?? 0, now, now);
  const { exitCode, resources } = record;
  const end = { exitCode, failReason: RECONCILED, resources };
  const crashed = failedAttempt(record, end, { retries: task?.retries ?? 0, retryAt: now }, now);
  return task === null && !isTerminal(crashed.state) ? ended(crashed, "failed", RECONCILED, now) : crashed;
}

/** A daemon of this host may have died and left the process. Of any other host's, the lapsed lease proves it dead. */
function isAtWork(pass: PassContext, key: TaskKey, { host, pid, pidStart = null }: TaskRecord): boolean {
  if (host !== pass.facts.host || pid === null) return false;
  const process = { taskKey: key, pid, pidStart };
  const alive = pass.facts.alive.get(processKey(process));
  if (alive === false) return false;
  if (alive === undefined) pass.found.unknownProcesses.push(process); // P3 of plan.ts
  pass.wake(alive === undefined ? pass.now : pass.now + OUTSIDE_WAIT_SECONDS);
  return true;
}
