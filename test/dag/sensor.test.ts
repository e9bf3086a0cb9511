import { expect, test } from "vitest";
import { exits, runOnPaper, START, succeeds } from "./run-on-paper.ts";

const sensor = {
  id: "s",
  type: "sensor",
  pokeIntervalSeconds: 2,
  pokeJitterSeconds: 1,
  pokeTimeoutSeconds: 10,
} as const;

test("D-SEN-1, D-SEN-2: not met twice, then met: each wait is the interval and a share of the jitter", () => {
  const run = runOnPaper([sensor]);
  expect(run.pass().claims[0]).toMatchObject({ taskKey: "s", attempt: 0, poke: 0 });
  run.now += 0.25;
  expect(run.end("s", exits(1), 0.5)).toBe("not met");
  expect(run.task("s")).toMatchObject({
    state: "running",
    proc: null,
    pid: null,
    pokeCount: 1,
    firstPokeAt: START,
    nextPokeAt: START + 2.75,
    exitCode: null,
    failReason: null,
  });
  expect(run.pass().claims).toEqual([]);
  run.now = START + 2.75;
  expect(run.pass().claims[0]).toMatchObject({ poke: 1 });
  expect(run.task("s")).toMatchObject({ nextPokeAt: null, startedAt: START });
  run.end("s", exits(1));
  run.now += 2;
  run.pass();
  expect(run.end("s", succeeds)).toBe("success");
  expect(run.task("s")).toMatchObject({ state: "success", pokeCount: 3, nextPokeAt: null, exitCode: 0 });
});

test("D-SEN-3: its time is over once pokeTimeoutSeconds have passed since the first poke, seen when the next is due", () => {
  const run = runOnPaper([{ ...sensor, pokeJitterSeconds: 0 }]);
  run.pass();
  for (let poke = 0; poke < 4; poke++) {
    run.end("s", exits(1));
    run.now += 2;
    run.pass();
  }
  run.now += 5; // past the deadline while a poke runs
  expect(run.pass().timedOutSensors).toEqual([]);
  run.end("s", exits(1));
  expect(run.pass().timedOutSensors).toEqual([]); // until the next would be due
  run.now += 2;
  const pass = run.pass();
  expect(pass.timedOutSensors).toEqual(["s"]);
  expect(run.task("s")).toMatchObject({
    state: "failed",
    failReason: "sensor timed out",
    pokeCount: 5,
    exitCode: null,
  });
  expect(pass.over).toMatchObject({ state: "failed", failedTasks: ["s"] });
});

test("D-SEN-3: a poke in flight may still succeed after the deadline", () => {
  const run = runOnPaper([sensor]);
  run.pass();
  run.now += 60;
  run.pass();
  expect(run.end("s", succeeds)).toBe("success");
});

test("D-SEN-4: a restart goes on with the schedule and the window as they are", () => {
  const run = runOnPaper([sensor]);
  run.pass();
  run.end("s", exits(1));
  const before = run.task("s");
  run.restart("ffffffffffff");
  const pass = run.pass();
  expect(run.task("s")).toEqual(before);
  expect(pass.nextWakeAt).toBe(START + 2);
  run.now = START + 10;
  expect(run.pass().timedOutSensors).toEqual(["s"]);
});

test.each([
  ["exit 0 with output a job would fail for", { ...succeeds, failReason: "stderr was not empty" }, "success"],
  ["killed at its executionTimeout", exits(-100), "not met"],
  ["could not be started", { kind: "launch failed" } as const, "not met"],
])("D-SEN-5: the exit code alone is the verdict: %s", (_, end, became) => {
  const run = runOnPaper([sensor]);
  run.pass();
  expect(run.end("s", end)).toBe(became);
  expect(run.task("s").failReason).toBeNull();
});

test("D-SEN-7: retries mean nothing to a sensor, and its pokes count for the 32 of a pass", () => {
  const run = runOnPaper(Array.from({ length: 40 }, (_, index) => ({ ...sensor, id: `s${index}`, retries: 4 })));
  expect(run.pass()).toMatchObject({ deferred: true, claims: { length: 32 } });
  run.end("s0", exits(1));
  expect(run.task("s0").attempt).toBe(0);
  run.now += 60;
  run.pass();
  expect(run.task("s0")).toMatchObject({ state: "failed", attempt: 0 });
});
