/**
 * One pass over one run: everything that may happen to it now, as a function of its document, its configuration and what this node knows
 * (6.3, 6.4). Numbered rules, cited where they are kept:
 *   P1. Pure and repeatable: a pass over its own result changes nothing, once what it claimed counts as handed out.
 *   P2. What need not change is not written: the answer is then the very document that came in (6.3c).
 *   P3. A fact that is missing is asked for, never assumed: a foreign process nobody looked at is left alone, an instance of a pool
 *       that was not let in waits.
 *   P4. Upstream first, so one pass reaches everything (D-TRG-5), in time linear in tasks, edges and instances.
 *   P5. Terminal records never change (D-STM-1), and the verdict is given when all of them are (D-STM-2).
 */
import type { DagConfig, DagTaskConfig } from "../config/model.ts";
import { compareCodePoints, type JsonValue } from "../store/json.ts";
import { advanceInstance, advanceUnexpanded } from "./advance.rules.ts";
import { type DagGraph, graphOf } from "./graph.rules.ts";
import { ended } from "./instance.rules.ts";
import { settleOwner } from "./owner.rules.ts";
import { beginPass, type Pass, type PassContext, type PassFacts } from "./pass.ts";
import { preparationOf } from "./recovery-note.ts";
import {
  type EpochSeconds,
  type FanOut,
  freshInstance,
  instanceKey,
  isFailure,
  isTerminal,
  type RunDocument,
  type TaskKey,
  type TaskRecord,
} from "./run-document.ts";
import { groupState } from "./trigger.rules.ts";

/** The pass over `document` at `now`, as the owner of its run may make it. What it leads to holds only once it is written. */
export function plan(document: RunDocument, dag: DagConfig, facts: PassFacts, now: EpochSeconds): Pass {
  const pass = beginPass(document, facts, now);
  if (document.state !== "running") return finished(pass, document.state, false, failedIn(document));
  if (preparationOf(document) === "ready") {
    const graph = graphOf(dag);
    const { allTerminal, failed } = walk(pass, graph);
    settleRemoved(pass, graph, document);
    if (allTerminal) return finished(pass, failed.length > 0 ? "failed" : "success", true, failed);
  }
  return { ...pass.found, document: pass.draft.finish(now), over: null, nextWakeAt: pass.nextWakeAt() };
}

function finished(
  pass: PassContext,
  state: "success" | "failed",
  byThisPass: boolean,
  failed: readonly TaskKey[],
): Pass {
  const document = pass.draft.finish(pass.now, state);
  const failedTasks = failed.toSorted(compareCodePoints);
  return { ...pass.found, document, over: { state, byThisPass, failedTasks }, nextWakeAt: null };
}

function failedIn({ tasks }: RunDocument): readonly TaskKey[] {
  return [...tasks].filter(([, { state }]) => isFailure(state)).map(([key]) => key);
}

/** How the instances that are part of a run stand after a pass (P5). */
interface Tally {
  allTerminal: boolean;
  readonly failed: TaskKey[];
}

/** Every task that is part of the run, upstream first (P4). A task added by a reload has no entry. */
function walk(pass: PassContext, graph: DagGraph): Tally {
  const tally: Tally = { allTerminal: true, failed: [] };
  for (const task of graph.order) {
    const { id, expand } = task;
    const record = pass.draft.tasks.get(id);
    if (record === undefined) continue;
    const fanOut = pass.draft.mapped.get(id);
    if (fanOut !== undefined) {
      pass.effective.set(id, walkInstances(pass, task, fanOut, tally));
      continue;
    }
    const { state } =
      expand === null ? advanceInstance(pass, id, record, task) : advanceUnexpanded(pass, record, task, expand);
    pass.effective.set(id, counted(tally, id, state));
  }
  return tally;
}

function counted(tally: Tally, key: TaskKey, state: string): string {
  if (!isTerminal(state)) tally.allTerminal = false;
  else if (isFailure(state)) tally.failed.push(key);
  return state;
}

/** Instances as they are recorded, whatever the configuration says of mapping by now (13.3). */
function walkInstances(pass: PassContext, task: DagTaskConfig, { items }: FanOut, tally: Tally): string {
  const states = items.map((item, index) => {
    const key = instanceKey(task.id, index);
    const record = pass.draft.tasks.get(key) ?? lostRecord(pass, task, key, index, item);
    return counted(tally, key, advanceInstance(pass, key, record, task).state);
  });
  return groupState(states);
}

/** Without a record the run could never end. */
function lostRecord(pass: PassContext, task: DagTaskConfig, key: TaskKey, index: number, item: JsonValue): TaskRecord {
  const fresh = freshInstance(task, index, item, pass.now);
  return pass.draft.put(key, ended(fresh, "failed", "its record is missing", pass.now));
}

/** Entries of tasks that a reload took away count for nothing (13.3), yet what a dead owner left running is ended (D-CRS-5). */
function settleRemoved(pass: PassContext, graph: DagGraph, { tasks }: RunDocument): void {
  for (const [key, record] of tasks)
    if (record.state === "running" && record.proc !== null && !graph.byId.has(record.id))
      settleOwner(pass, key, record, null);
}
