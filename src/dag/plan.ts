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
import { compareCodePoints } from "../store/json.ts";
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
} from "./run-document.ts";
import { groupState, triggerVerdict, type Verdict } from "./trigger.rules.ts";

export function plan(document: RunDocument, dag: DagConfig, facts: PassFacts, now: EpochSeconds): Pass {
  const pass = beginPass(document, facts, now);
  const graph = graphOf(dag);
  if (document.state === "running" && preparationOf(document) === "ready") {
    const states = walk(pass, graph);
    settleRemoved(pass, graph, document);
    const failedTasks = failedAmong(states);
    if (states.every(([, state]) => isTerminal(state)))
      return finished(pass, failedTasks.length > 0 ? "failed" : "success", true, failedTasks);
    return { ...pass.found, document: pass.draft.finish(now), over: null, nextWakeAt: pass.nextWakeAt() };
  }
  if (document.state === "running") return { ...pass.found, document, over: null, nextWakeAt: pass.nextWakeAt() };
  const recorded = [...document.tasks].map(([key, { state }]) => [key, state] as const);
  return finished(pass, document.state, false, failedAmong(recorded));
}

function finished(
  pass: PassContext,
  state: "success" | "failed",
  byThisPass: boolean,
  failedTasks: readonly TaskKey[],
): Pass {
  const document = pass.draft.finish(pass.now, state);
  return { ...pass.found, document, over: { state, byThisPass, failedTasks }, nextWakeAt: null };
}

type States = readonly (readonly [key: TaskKey, state: string])[];

function failedAmong(states: States): readonly TaskKey[] {
  return states.flatMap(([key, state]) => (isFailure(state) ? [key] : [])).sort(compareCodePoints);
}

/** Every task that is part of the run, upstream first (P4); answers how each instance stands. A task added by a reload has no entry. */
function walk(pass: PassContext, graph: DagGraph): States {
  const { draft } = pass;
  const effective = new Map<string, string>();
  const states: (readonly [TaskKey, string])[] = [];
  for (const task of graph.order) {
    const { id, expand } = task;
    const record = draft.tasks.get(id);
    if (record === undefined) continue;
    const verdict = () => triggerVerdict(task.triggerRule, presentOf(task.dependsOn, effective));
    const fanOut = draft.mapped.get(id);
    if (fanOut !== undefined) {
      const group = walkInstances(pass, task, fanOut, verdict);
      states.push(...group);
      effective.set(id, groupState(group.map(([, state]) => state)));
      continue;
    }
    const { state } =
      expand === null
        ? advanceInstance(pass, id, record, task, verdict)
        : advanceUnexpanded(pass, record, task, expand, effective, verdict);
    states.push([id, state]);
    effective.set(id, state);
  }
  return states;
}

/** Instances as they are recorded, whatever the configuration says of mapping by now (13.3). */
function walkInstances(pass: PassContext, task: DagTaskConfig, { items }: FanOut, verdict: () => Verdict): States {
  let said: Verdict | null = null;
  const sameForAll = (): Verdict => {
    said ??= verdict();
    return said;
  };
  return items.map((item, index) => {
    const key = instanceKey(task.id, index);
    const record = pass.draft.tasks.get(key);
    if (record !== undefined) return [key, advanceInstance(pass, key, record, task, sameForAll).state];
    const fresh = freshInstance(task, index, item, pass.now);
    return [key, pass.draft.put(key, ended(fresh, "failed", "its record is missing", pass.now)).state];
  });
}

function presentOf(ids: readonly string[], effective: ReadonlyMap<string, string>): string[] {
  return ids.flatMap((id) => effective.get(id) ?? []);
}

/** Entries of tasks that a reload took away count for nothing (13.3), yet what a dead owner left running is ended (D-CRS-5). */
function settleRemoved(pass: PassContext, graph: DagGraph, { tasks }: RunDocument): void {
  for (const [key, record] of tasks)
    if (record.state === "running" && record.proc !== null && !graph.byId.has(record.id))
      settleOwner(pass, key, record, null);
}
