import type { DagConfig, DagTaskConfig } from "../config/model.ts";
import type { LimitsRecord, ResourceUsage } from "../contract/run.ts";
import { limitsBody, resourcesBody } from "../journal/ledger/run-record.ts";
import { portableText } from "../journal/record-codec.ts";
import { type Claim, isInClaim } from "./claim.rules.ts";
import { graphOf } from "./graph.rules.ts";
import { type AttemptEnd, ended, failedAttempt, idle, LAUNCH_FAILED, succeeded } from "./instance.rules.ts";
import type { EpochSeconds, RunDocument, TaskRecord } from "./run-document.ts";
import { draftOf } from "./run-draft.ts";

/** How a claim ended. */
export type ClaimEnd =
  | {
      readonly kind: "exited";
      readonly exitCode: number;
      /** Null: success (D-STM-6). Of a poke the exit code alone counts (D-SEN-5). */
      readonly failReason: string | null;
      readonly resources: ResourceUsage | null;
      readonly limits: LimitsRecord | null;
    }
  /** Nothing could be started at all (D-STM-6). */
  | { readonly kind: "launch failed" };

/** The end of a claim, to be written into its run until it is there or the claim is no longer the one in force (D-CLM-10). */
export interface Completion {
  readonly claim: Claim;
  /** Token of the process that made the claim. */
  readonly proc: string;
  readonly at: EpochSeconds;
  readonly end: ClaimEnd;
  /** Drawn once, from 0 up to 1: how much of `pokeJitterSeconds` comes on top of the next wait (D-SEN-2). */
  readonly jitter: number;
}

/** What a completion made of its instance. "not met": a sensor will be poked again. */
export type Became = "success" | "failed" | "retry" | "not met";

export interface Applied {
  readonly document: RunDocument;
  /** In order of the completions; null for one that no longer counts (D-CLM-9). */
  readonly became: readonly (Became | null)[];
}

/** Takes the ends of claims into the run, all at once (D-CLM-10). A run that is over, a task that is gone, another claim: dropped. */
export function complete(document: RunDocument, dag: DagConfig, completions: readonly Completion[]): Applied {
  const draft = draftOf(document);
  const latest = completions.reduce((at, completion) => Math.max(at, completion.at), document.updatedAt);
  const became = completions.map((completion): Became | null => {
    const { claim, proc } = completion;
    const record = draft.tasks.get(claim.taskKey);
    const task = graphOf(dag).byId.get(claim.taskId);
    if (document.state !== "running" || record === undefined || task === undefined) return null;
    if (!isInClaim(record, claim, proc)) return null;
    const [next, what] =
      claim.poke === null ? afterAttempt(record, task, completion) : afterPoke(record, task, completion);
    draft.put(claim.taskKey, next);
    return what;
  });
  return { document: draft.finish(latest), became };
}

type Step = readonly [TaskRecord, Became];

function afterAttempt(record: TaskRecord, task: DagTaskConfig, { end, at }: Completion): Step {
  const outcome = attemptEnd(end);
  if (outcome.failReason === null) return [succeeded(record, outcome, at), "success"];
  const next = failedAttempt(record, outcome, { retries: task.retries, retryAt: at + task.retryDelaySeconds }, at);
  return [next, next.state === "failed" ? "failed" : "retry"];
}

/** A poke says "met" by its exit code 0; everything else, not even started included, is "not yet" (D-SEN-1, D-SEN-5). */
function afterPoke(record: TaskRecord, task: DagTaskConfig, { end, at, jitter, claim }: Completion): Step {
  if (end.kind === "exited" && end.exitCode === 0) return [succeeded(record, attemptEnd(end), at), "success"];
  const waitSeconds = task.pokeIntervalSeconds + jitter * task.pokeJitterSeconds;
  return [idle(record, (claim.poke ?? 0) + 1, at + waitSeconds, at), "not met"];
}

function attemptEnd(end: ClaimEnd): AttemptEnd {
  if (end.kind === "launch failed") return { exitCode: 127, failReason: LAUNCH_FAILED, resources: null };
  const { exitCode, failReason, resources, limits } = end;
  return {
    exitCode,
    failReason: failReason === null ? null : portableText(failReason),
    resources: resources === null ? null : resourcesBody({ ...resources, series: [] }),
    ...(limits === null ? {} : { limits: limitsBody(limits) }),
  };
}

/**
 * The run after a pool would not let an instance in any more: its queue time is over, or an operator took it out (D-POL-4). That is a failed
 * attempt of a task, and the end of a sensor, which has no retries (D-SEN-7). Nothing changes if it does not wait for that claim any more.
 *
 * @param claim what it waited to be claimed as
 */
export function refuseAdmission(
  document: RunDocument,
  dag: DagConfig,
  claim: Claim,
  reason: string,
  now: EpochSeconds,
): RunDocument {
  const record = document.tasks.get(claim.taskKey);
  const task = graphOf(dag).byId.get(claim.taskId);
  if (document.state !== "running" || record === undefined || task === undefined) return document;
  if (!awaits(record, claim)) return document;
  const draft = draftOf(document);
  const failReason = portableText(reason);
  const attempts = { retries: task.retries, retryAt: now + task.retryDelaySeconds };
  draft.put(
    claim.taskKey,
    claim.poke === null
      ? failedAttempt(record, { exitCode: null, failReason, resources: null }, attempts, now)
      : ended(record, "failed", failReason, now),
  );
  return draft.finish(now);
}

/** Whether a record could still be claimed as this. */
export function awaits(
  { state, proc, attempt, pokeCount, awaitingApproval }: TaskRecord,
  claim: Pick<Claim, "attempt" | "poke">,
): boolean {
  const isWaiting =
    state === "pending" ||
    state === "up_for_retry" ||
    (state === "running" && proc === null && awaitingApproval !== true);
  return isWaiting && attempt === claim.attempt && (claim.poke === null || (pokeCount ?? 0) === claim.poke);
}
