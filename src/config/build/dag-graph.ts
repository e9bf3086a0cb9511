/** What makes tasks a graph that can be run: their ids, edges and mappings (config 7.4). Pure. */
import { quoted } from "../../schedule/schedule-error.ts";
import type { WrittenTask } from "../options/dag.ts";
import type { Step } from "../problem.ts";

export interface GraphProblem {
  /** Within the list of tasks. */
  readonly path: readonly Step[];
  readonly problem: string;
}

type Task = Pick<WrittenTask, "id" | "type" | "dependsOn" | "expand">;

/** All that is wrong, ids first; a cycle is looked for only among edges that lead somewhere. */
export function graphProblems(tasks: readonly Task[]): GraphProblem[] {
  if (tasks.length === 0) return [{ path: [], problem: "needs at least one task" }];
  const ids = idProblems(tasks);
  if (ids.length > 0) return ids;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const edges = tasks.flatMap((task, index) => edgeProblems(task, index, byId));
  const placed = edges.length > 0 ? null : unplaced(tasks);
  if (placed === null || placed.length === 0) return edges;
  return [{ path: [], problem: `the dependency graph has a cycle involving: ${placed.join(", ")}` }];
}

function idProblems(tasks: readonly Task[]): GraphProblem[] {
  const seen = new Set<string>();
  return tasks.flatMap(({ id }, index) => {
    const problem = idProblem(id, seen);
    seen.add(id);
    return problem === null ? [] : [{ path: [index, "id"], problem }];
  });
}

/** `#` and `/` separate the parts of keys and names made from an id; control characters would forge log lines. */
function idProblem(id: string, seen: ReadonlySet<string>): string | null {
  if (id === "") return "a task id must be non-empty";
  if (/[#/]/.test(id)) return `task id ${quoted(id)} may not contain '#' or '/'`;
  if ([...id].some((character) => character < " " || character === "\u007f"))
    return `task id ${quoted(id)} may not contain control characters`;
  return seen.has(id) ? `duplicate task id ${quoted(id)}` : null;
}

function edgeProblems(
  { id, type, dependsOn, expand }: Task,
  index: number,
  byId: ReadonlyMap<string, Task>,
): GraphProblem[] {
  const problems: GraphProblem[] = [];
  const task = `task ${quoted(id)}`;
  for (const [edge, upstream] of dependsOn.entries()) {
    const path = [index, "dependsOn", edge];
    if (upstream === id) problems.push({ path, problem: `${task} dependsOn itself` });
    else if (!byId.has(upstream))
      problems.push({ path, problem: `${task} dependsOn unknown task ${quoted(upstream)}` });
  }
  if (expand === undefined) return problems;
  const source = byId.get(expand.fromTask);
  const refuse = (problem: string): void => {
    problems.push({ path: [index, "expand"], problem: `${task}: ${problem}` });
  };
  const from = `expand.fromTask ${quoted(expand.fromTask)}`;
  if (type !== "task") refuse(`only a plain task can be mapped with expand, not a ${type}`);
  else if (source === undefined) refuse(`${from} is not a task`);
  else if (!dependsOn.includes(expand.fromTask)) refuse(`${from} must be a direct dependsOn`);
  else if (source.expand !== undefined) refuse(`${from} is itself mapped; chaining mapped tasks is not supported`);
  return problems;
}

/** Tasks that no order can place, sorted: those on a cycle and those below one. */
function unplaced(tasks: readonly Task[]): string[] {
  const waiting = new Map(tasks.map(({ id, dependsOn }) => [id, new Set(dependsOn)]));
  const below = new Map<string, string[]>();
  for (const { id, dependsOn } of tasks) {
    for (const upstream of new Set(dependsOn)) below.set(upstream, [...(below.get(upstream) ?? []), id]);
  }
  const ready = tasks.filter(({ dependsOn }) => dependsOn.length === 0).map(({ id }) => id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    waiting.delete(id);
    for (const next of below.get(id) ?? []) {
      const left = waiting.get(next);
      left?.delete(id);
      if (left?.size === 0) ready.push(next);
    }
  }
  return [...waiting.keys()].sort();
}
