import fc from "fast-check";
import { expect, test } from "vitest";
import { dagHints } from "../../../src/commands/dag/hints.rules.ts";
import { dagOf, type WrittenTask } from "./one-dag.ts";

test("what has no effect is hinted at, task by task", () => {
  const hints = dagHints(
    dagOf("d", [
      { id: "a", triggerRule: "all_done" },
      { id: "b", dependsOn: ["a"], type: "sensor", retries: 1 },
      { id: "c", dependsOn: ["a", "b"] },
      { id: "g", dependsOn: ["c"], type: "approval", retries: 1 },
      { id: "alone" },
    ]),
  );
  expect(hints).toEqual([
    "task 'a': triggerRule all_done has no effect without dependsOn",
    "task 'b': retries have no effect on a sensor",
    "task 'c': dependsOn 'a' says nothing new: 'b' waits for it already",
    "task 'g': retries have no effect on an approval gate",
    "task 'alone': nothing leads to it or from it; it runs on its own",
  ]);
});

test("a DAG of one task, and the edge a fan-out reads its list over, are as they should be", () => {
  expect(dagHints(dagOf("d", [{ id: "only" }]))).toEqual([]);
  const list = { fromTask: "list", key: "k" };
  const dag = dagOf("d", [
    { id: "list" },
    { id: "ready", dependsOn: ["list"] },
    { id: "each", dependsOn: ["list", "ready"], expand: list },
  ]);
  expect(dagHints(dag)).toEqual([]);
});

type Rule = "all_success" | "all_done";
interface Task extends WrittenTask {
  readonly dependsOn: readonly string[];
  readonly triggerRule: Rule;
}

/** Two to five tasks of either rule, each waiting for some of those before it. */
const graph: fc.Arbitrary<Task[]> = fc.integer({ min: 2, max: 5 }).chain((count) => {
  const ids = Array.from({ length: count }, (_, at) => `t${at}`);
  const rule = fc.constantFrom<Rule>("all_success", "all_done");
  return fc
    .tuple(
      ...ids.map((id, at) =>
        fc.record({ id: fc.constant(id), dependsOn: fc.subarray(ids.slice(0, at)), triggerRule: rule }),
      ),
    )
    .map((tasks): Task[] => tasks);
});

/** What becomes of each task, and in what order, when those in `failing` fail if they run (section 4). */
function courseOf(tasks: readonly Task[], failing: number): string {
  const states = new Map<string, string>();
  const above = new Map<string, Set<string>>();
  tasks.forEach(({ id, dependsOn, triggerRule }, at) => {
    const blocked = triggerRule === "all_success" && dependsOn.some((upstream) => states.get(upstream) !== "success");
    states.set(id, blocked ? "upstream_failed" : (failing >> at) % 2 === 1 ? "failed" : "success");
    above.set(id, new Set(dependsOn.flatMap((upstream) => [upstream, ...(above.get(upstream) ?? [])])));
  });
  return JSON.stringify([[...states], [...above].map(([id, all]) => [id, [...all].sort()])]);
}

test("an edge is called superfluous exactly when no run goes another way without it", () => {
  fc.assert(
    fc.property(graph, (tasks) => {
      const superfluous = tasks.flatMap(({ id, dependsOn }, at) =>
        dependsOn.flatMap((upstream) => {
          const without = tasks.with(at, {
            ...(tasks[at] as Task),
            dependsOn: dependsOn.filter((other) => other !== upstream),
          });
          const same = Array.from({ length: 2 ** tasks.length }, (_, failing) => failing).every(
            (failing) => courseOf(tasks, failing) === courseOf(without, failing),
          );
          return same ? [`${id} <- ${upstream}`] : [];
        }),
      );
      const hinted = dagHints(dagOf("d", tasks)).flatMap((hint) => {
        const match = /^task '(\w+)': dependsOn '(\w+)' says nothing new/.exec(hint);
        return match === null ? [] : [`${match[1]} <- ${match[2]}`];
      });
      expect(hinted.toSorted()).toEqual(superfluous.toSorted());
    }),
    { numRuns: 150 },
  );
});
