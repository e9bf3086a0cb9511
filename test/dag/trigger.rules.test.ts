import { describe, expect, test } from "vitest";
import { expanded } from "../../src/dag/expansion.rules.ts";
import { freshRun } from "../../src/dag/run-document.ts";
import { effectiveState, groupState, triggerVerdict } from "../../src/dag/trigger.rules.ts";
import { altered, dagOf, IDENTITY } from "./run-on-paper.ts";

const terminal = ["success", "failed", "upstream_failed", "skipped"];
const unfinished = ["pending", "running", "up_for_retry", "a word of a newer build"];
const all = [...terminal, ...unfinished];
const mixes = [[], ...all.map((a) => [a]), ...all.flatMap((a) => all.flatMap((b) => all.map((c) => [a, b, c])))];

/** The table of section 4, row by row. */
function row(mix: readonly string[]): readonly [allSuccess: string, allDone: string] {
  if (mix.length === 0) return ["run", "run"];
  if (mix.some((state) => unfinished.includes(state))) return ["wait", "wait"];
  if (mix.every((state) => state === "success")) return ["run", "run"];
  if (mix.includes("failed") || mix.includes("upstream_failed")) return ["upstream_failed", "run"];
  return ["skipped", "run"];
}

test("D-TRG-1, D-TRG-2, D-TRG-3: the verdict of every mix of up to three upstream states is the table's", () => {
  for (const mix of mixes)
    expect([triggerVerdict("all_success", mix), triggerVerdict("all_done", mix)], mix.join(" + ")).toEqual(row(mix));
});

describe("8.3: what a mapped task is to its downstream", () => {
  test.each([
    [[], "success"],
    [["success", "success"], "success"],
    [["failed", "running"], "running"],
    [["failed", "up_for_retry"], "running"],
    [["success", "failed"], "upstream_failed"],
    [["skipped", "upstream_failed"], "upstream_failed"],
    [["success", "skipped"], "skipped"],
  ])("%j is %s", (instances, state) => {
    expect(groupState(instances)).toBe(state);
  });

  const dag = dagOf([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
  const fresh = altered(freshRun(dag, IDENTITY, 1), "s", { state: "success" });

  test("unexpanded it is what its own record says", () => {
    expect(effectiveState(fresh, "m")).toBe("pending");
    expect(effectiveState(altered(fresh, "m", { state: "failed" }), "m")).toBe("failed");
  });

  test("a missing record of an instance counts as pending", () => {
    const document = expanded(fresh, dag, new Map([["m", { kind: "items", items: [1, 2] }]]), 2);
    const tasks = new Map(altered(document, "m#0", { state: "success" }).tasks);
    tasks.delete("m#1");
    expect(effectiveState({ ...document, tasks }, "m")).toBe("running");
  });

  test("what has no entry in the run is nothing", () => {
    expect(effectiveState(fresh, "added")).toBeNull();
  });
});
