import { describe, expect, test } from "vitest";
import type { DagTaskConfig } from "../../src/config/model.ts";
import { claimKey } from "../../src/dag/claim.rules.ts";
import { processKey } from "../../src/dag/pass.ts";
import { altered, exits, FOREIGN, HOST, OWN, runOnPaper, START, type WrittenTask } from "./run-on-paper.ts";

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
  test("is left while the record still holds it, also across a queued completion (D-CLM-2, D-CLM-8)", () => {
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
