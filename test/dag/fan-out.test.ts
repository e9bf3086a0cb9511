import { describe, expect, test } from "vitest";
import { exits, items, runOnPaper, START, succeeds, type WrittenTask } from "./run-on-paper.ts";

const src = { id: "src" };
const m = { id: "m", dependsOn: ["src"], expand: { fromTask: "src", key: "ids" } };
const join = { id: "join", dependsOn: ["m"] };

function sourceDone(tasks: readonly WrittenTask[] = [src, m, join]) {
  const run = runOnPaper(tasks);
  run.pass();
  run.end("src", succeeds);
  return run;
}

test("D-MAP-1, D-MAP-2: once the source succeeded its list is asked for, and each item becomes an instance of its own", () => {
  const run = sourceDone();
  expect(run.pass().awaitedLists).toEqual([{ taskId: "m", fromTask: "src", key: "ids" }]);
  run.expand({ m: items("a", { k: 1 }, null) });
  expect(run.task("m")).toMatchObject({ state: "expanded", mapped: true, startedAt: null });
  expect(run.document.mapped.get("m")).toEqual({ items: ["a", { k: 1 }, null], expandedAt: START });
  const pass = run.pass();
  expect(pass.awaitedLists).toEqual([]);
  expect(pass.claims.map(({ taskKey, taskId, mapIndex, mapItem }) => [taskKey, taskId, mapIndex, mapItem])).toEqual([
    ["m#0", "m", 0, "a"],
    ["m#1", "m", 1, { k: 1 }],
    ["m#2", "m", 2, null],
  ]);
});

test("D-MAP-3: downstream waits for all instances, and a failed one fails it only then", () => {
  const run = sourceDone();
  run.expand({ m: items(1, 2, 3) });
  run.pass();
  run.end("m#1", exits(1));
  run.end("m#0", succeeds);
  run.pass();
  expect(run.task("join").state).toBe("pending");
  run.end("m#2", succeeds);
  expect(run.pass().over).toEqual({ state: "failed", byThisPass: true, failedTasks: ["join", "m#1"] });
});

test("D-MAP-4: an empty list is a success at once", () => {
  const run = sourceDone();
  run.expand({ m: items() });
  expect(run.pass().claims.map(({ taskKey }) => taskKey)).toEqual(["join"]);
  expect(run.states()).toEqual({ src: "success", m: "expanded", join: "running" });
});

test("F63: an empty list through two mapped tasks", () => {
  const m2 = { id: "m2", dependsOn: ["m", "src"], expand: { fromTask: "src", key: "ids" } };
  const run = sourceDone([src, m, m2, { id: "join", dependsOn: ["m2"] }]);
  expect(run.pass().awaitedLists.map(({ taskId }) => taskId)).toEqual(["m", "m2"]);
  run.expand({ m: items(), m2: items() });
  run.pass();
  run.end("join", succeeds);
  expect(run.pass().over?.state).toBe("success");
});

test("D-MAP-5: a list that comes later, also after a restart, changes nothing", () => {
  const run = sourceDone();
  run.expand({ m: items(1, 2) });
  const { document } = run;
  run.restart("ffffffffffff");
  run.expand({ m: items(7, 8, 9) });
  expect(run.document.mapped).toEqual(document.mapped);
  expect(run.states()).toEqual({ src: "success", m: "expanded", "m#0": "pending", "m#1": "pending", join: "pending" });
});

test("a list is not taken before its source has succeeded, nor once the task has ended", () => {
  const run = runOnPaper([src, m]);
  run.expand({ m: items(1) });
  expect(run.task("m").state).toBe("pending");
  run.pass();
  run.end("src", exits(1));
  run.pass();
  run.expand({ m: items(1) });
  expect(run.states()).toEqual({ src: "failed", m: "upstream_failed" });
});

test("D-MAP-6: without an answer it stays unexpanded and is asked for again", () => {
  const run = sourceDone();
  for (let pass = 0; pass < 3; pass++) {
    expect(run.pass().awaitedLists).toHaveLength(1);
    run.expand({});
    expect(run.task("m").state).toBe("pending");
    run.now += 5;
  }
});

test("D-MAP-10: one item too many fails the task, and nothing of it is materialised", () => {
  const run = sourceDone();
  run.expand({ m: { kind: "too many", count: 1001 } });
  const pass = run.pass();
  expect(run.task("m")).toMatchObject({
    state: "failed",
    failReason: "mapped fan-out of 1001 items exceeds the cap of 1000",
  });
  expect(run.document.mapped.size).toBe(0);
  expect(run.states()).toEqual({ src: "success", m: "failed", join: "upstream_failed" });
  expect(pass.over?.failedTasks).toEqual(["join", "m"]);
});

describe("D-MAP-11, F64: the list is read as soon as its source is there, instances wait for everything upstream", () => {
  const both = [src, { id: "slow" }, { ...m, dependsOn: ["src", "slow"] }];
  test("slow succeeds", () => {
    const run = sourceDone(both);
    expect(run.pass().awaitedLists).toHaveLength(1);
    run.expand({ m: items(1) });
    expect(run.pass().claims).toEqual([]);
    run.end("slow", succeeds);
    expect(run.pass().claims.map(({ taskKey }) => taskKey)).toEqual(["m#0"]);
  });
  test("slow fails", () => {
    const run = sourceDone(both);
    run.expand({ m: items(1, 2) });
    run.end("slow", exits(1));
    run.pass();
    expect(run.states()).toMatchObject({ "m#0": "upstream_failed", "m#1": "upstream_failed" });
    expect(run.document.state).toBe("failed");
  });
  test("slow fails before there is a list", () => {
    const run = sourceDone(both);
    run.end("slow", exits(1));
    expect(run.pass().awaitedLists).toEqual([]);
    expect(run.task("m").state).toBe("upstream_failed");
  });
});

test.each([
  ["all_success", "failed", "upstream_failed"],
  ["all_done", "failed", "upstream_failed"],
  ["all_success", "skipped", "skipped"],
  ["all_done", "skipped", "skipped"],
] as const)("D-TRG-4: %s with a source that %s: there can be no list", (triggerRule, how, state) => {
  const run = runOnPaper([
    { id: "src", type: "approval" },
    { ...m, triggerRule },
  ]);
  run.pass();
  run.document = {
    ...run.document,
    tasks: new Map(run.document.tasks).set("src", { ...run.task("src"), state: how }),
  };
  run.pass();
  expect(run.task("m").state).toBe(state);
});

test("D-CLM-11: 70 instances start 32, 32 and 6", () => {
  const run = sourceDone();
  run.expand({ m: items(...Array.from({ length: 70 }, (_, index) => index)) });
  expect([run.pass(), run.pass(), run.pass()].map(({ claims }) => claims.length)).toEqual([32, 32, 6]);
});

test("each instance has its own retries", () => {
  const run = sourceDone([src, { ...m, retries: 1 }, join]);
  run.expand({ m: items(1, 2) });
  run.pass();
  run.end("m#0", exits(1));
  run.end("m#1", succeeds);
  expect(run.pass().claims).toMatchObject([{ taskKey: "m#0", attempt: 1 }]);
});
