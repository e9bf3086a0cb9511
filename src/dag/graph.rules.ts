import type { DagConfig, DagTaskConfig } from "../config/model.ts";

/** The tasks of a DAG as a graph. Whatever their order in the file, upstream comes first here (D-TRG-5). */
export interface DagGraph {
  readonly byId: ReadonlyMap<string, DagTaskConfig>;
  readonly order: readonly DagTaskConfig[];
  /** Direct downstream ids. */
  readonly below: ReadonlyMap<string, readonly string[]>;
}

const graphs = new WeakMap<DagConfig, DagGraph>();

/** Made once per configuration. */
export function graphOf(dag: DagConfig): DagGraph {
  const known = graphs.get(dag);
  if (known !== undefined) return known;
  const graph = orderedGraph(dag.tasks);
  graphs.set(dag, graph);
  return graph;
}

function orderedGraph(tasks: readonly DagTaskConfig[]): DagGraph {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const below = new Map<string, string[]>(tasks.map(({ id }) => [id, []]));
  for (const { id, dependsOn } of tasks) for (const upstream of dependsOn) below.get(upstream)?.push(id);
  const waitsFor = new Map(tasks.map(({ id, dependsOn }) => [id, dependsOn.length]));
  const order = tasks.filter(({ dependsOn }) => dependsOn.length === 0);
  // The list grows while it is walked: whoever has its last upstream placed comes next.
  for (const { id } of order) {
    for (const next of below.get(id) ?? []) {
      const left = (waitsFor.get(next) ?? 0) - 1;
      waitsFor.set(next, left);
      const task = byId.get(next);
      if (left === 0 && task !== undefined) order.push(task);
    }
  }
  return { byId, order, below };
}

/** The tasks, and all that depend on them, directly or not. */
export function withDownstream(graph: DagGraph, ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  for (const id of found) for (const next of graph.below.get(id) ?? []) found.add(next); // a set grows while it is walked
  return found;
}
