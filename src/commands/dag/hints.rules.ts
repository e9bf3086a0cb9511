import type { DagConfig, DagTaskConfig } from "../../config/model.ts";
import { type DagGraph, graphOf } from "../../dag/graph.rules.ts";
import { quoted } from "../../schedule/schedule-error.ts";

/** What is allowed in a DAG and has no effect, or probably another one than was meant. In the order of the file. */
export function dagHints(dag: DagConfig): string[] {
  const graph = graphOf(dag);
  return dag.tasks.flatMap((task) => {
    const hints = [...impliedEdges(task, graph)].map(
      ([upstream, through]) =>
        `dependsOn ${quoted(upstream)} says nothing new: ${quoted(through)} waits for it already`,
    );
    const hasEdges = task.dependsOn.length > 0 || (graph.below.get(task.id) ?? []).length > 0;
    if (!hasEdges && dag.tasks.length > 1) hints.push("nothing leads to it or from it; it runs on its own");
    if (task.triggerRule === "all_done" && task.dependsOn.length === 0)
      hints.push("triggerRule all_done has no effect without dependsOn");
    if (task.type !== "task" && task.retries > 0)
      hints.push(`retries have no effect on ${task.type === "sensor" ? "a sensor" : "an approval gate"}`);
    return hints.map((hint) => `task ${quoted(task.id)}: ${hint}`);
  });
}

/**
 * Edges that could be left out without any run going another way: each upstream with the other one through which it is waited for anyway.
 * The edge that a fan-out reads its list over has to be there.
 */
function impliedEdges(task: DagTaskConfig, graph: DagGraph): ReadonlyMap<string, string> {
  const implied = new Map<string, string>();
  if (task.dependsOn.length < 2) return implied;
  for (const through of task.dependsOn) {
    const above = aboveOf(through, task.triggerRule, graph);
    for (const upstream of task.dependsOn)
      if (above.has(upstream) && upstream !== task.expand?.fromTask) implied.set(upstream, through);
  }
  return implied;
}

/** What stands above a task. For `all_success` only what cannot fail or be skipped without the task being so too. */
function aboveOf(id: string, rule: DagTaskConfig["triggerRule"], { byId }: DagGraph): ReadonlySet<string> {
  const next = (of: string): readonly string[] => {
    const task = byId.get(of);
    if (task === undefined) return [];
    if (rule === "all_done" || task.triggerRule === "all_success") return task.dependsOn;
    return task.expand === null ? [] : [task.expand.fromTask]; // without its list it cannot run, whatever its rule (D-TRG-4)
  };
  const found = new Set(next(id));
  for (const further of found) for (const above of next(further)) found.add(above); // a set grows while it is walked
  return found;
}
