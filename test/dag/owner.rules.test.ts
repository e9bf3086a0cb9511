import { describe, expect, test } from "vitest";
import type { DagTaskConfig } from "../../src/config/model.ts";
import { claimKey } from "../../src/dag/claim.rules.ts";
import { decideGate } from "../../src/dag/gate.rules.ts";
import { processKey } from "../../src/dag/pass.ts";
import {
  altered,
  dagOf,
  exits,
  FOREIGN,
  HOST,
  OWN,
  runOnPaper,
  START,
  succeeds,
  type WrittenTask,
} from "./run-on-paper.ts";

const sensor = { id: "a", type: "sensor", pokeIntervalSeconds: 5 } as const;

/** The run as its next owner finds it: one instance claimed by a process that is gone, nothing handed out. */
function leftBehind(task: WrittenTask, fields: { readonly host?: string; readonly pid?: number | null } = {}) {
  const run = runOnPaper([task, { id: "b", dependsOn: ["a"] }]);
  run.pass();
  run.document = altered(run.document, "a", { proc: FOREIGN, host: "elsewhere", pid: 77, ...fields });
  run.handedOut.clear();
  run.now += 40;
  return run;
}

describe("13.2: what a dead owner left running", () => {
  test("is retried at once, without delay, while attempts remain", () => {
    const run = leftBehind({ id: "a", retries: 1, retryDelaySeconds: 600 });
    const pass = run.pass();
    expect(pass.reconciled).toEqual(["a"]);
    expect(pass.claims).toMatchObject([{ taskKey: "a", attempt: 1 }]);
    expect(run.task("a")).toMatchObject({
      state: "running",
      proc: OWN,
      pid: null,
      attempt: 1,
      failReason: "reconciled-crash",
      startedAt: START,
    });
  });
  test("else has failed", () => {
    const run = leftBehind({ id: "a" });
    expect(run.pass().over).toEqual({ state: "failed", byThisPass: true, failedTasks: ["a", "b"] });
    expect(run.task("a")).toMatchObject({
      state: "failed",
      attempt: 1,
      failReason: "reconciled-crash",
      finishedAt: START + 40,
    });
  });
  test("is poked again now if it is a sensor, with its count and its window as they were", () => {
    const run = leftBehind(sensor);
    expect(run.pass().claims).toMatchObject([{ taskKey: "a", attempt: 0, poke: 0 }]);
    expect(run.task("a")).toMatchObject({ pokeCount: 0, firstPokeAt: START, attempt: 0, proc: OWN });
  });
  test("of an idle sensor is nothing: it keeps its schedule", () => {
    const run = runOnPaper([sensor]);
    run.pass();
    run.end("a", exits(1));
    run.restart(FOREIGN);
    run.now += 2;
    const { document } = run;
    const pass = run.pass();
    expect(pass.document).toBe(document);
    expect(pass.nextWakeAt).toBe(START + 5);
  });
});

describe("D-CRS-4: a process of another daemon on this host", () => {
  const here = { host: HOST, pid: 4242 };
  const known = (alive: boolean) => ({ alive: new Map([[processKey({ pid: 4242, pidStart: null }), alive]]) });

  test("is asked about, and its instance is left until somebody says", () => {
    const run = leftBehind({ id: "a", retries: 1 }, here);
    const { document } = run;
    const pass = run.pass();
    expect(pass.unknownProcesses).toEqual([{ taskKey: "a", pid: 4242, pidStart: null }]);
    expect(pass.document).toBe(document);
    expect(pass.nextWakeAt).toBe(run.now);
  });
  test("that lives is left alone, and looked at again soon", () => {
    const run = leftBehind({ id: "a", retries: 1 }, here);
    const pass = run.pass(known(true));
    expect(pass.claims).toEqual([]);
    expect(pass.nextWakeAt).toBe(run.now + 5);
  });
  test("that is gone, or whose pid is another's by now, is dead", () => {
    const run = leftBehind({ id: "a", retries: 1 }, here);
    expect(run.pass(known(false)).claims).toMatchObject([{ attempt: 1 }]);
  });
  test("that was never stamped is dead", () => {
    const run = leftBehind({ id: "a", retries: 1 }, { host: HOST, pid: null });
    expect(run.pass().claims).toMatchObject([{ attempt: 1 }]);
  });
  test("is told apart by when it started", () => {
    expect(processKey({ pid: 1, pidStart: "boot:5" })).not.toBe(processKey({ pid: 1, pidStart: "boot:6" }));
  });
});

describe("D-CLM-3: a claim of this process of which nothing was launched", () => {
  test("is released and made again in the same pass, no attempt counted", () => {
    const run = runOnPaper([{ id: "a", retries: 1 }]);
    run.pass();
    run.end("a", exits(1));
    run.pass();
    run.handedOut.clear(); // the write landed after its caller had gone
    run.now += 12;
    const pass = run.pass();
    expect(pass.released).toMatchObject([{ taskKey: "a", attempt: 1 }]);
    expect(pass.claims).toMatchObject([{ taskKey: "a", attempt: 1 }]);
    expect(run.task("a")).toMatchObject({ state: "running", attempt: 1, startedAt: START });
  });
  test("is pending again where the quota is used up, as if it had not been claimed", () => {
    const run = runOnPaper([{ id: "a" }]);
    const before = run.task("a");
    run.pass();
    run.handedOut.clear();
    const pass = run.pass({ claimsLeft: 0 });
    expect(pass.deferred).toBe(true);
    expect(run.task("a")).toEqual({ ...before, host: HOST });
  });
  test("is an idle sensor, due now, its poke count and window unchanged", () => {
    const run = runOnPaper([sensor]);
    run.pass();
    run.end("a", exits(1));
    run.now += 5;
    run.pass();
    run.handedOut.clear();
    run.now += 12;
    run.pass({ claimsLeft: 0 });
    expect(run.task("a")).toMatchObject({
      state: "running",
      proc: null,
      attempt: 0,
      pokeCount: 1,
      nextPokeAt: START + 17,
      firstPokeAt: START,
    });
    expect(run.pass().claims).toMatchObject([{ poke: 1 }]);
  });
  test("is left while the record still holds it, also across a queued completion (D-CLM-8)", () => {
    const run = runOnPaper([{ id: "a" }]);
    run.pass();
    run.now += 3600;
    expect(run.pass()).toMatchObject({ released: [], claims: [] });
  });
  test("of an earlier attempt in the record does not hide this one", () => {
    const run = runOnPaper([{ id: "a", retries: 1 }]);
    const [first] = run.pass().claims;
    if (first === undefined) throw new Error("no claim");
    run.end("a", exits(1));
    run.pass();
    run.handedOut.clear();
    run.handedOut.set(claimKey(first), first);
    expect(run.pass().released).toMatchObject([{ attempt: 1 }]);
  });
});

describe("pools (section 14)", () => {
  const pooled = (id: string): WrittenTask => ({
    id,
    job: {
      launch: { pool: { pool: "p", slots: 1, priority: 0, timeoutSeconds: 60 }, resourceLimits: null },
    } as DagTaskConfig["job"],
  });

  test("D-POL-2, D-POL-8: only what was admitted is claimed; the rest shows pending and says what it waits for", () => {
    const run = runOnPaper([pooled("a"), pooled("b"), { id: "c" }]);
    const pass = run.pass({ admitted: new Set([claimKey({ taskKey: "b", attempt: 0, poke: null })]) });
    expect(pass.claims.map(({ taskKey }) => taskKey)).toEqual(["b", "c"]);
    expect(pass.awaitingAdmission).toMatchObject([{ taskKey: "a", attempt: 0, poke: null }]);
    expect(run.task("a").state).toBe("pending");
    expect(pass.nextWakeAt).toBe(START + 5);
  });
  test("D-POL-9: waiting for a pool uses nothing of the quota", () => {
    const run = runOnPaper([...Array.from({ length: 40 }, (_, index) => pooled(`p${index}`)), { id: "c" }]);
    const pass = run.pass();
    expect(pass).toMatchObject({ deferred: false, claims: [{ taskKey: "c" }], awaitingAdmission: { length: 40 } });
  });
  test("D-CLM-6: a released claim is told, so that its slot goes back", () => {
    const run = runOnPaper([pooled("a")]);
    run.pass({ admitted: new Set([claimKey({ taskKey: "a", attempt: 0, poke: null })]) });
    run.handedOut.clear();
    expect(run.pass()).toMatchObject({
      released: [{ taskKey: "a" }],
      awaitingAdmission: [{ taskKey: "a" }],
      claims: [],
    });
  });
  test("F59: between attempts and between pokes nothing is held", () => {
    const run = runOnPaper([{ ...pooled("a"), retries: 1, retryDelaySeconds: 30 }]);
    run.pass({ admitted: new Set([claimKey({ taskKey: "a", attempt: 0, poke: null })]) });
    run.end("a", exits(1));
    expect(run.pass().awaitingAdmission).toEqual([]);
    run.now += 30;
    expect(run.pass().awaitingAdmission).toMatchObject([{ taskKey: "a", attempt: 1 }]);
    expect(run.task("a").state).toBe("up_for_retry");
  });
});

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
    const run = leftBehind({ id: "a", retries: 3 });
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
