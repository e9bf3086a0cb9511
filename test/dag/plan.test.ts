import { describe, expect, test } from "vitest";
import { stampPids } from "../../src/dag/pid-stamp.rules.ts";
import { altered, exits, items, OWN, runOnPaper, START, succeeds } from "./run-on-paper.ts";

const linear = [{ id: "a" }, { id: "b", dependsOn: ["a"] }, { id: "c", dependsOn: ["b"] }];

test("D-CFG-1: tasks of a line run one after the other, and the run is a success with the last", () => {
  const run = runOnPaper(linear);
  for (const id of ["a", "b", "c"]) {
    expect(run.pass().claims.map(({ taskKey }) => taskKey)).toEqual([id]);
    expect(run.pass().claims).toEqual([]);
    run.now += 1;
    expect(run.end(id, succeeds)).toBe("success");
  }
  expect(run.pass().over).toEqual({ state: "success", byThisPass: true, failedTasks: [] });
  expect(run.pass().over).toEqual({ state: "success", byThisPass: false, failedTasks: [] });
});

test("a claim takes the token and the host of this process, and the instant of the first claim stays", () => {
  const run = runOnPaper([{ id: "a", retries: 1 }]);
  run.pass();
  expect(run.task("a")).toMatchObject({ state: "running", proc: OWN, host: "here", pid: null, startedAt: START });
  run.now += 5;
  run.end("a", exits(3));
  run.pass();
  expect(run.task("a")).toMatchObject({
    state: "running",
    attempt: 1,
    startedAt: START,
    failReason: "command exited with code 3",
  });
});

describe("D-TRG-5: one pass reaches everything, whatever the order in the file", () => {
  const diamond = [
    { id: "top" },
    { id: "left", dependsOn: ["top"] },
    { id: "right", dependsOn: ["top"] },
    { id: "join", dependsOn: ["left", "right"] },
    { id: "after", dependsOn: ["join"] },
    { id: "cleanup", dependsOn: ["after"], triggerRule: "all_done" as const },
  ];
  test.each([
    ["downwards", diamond],
    ["upwards", diamond.toReversed()],
  ])("%s", (_, tasks) => {
    const run = runOnPaper(tasks);
    run.pass();
    run.end("top", exits(1));
    const pass = run.pass();
    expect(pass.claims.map(({ taskKey }) => taskKey)).toEqual(["cleanup"]);
    expect(run.states()).toMatchObject({
      left: "upstream_failed",
      right: "upstream_failed",
      join: "upstream_failed",
      after: "upstream_failed",
    });
  });
});

test("D-TRG-3: a failed upstream beside a running one decides nothing yet", () => {
  const run = runOnPaper([{ id: "a" }, { id: "b" }, { id: "join", dependsOn: ["a", "b"] }]);
  run.pass();
  run.end("a", exits(1));
  run.pass();
  expect(run.task("join").state).toBe("pending");
  run.end("b", succeeds);
  expect(run.pass().over).toEqual({ state: "failed", byThisPass: true, failedTasks: ["a", "join"] });
});

test("D-STM-3: an all_done cleanup does not repair the verdict", () => {
  const run = runOnPaper([{ id: "f" }, { id: "cleanup", dependsOn: ["f"], triggerRule: "all_done" }]);
  run.pass();
  run.end("f", exits(1));
  expect(run.pass().over).toBeNull();
  run.end("cleanup", succeeds);
  expect(run.pass().over).toMatchObject({ state: "failed", failedTasks: ["f"] });
});

test("D-CLM-11, D-PLN-2: 32 claims per pass, the rest at once in the next ones", () => {
  const run = runOnPaper(Array.from({ length: 70 }, (_, index) => ({ id: `t${index}` })));
  const passes = Array.from({ length: 4 }, () => run.pass());
  expect(passes.map(({ claims, deferred }) => [claims.length, deferred])).toEqual([
    [32, true],
    [32, true],
    [6, false],
    [0, false],
  ]);
  expect(passes[0]?.nextWakeAt).toBe(run.now);
  expect(passes[2]?.nextWakeAt).toBe(run.now + 60);
});

test("6.3c: a pass with nothing to do answers with the very document it was given", () => {
  const run = runOnPaper(linear);
  run.pass();
  const { document } = run;
  expect(run.pass().document).toBe(document);
});

test("D-STM-1: a run that is over never changes, whatever its records say", () => {
  const run = runOnPaper(linear);
  run.document = { ...run.document, state: "failed" };
  const { document } = run;
  const pass = run.pass();
  expect(pass.document).toBe(document);
  expect(pass).toMatchObject({ claims: [], nextWakeAt: null, over: { state: "failed", byThisPass: false } });
});

test("a state only a newer build knows is left alone, and holds up what depends on it", () => {
  const run = runOnPaper(linear);
  run.document = altered(run.document, "a", { state: "cancelling" });
  const { document } = run;
  expect(run.pass().document).toBe(document);
  expect(run.pass().over).toBeNull();
});

describe("6.3 step 7: when to look again", () => {
  test("at the retry that is due first", () => {
    const run = runOnPaper([
      { id: "a", retries: 1, retryDelaySeconds: 7 },
      { id: "b", retries: 1, retryDelaySeconds: 9 },
    ]);
    run.pass();
    run.end("a", exits(1));
    run.end("b", exits(1));
    expect(run.pass().nextWakeAt).toBe(START + 7);
  });
  test("at the poke that is due first", () => {
    const run = runOnPaper([{ id: "s", type: "sensor", pokeIntervalSeconds: 3 }]);
    run.pass();
    run.end("s", exits(1));
    expect(run.pass().nextWakeAt).toBe(START + 3);
  });
  test("in 5 s while a gate waits", () => {
    expect(runOnPaper([{ id: "g", type: "approval" }]).pass().nextWakeAt).toBe(START + 5);
  });
  test("in 5 s while a list is not there", () => {
    const run = runOnPaper([{ id: "s" }, { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } }]);
    run.pass();
    run.end("s", succeeds);
    expect(run.pass().nextWakeAt).toBe(START + 5);
  });
  test("in a minute when only own processes run", () => {
    expect(runOnPaper([{ id: "a" }]).pass().nextWakeAt).toBe(START + 60);
  });
});

test("P1: a pass over the result of a pass changes nothing", () => {
  const run = runOnPaper([
    { id: "s" },
    { id: "m", dependsOn: ["s"], expand: { fromTask: "s", key: "k" } },
    { id: "g", type: "approval" },
    { id: "w", type: "sensor" },
  ]);
  run.pass();
  run.end("s", succeeds);
  run.end("w", exits(1));
  run.pass();
  run.expand({ m: items(1, 2) });
  run.pass();
  const { document } = run;
  expect(run.pass().document).toBe(document);
});

test("the document a pass was given is not touched", () => {
  const run = runOnPaper(linear);
  const before = structuredClone(run.document);
  const given = run.document;
  run.pass();
  expect(given).toEqual(before);
});

describe("D-CLM-9: pids are stamped on the claim in force, and only there", () => {
  const run = runOnPaper([{ id: "a", retries: 1 }]);
  const [claim] = run.pass().claims;
  if (claim === undefined) throw new Error("no claim");
  const stamp = { claim, pid: 21586, pidStart: "boot:7" };

  test("in force", () => {
    expect(stampPids(run.document, OWN, [stamp], START).tasks.get("a")).toMatchObject({
      pid: 21586,
      pidStart: "boot:7",
    });
  });
  test("of another process", () => {
    expect(stampPids(run.document, "other", [stamp], START)).toBe(run.document);
  });
  test("of an attempt that is over; and the pid is gone with it", () => {
    run.document = stampPids(run.document, OWN, [stamp], START);
    run.end("a", exits(1));
    expect(run.task("a")).not.toHaveProperty("pidStart");
    expect(run.task("a")).toMatchObject({ pid: null, proc: null });
    expect(stampPids(run.document, OWN, [stamp], START)).toBe(run.document);
  });
  test("of a system that does not tell when a process started", () => {
    run.pass();
    const [next] = run.handedOut.values();
    if (next === undefined) throw new Error("no claim");
    const stamped = stampPids(run.document, OWN, [{ claim: next, pid: 9, pidStart: null }], START);
    expect(stamped.tasks.get("a")).not.toHaveProperty("pidStart");
    expect(stamped.tasks.get("a")?.pid).toBe(9);
  });
});
