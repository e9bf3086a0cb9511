import { describe, expect, test } from "vitest";
import type { LimitsRecord, ResourceUsage } from "../../src/contract/run.ts";
import { claimOf } from "../../src/dag/claim.rules.ts";
import { complete, refuseAdmission } from "../../src/dag/completion.rules.ts";
import { JsonFloat } from "../../src/store/json.ts";
import { bodyOf, dagOf, exits, OWN, runOnPaper, START, succeeds } from "./run-on-paper.ts";

test("D-CFG-11, D-STM-4: retries: 2 means three attempts, retryDelaySeconds apart, and attempt counts the failed ones", () => {
  const run = runOnPaper([{ id: "a", retries: 2, retryDelaySeconds: 2 }]);
  const seen: unknown[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    run.pass();
    seen.push(run.end("a", exits(3)));
    const { state, attempt: count, nextRetryAt } = run.task("a");
    seen.push([state, count, nextRetryAt === null ? null : (nextRetryAt ?? 0) - run.now]);
    run.now += 1;
    expect(run.pass().claims).toEqual([]); // not due yet
    run.now += 1;
  }
  expect(seen).toEqual([
    "retry",
    ["up_for_retry", 1, 2],
    "retry",
    ["up_for_retry", 2, 2],
    "failed",
    ["failed", 3, null],
  ]);
  expect(run.task("a")).toMatchObject({ exitCode: 3, failReason: "command exited with code 3", nextRetryAt: null });
  expect(run.document.state).toBe("failed");
});

test("D-STM-5: finishedAt is set at the end only, and a success clears the fail reason", () => {
  const run = runOnPaper([{ id: "a", retries: 2 }]);
  for (let attempt = 0; attempt < 2; attempt++) {
    run.pass();
    run.end("a", exits(1));
    expect(run.task("a")).toMatchObject({ finishedAt: null, exitCode: 1, failReason: "command exited with code 1" });
  }
  run.pass();
  run.now += 3;
  run.end("a", succeeds);
  expect(run.task("a")).toMatchObject({
    state: "success",
    attempt: 2,
    startedAt: START,
    finishedAt: START + 3,
    exitCode: 0,
    failReason: null,
  });
});

test("D-STM-6: what could not be launched at all is 127, launch failed, and follows the retry policy", () => {
  const run = runOnPaper([{ id: "a", retries: 1 }]);
  run.pass();
  expect(run.end("a", { kind: "launch failed" })).toBe("retry");
  expect(run.task("a")).toMatchObject({ state: "up_for_retry", exitCode: 127, failReason: "launch failed" });
});

const usage: ResourceUsage = {
  cpuUserSeconds: 1,
  cpuSystemSeconds: 0.5,
  maxRssBytes: 5947392,
  samples: 1,
  series: [[1, 2, 3]],
};
const limits: LimitsRecord = {
  requested: { processes: 9 },
  enforced: ["processes"],
  notEnforced: [],
  memoryExceeded: false,
  memoryPeakBytes: null,
  cpuThrottledSeconds: null,
  processesPeak: 2,
};

test("D-CFG-12, D-CFG-13: what the attempt used and its limits land in the record", () => {
  const run = runOnPaper([{ id: "a" }]);
  run.pass();
  run.end("a", { kind: "exited", exitCode: 0, failReason: null, resources: usage, limits });
  expect(bodyOf(run.document)).toMatchObject({
    tasks: {
      a: {
        resources: {
          cpu_user_seconds: new JsonFloat(1),
          cpu_system_seconds: 0.5,
          cpu_total_seconds: 1.5,
          max_rss_bytes: 5947392,
          samples: 1,
        },
        limits: { requested: { processes: 9 }, enforced: ["processes"], not_enforced: [], processes_peak: 2 },
      },
    },
  });
  expect(run.task("a").resources).not.toHaveProperty("series");
});

describe("D-CLM-9: the end of a claim that is no longer in force changes nothing", () => {
  const started = () => {
    const run = runOnPaper([
      { id: "a", retries: 5 },
      { id: "s", type: "sensor" },
    ]);
    run.pass();
    const [a, s] = [...run.handedOut.values()];
    if (a === undefined || s === undefined) throw new Error("no claims");
    return { run, a, s };
  };
  const ended = { proc: OWN, at: START, end: succeeds, jitter: 0 };

  test("another process has claimed it since", () => {
    const { run, a } = started();
    expect(complete(run.document, run.dag, [{ ...ended, claim: a, proc: "other" }])).toEqual({
      document: run.document,
      became: [null],
    });
  });
  test("the attempt is over", () => {
    const { run, a } = started();
    run.end("a", exits(1));
    run.pass();
    expect(complete(run.document, run.dag, [{ ...ended, claim: a }]).became).toEqual([null]);
  });
  test("the sensor has been poked again, with the same token and attempt", () => {
    const { run, s } = started();
    run.end("s", exits(1));
    run.now += 30;
    run.pass();
    expect(run.task("s")).toMatchObject({ state: "running", proc: OWN, attempt: 0 });
    expect(complete(run.document, run.dag, [{ ...ended, claim: s }]).became).toEqual([null]);
  });
  test("its task is no longer configured", () => {
    const { run, a } = started();
    expect(complete(run.document, dagOf([{ id: "s", type: "sensor" }]), [{ ...ended, claim: a }]).became).toEqual([
      null,
    ]);
  });
  test("the run is over", () => {
    const { run, a } = started();
    expect(complete({ ...run.document, state: "failed" }, run.dag, [{ ...ended, claim: a }]).became).toEqual([null]);
  });
});

test("D-CLM-10: ends that arrive together are one change, and the same end twice counts once", () => {
  const run = runOnPaper([{ id: "a" }, { id: "b" }]);
  run.pass();
  const [a, b] = [...run.handedOut.values()];
  if (a === undefined || b === undefined) throw new Error("no claims");
  const end = (claim: typeof a, exitCode: number) => ({
    claim,
    proc: OWN,
    at: START + 1,
    end: exits(exitCode),
    jitter: 0,
  });
  const applied = complete(run.document, run.dag, [end(a, 0), end(b, 1), end(a, 1)]);
  expect(applied.became).toEqual(["success", "failed", null]);
  expect(applied.document.updatedAt).toBe(START + 1);
});

describe("D-POL-4: a pool that will not let it in any more", () => {
  test("is a failed attempt with the pool's reason, under the retry policy", () => {
    const run = runOnPaper([{ id: "a", retries: 1, retryDelaySeconds: 4 }]);
    const waiting = claimOf("a", run.task("a"));
    const refused = refuseAdmission(run.document, run.dag, waiting, "queue timeout", START);
    expect(refused.tasks.get("a")).toMatchObject({
      state: "up_for_retry",
      attempt: 1,
      exitCode: null,
      failReason: "queue timeout",
      nextRetryAt: START + 4,
    });
    expect(refuseAdmission(refused, run.dag, waiting, "queue timeout", START)).toBe(refused);
    const again = refuseAdmission(refused, run.dag, { ...waiting, attempt: 1 }, "cancelled by operator", START);
    expect(again.tasks.get("a")).toMatchObject({ state: "failed", attempt: 2, failReason: "cancelled by operator" });
  });
  test("ends a sensor, which has no retries", () => {
    const run = runOnPaper([{ id: "s", type: "sensor", retries: 3 }]);
    const refused = refuseAdmission(run.document, run.dag, claimOf("s", run.task("s")), "queue timeout", START);
    expect(refused.tasks.get("s")).toMatchObject({ state: "failed", attempt: 0, failReason: "queue timeout" });
  });
  test("changes nothing once it runs", () => {
    const run = runOnPaper([{ id: "a" }]);
    const waiting = claimOf("a", run.task("a"));
    run.pass();
    expect(refuseAdmission(run.document, run.dag, waiting, "queue timeout", START)).toBe(run.document);
  });
});

test("a fail reason with half a surrogate pair is written all the same", () => {
  const run = runOnPaper([{ id: "a" }]);
  run.pass();
  run.end("a", { kind: "exited", exitCode: 1, failReason: "bad \ud800", resources: null, limits: null });
  expect(run.task("a").state).toBe("failed");
});
