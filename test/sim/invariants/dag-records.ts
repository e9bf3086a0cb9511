import { isTerminal, type RunDocument } from "../../../src/dag/run-document.ts";
import { ITEMS } from "../world/drawn-tasks.ts";
import type { Fact, SimProcess } from "../world/facts.ts";
import type { Invariant } from "./invariant.ts";

/**
 * What a run has once said stays said, whoever writes it (D-STM-1, D-STM-2, D-MAP-5, D-APR-3, D-INT-8): ends, decisions, items, attempts;
 * and a success is one that some process had.
 */
export function dagRecords(): Invariant {
  const last = new Map<string, RunDocument>();
  const successes = new Set<string>();
  const started = new Set<string>();
  const keyOf = ({ task }: SimProcess): string | null =>
    task === null ? null : `${task.dag} ${task.runKey} ${task.taskKey}`;

  return {
    promise: "what a run has said stays: ends, decisions, expansions, attempts (D-STM-1, D-STM-2, D-MAP-5, D-APR-3)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "process started": {
          const key = keyOf(fact.process);
          if (key !== null) started.add(key);
          return null;
        }
        case "process ended": {
          const key = keyOf(fact.process);
          if (key !== null && fact.how === "by itself" && fact.process.exitCode === 0) successes.add(key);
          return null;
        }
        case "run written": {
          const name = `${fact.dag} ${fact.runKey}`;
          const { run } = fact;
          const before = last.get(name);
          if (run === null) {
            last.delete(name);
            return null;
          }
          last.set(name, run);
          return changedBack(name, before?.runId === run.runId ? before : null, run) ?? pretends(name, before, run);
        }
        default:
          return null;
      }
    },
  };

  function pretends(name: string, before: RunDocument | undefined, run: RunDocument): string | null {
    for (const [key, task] of run.tasks) {
      if (task.state !== "success" || before?.tasks.get(key)?.state === "success") continue;
      if (task.approval?.decision === "approved") continue;
      const instance = `${name} ${key}`;
      if (!successes.has(instance)) return `${instance} tells of a success that no process had`;
    }
    return null;
  }
}

function changedBack(name: string, before: RunDocument | null, run: RunDocument): string | null {
  if (before === null) return null;
  if (before.state !== "running" && run.state !== before.state)
    return `${name} was ${before.state} and became ${run.state}`;
  if (run.state !== "running" && before.state === "running") {
    const failed = [...run.tasks.values()].some(({ state }) => state === "failed" || state === "upstream_failed");
    if (run.state === "success" && failed) return `${name} is a success in which a task failed`;
  }
  for (const [key, task] of before.tasks) {
    const now = run.tasks.get(key);
    if (now === undefined) return `${name}: the record of ${key} is gone`;
    if (isTerminal(task.state) && now.state !== task.state)
      return `${name}: ${key} was ${task.state}, now ${now.state}`;
    if (now.attempt < task.attempt) return `${name}: ${key} had ${task.attempt} attempts, now ${now.attempt}`;
    if (task.approval != null && JSON.stringify(now.approval) !== JSON.stringify(task.approval))
      return `${name}: the decision of ${key} has changed`;
    if (
      task.awaitingApproval === true &&
      now.awaitingApproval !== true &&
      now.approval == null &&
      now.state !== "failed"
    )
      return `${name}: ${key} waits no longer, and nobody decided`;
  }
  for (const [id, { items }] of before.mapped) {
    const now = run.mapped.get(id);
    if (JSON.stringify(now?.items) !== JSON.stringify(items)) return `${name}: the items of ${id} have changed`;
  }
  for (const [id, { items }] of run.mapped)
    if (items.length !== 0 && items.length !== ITEMS) return `${name}: ${id} was expanded over ${items.length} items`;
  return null;
}
