import { describe, expect, test } from "vitest";
import { decideGate } from "../../src/dag/gate.rules.ts";
import { altered, dagOf, exits, FOREIGN, runOnPaper, START, succeeds, type WrittenTask } from "./run-on-paper.ts";

const sensor = { id: "a", type: "sensor", pokeIntervalSeconds: 5 } as const;

describe("13.3: what a reload does to an active run", () => {
  const base = [
    { id: "a", retries: 1 },
    { id: "b", dependsOn: ["a"] },
  ];
  const reloaded = (run: ReturnType<typeof runOnPaper>, tasks: readonly WrittenTask[]) => {
    run.dag = dagOf(tasks);
    return run.pass();
  };

  test("a task added is no part of it: not started, no blocker, not in the verdict", () => {
    const run = runOnPaper(base);
    run.pass();
    run.end("a", succeeds);
    reloaded(run, [{ id: "new" }, { id: "a" }, { id: "b", dependsOn: ["a", "new"] }]);
    expect(run.task("b").state).toBe("running");
    run.end("b", succeeds);
    expect(run.pass().over?.state).toBe("success");
    expect(run.states()).not.toHaveProperty("new");
  });
  test("a task removed is ignored, and the end of its process too", () => {
    const run = runOnPaper([{ id: "a" }, { id: "b" }]);
    run.pass();
    reloaded(run, [{ id: "b" }]);
    expect(run.end("a", exits(1))).toBeNull();
    run.end("b", succeeds);
    expect(run.pass().over).toEqual({ state: "success", byThisPass: true, failedTasks: [] });
  });
  test("D-CRS-5: a task removed that a dead owner left running has failed, and counts for nothing", () => {
    const run = runOnPaper([
      { id: "a", retries: 3 },
      { id: "b", dependsOn: ["a"] },
    ]);
    run.pass();
    run.document = altered(run.document, "a", { proc: FOREIGN, host: "elsewhere", pid: 77 });
    run.handedOut.clear();
    const pass = reloaded(run, [{ id: "b" }]);
    expect(pass.reconciled).toEqual(["a"]);
    expect(run.task("a")).toMatchObject({ state: "failed", failReason: "reconciled-crash" });
    expect(pass.claims).toMatchObject([{ taskKey: "b" }]);
  });
  test("expand added while pending: it expands", () => {
    const run = runOnPaper(base);
    run.pass();
    run.end("a", succeeds);
    const pass = reloaded(run, [{ id: "a" }, { id: "b", dependsOn: ["a"], expand: { fromTask: "a", key: "k" } }]);
    expect(pass.awaitedLists).toMatchObject([{ taskId: "b" }]);
  });
  test("expand added while it waits for a retry: failed, and the reason names the reload", () => {
    const run = runOnPaper([{ id: "s" }, { id: "a", dependsOn: ["s"], retries: 1, retryDelaySeconds: 60 }]);
    run.pass();
    run.end("s", succeeds);
    run.pass();
    run.end("a", exits(1));
    const pass = reloaded(run, [{ id: "s" }, { id: "a", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    expect(run.task("a")).toMatchObject({ state: "failed", failReason: expect.stringContaining("reload") });
    expect(pass.over?.state).toBe("failed");
  });
  test("expand added while it runs: it ends as what it was started as", () => {
    const run = runOnPaper([{ id: "s" }, { id: "a", dependsOn: ["s"] }]);
    run.pass();
    run.end("s", succeeds);
    run.pass();
    reloaded(run, [{ id: "s" }, { id: "a", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    expect(run.end("a", succeeds)).toBe("success");
    expect(run.pass().over?.state).toBe("success");
  });
  test("expand removed after the expansion: the recorded instances go on and count", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    run.pass();
    run.end("s", succeeds);
    run.expand({ m: { kind: "items", items: [1, 2] } });
    const pass = reloaded(run, [{ id: "s" }, { id: "m", dependsOn: ["s"] }]);
    expect(pass.claims.map(({ taskKey }) => taskKey)).toEqual(["m#0", "m#1"]);
    run.end("m#0", succeeds);
    run.end("m#1", exits(1));
    expect(run.pass().over).toMatchObject({ state: "failed", failedTasks: ["m#1"] });
  });
  test("expand removed before the expansion: it runs as a plain task", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    run.pass();
    run.end("s", succeeds);
    expect(reloaded(run, [{ id: "s" }, { id: "m", dependsOn: ["s"] }]).claims).toMatchObject([{ taskKey: "m" }]);
  });
  test("a list that is to come from a task without entry: failed with a reason", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    reloaded(run, [{ id: "s" }, { id: "n" }, { id: "m", dependsOn: ["n"], expand: { fromTask: "n", key: "k" } }]);
    expect(run.task("m")).toMatchObject({
      state: "failed",
      failReason: "its list is to come from 'n', which is no task of this run",
    });
  });
  test("a sensor made plain while idle: failed with a reason", () => {
    const run = runOnPaper([sensor]);
    run.pass();
    run.end("a", exits(1));
    reloaded(run, [{ id: "a" }]);
    expect(run.task("a")).toMatchObject({ state: "failed", failReason: expect.stringContaining("reload") });
  });
  test("a sensor made plain before it was poked runs once, like any plain task", () => {
    const run = runOnPaper([{ id: "z" }, { ...sensor, dependsOn: ["z"] }]);
    run.pass();
    run.end("z", succeeds);
    reloaded(run, [{ id: "z" }, { id: "a", dependsOn: ["z"] }]);
    expect(run.end("a", exits(1))).toBe("failed");
  });
  test("a plain task made a sensor while it waits for a retry is poked", () => {
    const run = runOnPaper([{ id: "a", retries: 1 }]);
    run.pass();
    run.end("a", exits(1));
    expect(reloaded(run, [sensor]).claims).toMatchObject([{ poke: 0 }]);
    expect(run.end("a", exits(1))).toBe("not met");
    expect(run.task("a")).toMatchObject({ pokeCount: 1, attempt: 1 });
  });
  test("a gate made a task while it waits still waits for its decision", () => {
    const run = runOnPaper([{ id: "g", type: "approval" }]);
    run.pass();
    expect(reloaded(run, [{ id: "g" }]).over).toBeNull();
    expect(decideGate(run.document, run.dag, "g", "approve", "a", START).kind).toBe("decided");
  });
  test("retries and delays apply from the next attempt on", () => {
    const run = runOnPaper([{ id: "a" }]);
    run.pass();
    reloaded(run, [{ id: "a", retries: 1, retryDelaySeconds: 3 }]);
    expect(run.end("a", exits(1))).toBe("retry");
    expect(run.task("a").nextRetryAt).toBe(START + 3);
  });
  test("a mapped index without its record: the record is made, failed, so that the run can end", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    run.pass();
    run.end("s", succeeds);
    run.expand({ m: { kind: "items", items: ["x", "y"] } });
    const tasks = new Map(run.document.tasks);
    tasks.delete("m#1");
    run.document = { ...run.document, tasks };
    run.pass();
    expect(run.task("m#1")).toMatchObject({
      id: "m",
      mapIndex: 1,
      mapItem: "y",
      state: "failed",
      failReason: "its record is missing",
    });
    run.end("m#0", succeeds);
    expect(run.pass().over?.state).toBe("failed");
  });
  test("a mapped task whose list is missing has failed, so that the run can end", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    run.document = altered(run.document, "m", { state: "expanded" });
    run.pass();
    expect(run.task("m").state).toBe("failed");
  });
});
