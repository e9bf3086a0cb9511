/*
 * What must become of a run, told straight from the tables of the specification: by recursion over the graph, without passes, claims or
 * time. It knows what will happen (the world) and which attempts a crash took; it shares no line with the planner.
 */

/** What a task will do. Attempts by number, from 0; what is beyond the list fails. */
export type Fate =
  | { readonly kind: "plain"; readonly exits: readonly number[]; readonly retries: number }
  | { readonly kind: "sensor"; readonly meets: boolean }
  | { readonly kind: "gate"; readonly approve: boolean; readonly onReject: "fail" | "skip" }
  | {
      readonly kind: "mapped";
      readonly from: string;
      readonly count: number;
      readonly exits: readonly (readonly number[])[];
      readonly retries: number;
    };

export interface ModelTask {
  readonly id: string;
  readonly dependsOn: readonly string[];
  readonly rule: "all_success" | "all_done";
  readonly fate: Fate;
}

/** What each task is to its downstream, the states of all instances, and the verdict. @param crashed `<taskkey>/<attempt>` of every attempt a crash took */
export function foretold(tasks: readonly ModelTask[], crashed: ReadonlySet<string>) {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const instances = new Map<string, string>();
  const groups = new Map<string, string>();
  const bad = (state: string) => state === "failed" || state === "upstream_failed";

  const attempts = (key: string, exits: readonly number[], retries: number): string =>
    Array.from({ length: retries + 1 }, (_, attempt) => attempt).some(
      (attempt) => exits[attempt] === 0 && !crashed.has(`${key}/${attempt}`),
    )
      ? "success"
      : "failed";

  /** Null: it runs. */
  const without = ({ dependsOn, rule, fate }: ModelTask): string | null => {
    const upstream = dependsOn.map(of);
    if (fate.kind === "mapped" && bad(of(fate.from))) return "upstream_failed"; // D-TRG-4
    if (fate.kind === "mapped" && of(fate.from) === "skipped") return "skipped";
    if (rule === "all_done") return null;
    if (upstream.some(bad)) return "upstream_failed";
    return upstream.includes("skipped") ? "skipped" : null;
  };

  const settle = (task: ModelTask): string => {
    const { id, fate } = task;
    const unrun = without(task);
    if (fate.kind === "mapped" && fate.count <= 1000 && !bad(of(fate.from)) && of(fate.from) !== "skipped") {
      const states = fate.exits.map((exits, index) => unrun ?? attempts(`${id}#${index}`, exits, fate.retries));
      for (const [index, state] of states.entries()) instances.set(`${id}#${index}`, state);
      if (states.some(bad)) return "upstream_failed"; // 8.3
      return states.includes("skipped") ? "skipped" : "success";
    }
    const own = (): string => {
      if (fate.kind === "plain") return attempts(id, fate.exits, fate.retries);
      if (fate.kind === "sensor") return fate.meets ? "success" : "failed";
      if (fate.kind === "mapped") return "failed"; // more than 1000 items
      return fate.approve ? "success" : fate.onReject === "skip" ? "skipped" : "failed";
    };
    const state = unrun ?? own();
    instances.set(id, state);
    return state;
  };

  const of = (id: string): string => {
    const task = byId.get(id);
    if (task === undefined) throw new Error(id);
    const known = groups.get(id) ?? settle(task);
    groups.set(id, known);
    return known;
  };

  for (const { id } of tasks) of(id);
  return { groups, instances, verdict: [...instances.values()].some(bad) ? "failed" : "success" };
}
