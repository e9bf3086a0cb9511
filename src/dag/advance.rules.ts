import type { DagTaskConfig } from "../config/model.ts";
import { claimKey, claimOf } from "./claim.rules.ts";
import { claimed, ended, isSensorRecord, parked, pokedAgain, SENSOR_TIMED_OUT } from "./instance.rules.ts";
import { OUTSIDE_WAIT_SECONDS } from "./limits.ts";
import { settleOwner } from "./owner.rules.ts";
import type { PassContext } from "./pass.ts";
import { isFailure, type TaskKey, type TaskRecord } from "./run-document.ts";
import { triggerVerdict, type Verdict } from "./trigger.rules.ts";

/** Takes one instance as far as it can go now (6.4) and answers with its record. */
export function advanceInstance(
  pass: PassContext,
  key: TaskKey,
  recorded: TaskRecord,
  task: DagTaskConfig,
): TaskRecord {
  const { now } = pass;
  const record = settled(pass, key, recorded, task);
  switch (record.state) {
    case "pending": {
      const said = verdictOf(pass, task);
      if (said === "wait") return record;
      return said === "run" ? claim(pass, key, record, task) : pass.draft.put(key, ended(record, said, null, now));
    }
    case "up_for_retry": {
      const dueAt = record.nextRetryAt ?? now;
      if (dueAt <= now) return claim(pass, key, record, task); // the trigger rule was asked once (section 3)
      pass.wake(dueAt);
      return record;
    }
    case "running":
      if (record.proc !== null || record.awaitingApproval === true) return record;
      if (task.type === "sensor" && isSensorRecord(record)) return pokeWhenDue(pass, key, record, task);
      return fail(pass, key, record, "a reload changed the kind of the task while it waited");
    case "expanded":
      return fail(pass, key, record, "the recorded list of its items is missing");
    default:
      return record;
  }
}

/** The same for all instances of a task, so it is asked once per pass. */
function verdictOf({ verdicts, effective }: PassContext, { id, triggerRule, dependsOn }: DagTaskConfig): Verdict {
  const known = verdicts.get(id);
  if (known !== undefined) return known;
  const upstream: string[] = [];
  for (const before of dependsOn) {
    const state = effective.get(before);
    if (state !== undefined) upstream.push(state);
  }
  const verdict = triggerVerdict(triggerRule, upstream);
  verdicts.set(id, verdict);
  return verdict;
}

/**
 * Takes a mapped task whose items are not known as far as it can go (6.4). It waits for nothing but its source (D-MAP-11), yet ends like
 * any other when its trigger rule says so.
 */
export function advanceUnexpanded(
  pass: PassContext,
  recorded: TaskRecord,
  task: DagTaskConfig,
  { fromTask, key }: NonNullable<DagTaskConfig["expand"]>,
): TaskRecord {
  const { id } = task;
  const end = (state: "upstream_failed" | "skipped") => pass.draft.put(id, ended(record, state, null, pass.now));
  const record = settled(pass, id, recorded, task);
  if (record.state === "up_for_retry" || (record.state === "running" && record.proc === null && !isGate(record)))
    return fail(pass, id, record, "a reload made a mapped task of it after it had started");
  if (record.state === "expanded") return fail(pass, id, record, "the recorded list of its items is missing");
  if (record.state !== "pending") return record;
  const source = pass.effective.get(fromTask);
  if (source === undefined)
    return fail(pass, id, record, `its list is to come from '${fromTask}', which is no task of this run`);
  if (isFailure(source)) return end("upstream_failed"); // there can be no list, so the rule is not asked (D-TRG-4)
  if (source === "skipped") return end("skipped");
  const said = verdictOf(pass, task);
  if (said === "upstream_failed" || said === "skipped") return end(said);
  if (source === "success") {
    pass.found.awaitedLists.push({ taskId: id, fromTask, key });
    pass.wake(pass.now + OUTSIDE_WAIT_SECONDS);
  }
  return record;
}

/** The record once it is clear who is at work on it. A gate that waits has no owner: any node may decide it (D-APR-6). */
function settled(pass: PassContext, key: TaskKey, record: TaskRecord, task: DagTaskConfig): TaskRecord {
  if (record.state !== "running") return record;
  if (isGate(record)) {
    waitForDecision(pass, key, record);
    return record;
  }
  return record.proc === null ? record : settleOwner(pass, key, record, task);
}

function isGate({ awaitingApproval }: TaskRecord): boolean {
  return awaitingApproval === true;
}

/** Claims what may run, as far as pool and quota let it (D-POL-9, D-CLM-11). A gate is parked instead and takes nothing of either. */
function claim(pass: PassContext, key: TaskKey, record: TaskRecord, task: DagTaskConfig): TaskRecord {
  const { facts, found, now } = pass;
  if (task.type === "approval") {
    waitForDecision(pass, key, record);
    return pass.draft.put(key, parked(record, now));
  }
  const running = record.state === "running" ? pokedAgain(record, facts, now) : claimed(record, task, facts, now);
  const made = claimOf(key, running);
  const isPooled = (task.job?.launch.pool ?? null) !== null;
  if (isPooled && !facts.admitted.has(claimKey(made))) {
    found.awaitingAdmission.push(made);
    pass.wake(now + OUTSIDE_WAIT_SECONDS);
    return record;
  }
  if (found.claims.length >= facts.claimsLeft) {
    found.deferred = true;
    pass.wake(now);
    return record;
  }
  found.claims.push(made);
  return pass.draft.put(key, running);
}

function waitForDecision(pass: PassContext, key: TaskKey, { approvalNotifiedAt }: TaskRecord): void {
  if (approvalNotifiedAt === undefined) pass.found.gatesToTell.push(key);
  pass.wake(pass.now + OUTSIDE_WAIT_SECONDS);
}

/** An idle sensor: poked when it is due, unless its time is over by then (D-SEN-3). */
function pokeWhenDue(pass: PassContext, key: TaskKey, record: TaskRecord, task: DagTaskConfig): TaskRecord {
  const { now } = pass;
  const dueAt = record.nextPokeAt ?? now;
  if (dueAt > now) {
    pass.wake(dueAt);
    return record;
  }
  const since = record.firstPokeAt ?? record.startedAt ?? now;
  if (now - since < task.pokeTimeoutSeconds) return claim(pass, key, record, task);
  pass.found.timedOutSensors.push(key);
  return fail(pass, key, record, SENSOR_TIMED_OUT);
}

function fail(pass: PassContext, key: TaskKey, record: TaskRecord, reason: string): TaskRecord {
  return pass.draft.put(key, ended(record, "failed", reason, pass.now));
}
