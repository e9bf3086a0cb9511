/**
 * One pass over one owned run (6.3): what the planner decides, made to happen. Numbered rules, cited where they are kept:
 *   A1. Nothing is decided on a lease that may have lapsed.
 *   A2. Claims are launched only when the store has confirmed the write that made them; of a write nobody knows of, nothing is launched,
 *       and the next pass releases what it claimed (D-CLM-3).
 *   A3. What a pass has claimed is launched before it waits for anything else.
 *   A4. A daemon that stops claims nothing, launches nothing, expands nothing (D-STP-2).
 */
import type { DagConfig } from "../config/model.ts";
import type { Events } from "../contract/events.ts";
import type { Logger } from "../contract/log.ts";
import type { Backend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import type { Processes } from "../journal/inflight/inflight.ts";
import type { Clock } from "../platform/clock.ts";
import type { Admissions, Refusal } from "./admissions.ts";
import { PASS_RETRY_MS } from "./cadence.ts";
import type { Claim } from "./claim.rules.ts";
import { refuseAdmission } from "./completion.rules.ts";
import type { Completions } from "./completions.ts";
import { expanded } from "./expansion.rules.ts";
import type { FanOutList } from "./fan-out-list.rules.ts";
import { markGatesTold } from "./gate.rules.ts";
import { graphOf } from "./graph.rules.ts";
import type { HandOuts } from "./hand-outs.ts";
import { CLAIMS_PER_PASS_MAX } from "./limits.ts";
import type { DagNotices } from "./notices.ts";
import type { Ownership } from "./ownership.ts";
import { type AwaitedList, type ForeignProcess, type Pass, type PassFacts, processKey } from "./pass.ts";
import { type PidStamp, stampPids } from "./pid-stamp.rules.ts";
import type { PidStamps } from "./pid-stamps.ts";
import { plan } from "./plan.ts";
import { alive } from "./processes.ts";
import { preparationOf } from "./recovery-note.ts";
import type { RunDocument, TaskKey } from "./run-document.ts";
import type { RunChange, RunRef, RunStore, StoredRun } from "./run-store.ts";
import type { TaskRuns } from "./task-runs.ts";
import { readXcomList } from "./xcom-list.ts";

export interface PassParts {
  readonly backend: Backend;
  readonly runs: RunStore;
  readonly ownership: Ownership;
  readonly handOuts: HandOuts;
  readonly taskRuns: TaskRuns;
  readonly admissions: Admissions;
  readonly completions: Completions;
  readonly pids: PidStamps;
  readonly notices: DagNotices;
  readonly processes: Processes;
  readonly events: Events;
  readonly host: string;
  readonly proc: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Null for one that is configured no more. */
  readonly dag: (name: string) => DagConfig | null;
  readonly isDraining: () => boolean;
  /** Copies what a recovery reuses, and says in the document how that went (15). @returns whether it is said */
  readonly prepare: (run: RunDocument) => Promise<boolean>;
}

/** What is remembered of an owned run from pass to pass. */
export interface PassMemory {
  /** A write is out of which nobody knows whether it landed: it may have ended the run. */
  uncertain: boolean;
  /** Processes of other daemons on this host, to be looked at before each pass. */
  readonly foreign: Map<string, ForeignProcess>;
  /** What was said last of a pass that could not be made, so that it is said once. */
  said: string | null;
}

/** What follows a pass. */
export type AfterPass =
  | { readonly kind: "again"; readonly afterMs: number }
  /** It is not for this node to look at the run any more. */
  | { readonly kind: "let go" };

const letGo: AfterPass = { kind: "let go" };

export async function advancePass(run: RunRef, memory: PassMemory, parts: PassParts): Promise<AfterPass> {
  const { ownership, admissions, clock } = parts;
  const dag = parts.dag(run.dag);
  if (dag === null) {
    admissions.retireAll(run);
    await ownership.release(run); // its document stays active (13.3)
    return letGo;
  }
  const standing = await ownership.standing(run); // A1
  if (standing === "not ours") return letGo;
  if (standing === "unclear") return { kind: "again", afterMs: PASS_RETRY_MS };

  const first = await decide(run, dag, new Map(), CLAIMS_PER_PASS_MAX, memory, parts);
  switch (first.kind) {
    case "gone":
      admissions.retireAll(run);
      await ownership.release(run);
      return letGo;
    case "cannot":
      return { kind: "again", afterMs: PASS_RETRY_MS };
    case "preparing":
      if (parts.isDraining()) return letGo;
      return { kind: "again", afterMs: (await parts.prepare(first.document)) ? 0 : PASS_RETRY_MS };
    case "passed":
      break;
  }
  launch(run, first.pass, dag, parts); // A3
  let { pass } = first;
  if (pass.awaitedLists.length > 0 && !parts.isDraining()) {
    const lists = await readLists(pass.document, pass.awaitedLists, parts);
    if (lists.size > 0) {
      const second = await decide(run, dag, lists, CLAIMS_PER_PASS_MAX - pass.claims.length, memory, parts);
      if (second.kind !== "passed") return { kind: "again", afterMs: PASS_RETRY_MS };
      launch(run, second.pass, dag, parts);
      pass = second.pass;
    }
  }
  if (pass.over !== null) {
    finish(run, pass, pass.over, memory, parts);
    await ownership.release(run);
    return letGo;
  }
  if (!parts.isDraining()) await tellGates(run, pass.gatesToTell, parts);
  const afterMs = Math.max(0, (pass.nextWakeAt ?? 0) * 1000 - clock.wallNow());
  // What is ready stays ready while a stop waits for running tasks; their ends ask for passes of their own (A4).
  return { kind: "again", afterMs: parts.isDraining() ? Math.max(PASS_RETRY_MS, afterMs) : afterMs };
}

type Decided =
  | {
      readonly kind: "passed";
      readonly pass: Pass;
      readonly refused: readonly Refusal[];
      readonly stamps: readonly PidStamp[];
    }
  | { readonly kind: "preparing"; readonly document: RunDocument }
  | { readonly kind: "gone" }
  | { readonly kind: "cannot" };

/** One read-modify-write of the document (6.3 step 3), the lists that are known by then among it (step 4). */
async function decide(
  run: RunRef,
  dag: DagConfig,
  lists: ReadonlyMap<string, FanOutList>,
  claimsLeft: number,
  memory: PassMemory,
  parts: PassParts,
): Promise<Decided> {
  const { runs, handOuts, clock, log, host, proc } = parts;
  const now = clock.wallNow() / 1000;
  const living = alive(parts.processes, [...memory.foreign.values()]);
  const factsOf = ({ runId }: RunDocument): PassFacts => ({
    host,
    proc,
    handedOut: handOuts.keys(run, runId),
    alive: living,
    admitted: parts.admissions.admitted(run, runId),
    claimsLeft: parts.isDraining() ? 0 : claimsLeft, // A4
  });
  const ends = parts.completions.take(run);
  const decideOn = (stored: StoredRun): RunChange<Decided | { readonly kind: "damaged"; readonly problem: string }> => {
    if (stored.kind === "absent") return { kind: "keep", answer: { kind: "gone" } };
    if (stored.kind === "damaged") return { kind: "keep", answer: stored };
    const document = stored.run;
    if (document.state === "running" && preparationOf(document) === "preparing")
      return { kind: "keep", answer: { kind: "preparing", document } };
    const stamps = parts.pids.of(run, document.runId);
    const { refused, left } = withoutRefused(
      ends.into(stampPids(document, proc, stamps, now), dag),
      dag,
      parts.admissions.refused(run, document.runId, dag),
      now,
    );
    const pass = plan(expanded(left, dag, lists, now), dag, factsOf(document), now);
    const answer = { kind: "passed", pass, refused, stamps } as const;
    return pass.document === document ? { kind: "keep", answer } : { kind: "put", run: pass.document, answer };
  };
  const outcome = await runs.change(run, decideOn).catch((error: unknown) => {
    ends.settle({ kind: "not asked" });
    throw error;
  });
  // A document that waits for something else first, or is damaged, takes no ends with a pass.
  const isAsked = outcome.kind !== "done" || outcome.value.kind === "passed" || outcome.value.kind === "gone";
  ends.settle(isAsked ? outcome : { kind: "not asked" });
  if (outcome.kind !== "done") {
    parts.admissions.putBack(run);
    if (outcome.kind === "unknown") memory.uncertain = true; // A2
    const problem = failureText(outcome);
    if (memory.said !== problem)
      log.warning(
        `dag ${run.dag}: run ${run.runKey} could not be advanced: ${problem}; trying again every ${PASS_RETRY_MS / 1000} s`,
      );
    memory.said = problem;
    return { kind: "cannot" };
  }
  const decided = outcome.value;
  if (decided.kind === "damaged") {
    if (memory.said !== decided.problem)
      log.error(
        `dag ${run.dag}: the document of run ${run.runKey} is damaged and left alone: ${decided.problem}; repair or delete it`,
      );
    memory.said = decided.problem;
    return { kind: "cannot" };
  }
  memory.said = null;
  if (decided.kind === "passed") {
    for (const { claim, reason } of decided.refused)
      log.warning(`dag ${run.dag}: run ${run.runKey}: ${claim.taskKey} was not let in by its pool: ${reason}`);
    const written = decided.stamps.map(({ claim }) => claim);
    if (written.length > 0) parts.pids.remove(run, decided.pass.document.runId, written);
    learn(run, decided.pass, living, memory, parts);
  }
  return decided;
}

/** The run once what its pools ended has failed (D-POL-4). */
function withoutRefused(
  document: RunDocument,
  dag: DagConfig,
  refusals: readonly Refusal[],
  now: number,
): { readonly left: RunDocument; readonly refused: readonly Refusal[] } {
  let left = document;
  const refused = refusals.filter(({ claim, reason }) => {
    const before = left;
    left = refuseAdmission(before, dag, claim, reason, now);
    return left !== before;
  });
  return { left, refused };
}

function learn(
  run: RunRef,
  pass: Pass,
  living: ReadonlyMap<string, boolean>,
  memory: PassMemory,
  { log, taskRuns, dag }: PassParts,
): void {
  for (const [key, lives] of living) if (!lives) memory.foreign.delete(key);
  for (const process of pass.unknownProcesses) memory.foreign.set(processKey(process), process);
  const { reconciled, released, timedOutSensors, document } = pass;
  if (reconciled.length > 0)
    log.info(
      `dag ${run.dag}: run ${run.runKey}: ${reconciled.length} interrupted task(s) reconciled: ${reconciled.join(", ")}`,
    );
  if (released.length > 0)
    log.info(
      `dag ${run.dag}: run ${run.runKey}: ${released.length} claim(s) of which nothing was launched were released: ${released.map(({ taskKey }) => taskKey).join(", ")}`,
    );
  for (const taskKey of timedOutSensors) {
    const task = dag(run.dag)?.tasks.find(({ id }) => id === document.tasks.get(taskKey)?.id);
    if (task !== undefined) taskRuns.sensorTimedOut(run, document.runId, task, taskKey);
  }
}

function launch(run: RunRef, pass: Pass, dag: DagConfig, { taskRuns, admissions }: PassParts): void {
  for (const claim of admissions.passed(run, pass, dag)) {
    const task = taskOf(claim, dag);
    if (task !== undefined) taskRuns.launch(pass.document, task, claim);
  }
}

function taskOf({ taskId }: Claim, dag: DagConfig) {
  return graphOf(dag).byId.get(taskId);
}

async function readLists(
  { dag, runKey, runId }: RunDocument,
  awaited: readonly AwaitedList[],
  parts: PassParts,
): Promise<ReadonlyMap<string, FanOutList>> {
  const lists = new Map<string, FanOutList>();
  for (const list of awaited) {
    const found = await readXcomList(parts, { dag, runKey, runId }, list);
    if (found !== null) lists.set(list.taskId, found);
  }
  return lists;
}

/** D-APR-5: marked before it is told, so that no other pass, here or elsewhere, tells of it too. */
async function tellGates(run: RunRef, gates: readonly TaskKey[], parts: PassParts): Promise<void> {
  const { notices, runs, clock } = parts;
  if (gates.length === 0 || !notices.wants("approval_waiting")) return;
  const marked = await runs.change<{ document: RunDocument; toTell: readonly TaskKey[] } | null>(run, (stored) => {
    if (stored.kind !== "run") return { kind: "keep", answer: null };
    const answer = markGatesTold(stored.run, gates, clock.wallNow() / 1000);
    return answer.document === stored.run ? { kind: "keep", answer } : { kind: "put", run: answer.document, answer };
  });
  if (marked.kind !== "done" || marked.value === null) return;
  for (const taskKey of marked.value.toTell) notices.gateWaits(marked.value.document, taskKey);
}

/** Step 8. A run that was over before is told of only if a write of ours may have ended it. */
function finish(
  run: RunRef,
  { document }: Pass,
  { state, byThisPass, failedTasks }: NonNullable<Pass["over"]>,
  memory: PassMemory,
  { handOuts, notices, events, clock, log }: PassParts,
): void {
  handOuts.forget(run, document.runId); // D-CLM-7
  if (!byThisPass && !memory.uncertain) return;
  const { dag, runKey } = run;
  log.info(`dag ${dag}: run ${runKey} ended: ${state}`);
  events.emit("dag.run.ended", { dag, runKey, state, at: clock.wallNow() });
  if (state === "failed") notices.failed(document, failedTasks);
}
