import type { DagConfig } from "../config/model.ts";
import { compareCodePoints } from "../store/json.ts";
import { graphOf, withDownstream } from "./graph.rules.ts";
import { instanceKey, isFailure, isTerminal, type RunDocument, type TaskKey } from "./run-document.ts";

/** What is to run again, as it was asked for. */
export interface RecoveryRequest {
  readonly mode: string;
  /** Task keys, for mode `from`. */
  readonly tasks: readonly TaskKey[];
}

/** Sorted, each of them. */
export interface Selection {
  /** Instances that run again; of a mapped task that is made anew, its own key. */
  readonly tasks: readonly TaskKey[];
  readonly preserved: readonly TaskKey[];
  /** Mapped tasks whose source runs again: their items are to come from its new list. */
  readonly resetMappings: readonly string[];
}

export type Selected =
  | { readonly kind: "selection"; readonly selection: Selection }
  | { readonly kind: "refused"; readonly because: string };

/**
 * The instances a recovery runs again: what has failed or what is named, and everything downstream of it (15). What is not among them keeps
 * its result.
 */
export function select(source: RunDocument, dag: DagConfig, { mode, tasks }: RecoveryRequest): Selected {
  if (mode !== "failed" && mode !== "from") return refused("mode must be 'failed' or 'from'");
  if (mode === "failed" && tasks.length > 0) return refused("tasks is only valid for mode 'from'");
  const groups = groupsOf(source, dag);
  const chosen = mode === "failed" ? failedOf(source, groups) : namedIn(groups, tasks);
  if (chosen === null || (mode === "from" && chosen.size === 0))
    return refused("select at least one existing task instance");
  if (chosen.size === 0) return refused("no tasks to recover");
  return { kind: "selection", selection: withWhatFollows(source, dag, groups, chosen) };
}

function refused(because: string): Selected {
  return { kind: "refused", because };
}

/** By task: the keys of what can be run of it. A mapped task stands for itself while its items are not known, and is nothing without any. */
type Groups = ReadonlyMap<string, readonly TaskKey[]>;

function groupsOf({ mapped }: RunDocument, dag: DagConfig): Groups {
  return new Map(
    dag.tasks.map(({ id }) => [id, mapped.get(id)?.items.map((_, index) => instanceKey(id, index)) ?? [id]]),
  );
}

function failedOf({ tasks }: RunDocument, groups: Groups): ReadonlySet<TaskKey> {
  return new Set([...groups.values()].flat().filter((key) => isFailure(tasks.get(key)?.state ?? "pending")));
}

/** Null when one of them is nothing that could run again. The key of a mapped task means all its instances. */
function namedIn(groups: Groups, names: readonly TaskKey[]): ReadonlySet<TaskKey> | null {
  const all = new Set([...groups.values()].flat());
  const chosen = new Set<TaskKey>();
  for (const name of names) {
    const keys = all.has(name) ? [name] : (groups.get(name) ?? []);
    if (keys.length === 0) return null;
    for (const key of keys) chosen.add(key);
  }
  return chosen;
}

function withWhatFollows(source: RunDocument, dag: DagConfig, groups: Groups, chosen: ReadonlySet<TaskKey>): Selection {
  const graph = graphOf(dag);
  const begun = dag.tasks.filter(({ id }) => groups.get(id)?.some((key) => chosen.has(key)));
  const again = withDownstream(
    graph,
    begun.map(({ id }) => id),
  );
  const below = withDownstream(
    graph,
    begun.flatMap(({ id }) => graph.below.get(id) ?? []),
  );
  const resetMappings = dag.tasks.flatMap(({ id, expand }) =>
    expand !== null && again.has(expand.fromTask) && source.mapped.has(id) ? [id] : [],
  );
  const reset = new Set(resetMappings);
  /** What never ended has no result to keep: its task was not part of the run when that ended. */
  const isAgain = (id: string, key: TaskKey): boolean =>
    chosen.has(key) || below.has(id) || !isTerminal(source.tasks.get(key)?.state ?? "pending");
  const tasks: TaskKey[] = [];
  const preserved: TaskKey[] = [];
  for (const [id, keys] of groups) {
    if (reset.has(id)) tasks.push(id);
    else if (keys.length === 0) preserved.push(id);
    else for (const key of keys) (isAgain(id, key) ? tasks : preserved).push(key);
  }
  const sorted = (keys: readonly string[]) => keys.toSorted(compareCodePoints);
  return { tasks: sorted(tasks), preserved: sorted(preserved), resetMappings: sorted(resetMappings) };
}
