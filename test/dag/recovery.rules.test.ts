import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { configurationRevision } from "../../src/dag/configuration-revision.rules.ts";
import {
  type Artifact,
  isForRequest,
  planBody,
  planRecovery,
  rangeSources,
  rangeToken,
  recoveredRun,
} from "../../src/dag/recovery.rules.ts";
import { preparationOf, prepared } from "../../src/dag/recovery-note.ts";
import type { RecoveryRequest } from "../../src/dag/recovery-selection.rules.ts";
import type { ListedRun } from "../../src/dag/retention.rules.ts";
import { configOf } from "../config/loading.ts";
import {
  altered,
  dagOf,
  exits,
  items,
  type PaperRun,
  runOnPaper,
  START,
  succeeds,
  throughTheStore,
} from "./run-on-paper.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const failed: RecoveryRequest = { mode: "failed", tasks: [] };
const from = (...tasks: string[]): RecoveryRequest => ({ mode: "from", tasks });
const artifact = (name: string): Artifact => ({ name, sha256: "f".repeat(64), size: 9, meta: null });

function planned(run: PaperRun, request: RecoveryRequest, published: readonly Artifact[] = []) {
  const outcome = planRecovery(run.document, run.dag, request, published, sha256);
  if (outcome.kind === "refused") throw new Error(outcome.because);
  return outcome.plan;
}

function refusal(run: PaperRun, request: RecoveryRequest, published: readonly Artifact[] = []) {
  const outcome = planRecovery(run.document, run.dag, request, published, sha256);
  return outcome.kind === "refused" ? outcome.because : "a plan";
}

/** extract → upload → notify, and audit beside; upload failed. */
function line() {
  const run = runOnPaper([
    { id: "extract" },
    { id: "upload", dependsOn: ["extract"] },
    { id: "notify", dependsOn: ["upload"] },
    { id: "audit", dependsOn: ["extract"] },
  ]);
  run.pass();
  run.end("extract", succeeds);
  run.pass();
  run.end("upload", exits(1));
  run.end("audit", succeeds);
  run.pass();
  return run;
}

/** src → map over 3 items → join; item 1 failed. */
function mapped() {
  const run = runOnPaper([
    { id: "src" },
    { id: "map", dependsOn: ["src"], expand: { fromTask: "src", key: "k" } },
    { id: "join", dependsOn: ["map"] },
  ]);
  run.pass();
  run.end("src", succeeds);
  run.expand({ map: items("x", "y", "z") });
  run.pass();
  for (const [key, code] of [
    ["map#0", 0],
    ["map#1", 1],
    ["map#2", 0],
  ] as const)
    run.end(key, exits(code));
  run.pass();
  return run;
}

describe("what runs again", () => {
  test("failed: what failed or could not run, and everything downstream; the rest is preserved with its artifacts", () => {
    const plan = planned(line(), failed, [
      artifact("upload/x"),
      artifact("extract/data"),
      artifact("extract/b/c"),
      artifact("loose"),
    ]);
    expect(plan).toMatchObject({
      mode: "failed",
      requestedTasks: [],
      tasks: ["notify", "upload"],
      preserved: ["audit", "extract"],
      resetMappings: [],
      artifacts: [{ name: "extract/b/c" }, { name: "extract/data" }, { name: "loose" }],
    });
  });
  test("from: what is named, and everything downstream, however it ended", () => {
    expect(planned(line(), from("extract"))).toMatchObject({
      tasks: ["audit", "extract", "notify", "upload"],
      preserved: [],
    });
    expect(planned(line(), from("audit")).tasks).toEqual(["audit"]);
  });
  test("one instance of a mapped task: its siblings are preserved, what joins them runs again", () => {
    const plan = planned(mapped(), failed, [artifact("map#0/out"), artifact("map#1/out")]);
    expect(plan).toMatchObject({ tasks: ["join", "map#1"], preserved: ["map#0", "map#2", "src"], resetMappings: [] });
    expect(plan.artifacts.map(({ name }) => name)).toEqual(["map#0/out"]);
  });
  test("a mapped task named by itself means its instances", () => {
    expect(planned(mapped(), from("map")).tasks).toEqual(["join", "map#0", "map#1", "map#2"]);
  });
  test("a mapped task whose source runs again is made anew", () => {
    const plan = planned(mapped(), from("src"), [artifact("map#0/out")]);
    expect(plan).toMatchObject({ tasks: ["join", "map", "src"], preserved: [], resetMappings: ["map"], artifacts: [] });
  });
});

describe("what is refused", () => {
  test.each<readonly [string, string]>([
    ["an active source", refusal(runOnPaper([{ id: "a" }]), failed)],
    ["a source that was never prepared", refusal(neverPrepared(), failed)],
  ])("%s", (_, because) => expect(because).toBe("recovery requires a finished run"));

  test.each<readonly [RecoveryRequest, string]>([
    [{ mode: "all", tasks: [] }, "mode must be 'failed' or 'from'"],
    [{ mode: "failed", tasks: ["upload"] }, "tasks is only valid for mode 'from'"],
    [from(), "select at least one existing task instance"],
    [from("upload", "nope"), "select at least one existing task instance"],
    [from("extract#0"), "select at least one existing task instance"],
  ])("%j", (request, because) => expect(refusal(line(), request)).toBe(because));

  test("nothing failed", () => {
    const run = runOnPaper([{ id: "a" }]);
    run.pass();
    run.end("a", succeeds);
    run.pass();
    expect(refusal(run, failed)).toBe("no tasks to recover");
  });
  test.each([
    ["a task added", [{ id: "extract" }, { id: "upload" }, { id: "notify" }, { id: "audit" }, { id: "new" }]],
    ["a task removed", [{ id: "extract" }, { id: "upload" }, { id: "notify" }]],
    ["a task renamed", [{ id: "extract" }, { id: "upload" }, { id: "notify" }, { id: "other" }]],
  ])("%s", (_, tasks) => {
    const run = line();
    run.dag = dagOf(tasks);
    expect(refusal(run, failed)).toBe("task definitions differ; create a full run for the current graph");
  });
  test("a task that is mapped now, or no longer", () => {
    const run = mapped();
    run.dag = dagOf([{ id: "src" }, { id: "map", dependsOn: ["src"] }, { id: "join", dependsOn: ["map"] }]);
    expect(refusal(run, failed)).toBe("task mapping differs; create a full run for the current graph");
  });
  test("more than 10000 artifacts", () => {
    const many = Array.from({ length: 10_001 }, (_, index) => artifact(`extract/${index}`));
    expect(refusal(line(), failed, many)).toBe("recovery supports at most 10000 artifacts");
    expect(planned(line(), failed, many.slice(1)).artifacts).toHaveLength(10_000);
  });

  function neverPrepared() {
    const run = line();
    run.document = { ...run.document, recovery: { status: "failed" } };
    return run;
  }
});

describe("the plan token", () => {
  const token = (run: PaperRun, request = failed, published: readonly Artifact[] = []) =>
    planned(run, request, published).planToken;
  test("is the same for the same plan", () => {
    expect(token(line())).toMatch(/^[0-9a-f]{64}$/);
    expect(token(line())).toBe(token(line()));
    expect(token(line(), from("upload", "audit"))).toBe(token(line(), from("audit", "upload", "upload")));
  });
  test("changes with the source, its artifacts, the configuration and the selection", () => {
    const later = line();
    later.document = { ...later.document, updatedAt: later.document.updatedAt + 1 };
    const other = line();
    other.dag = dagOf(other.dag.tasks.map((task) => ({ ...task, retries: 1 })));
    const tokens = [
      token(line()),
      token(later),
      token(other),
      token(line(), failed, [artifact("extract/a")]),
      token(line(), from("upload")),
    ];
    expect(new Set(tokens).size).toBe(5);
  });
  test("of a range is that of its plans", () => {
    const plans = [planned(line(), failed), planned(mapped(), failed)];
    expect(rangeToken(plans, sha256)).toMatch(/^[0-9a-f]{64}$/);
    expect(rangeToken(plans.toReversed(), sha256)).not.toBe(rangeToken(plans, sha256));
  });
});

describe("the new run", () => {
  const now = START + 99;
  test("reuses what is preserved and starts the rest afresh; nothing is claimed before it is prepared", () => {
    const run = line();
    const plan = planned(run, failed);
    const document = throughTheStore(recoveredRun(run.document, run.dag, plan, now));
    expect(document).toMatchObject({
      runKey: `recovery-${plan.planToken}`,
      runId: plan.planToken,
      kind: "recovery",
      logicalDate: run.document.logicalDate,
      state: "running",
      createdAt: now,
      configurationRevision: plan.configurationRevision,
      recovery: { ...planBody(plan), status: "preparing" },
    });
    expect(document.tasks.get("extract")).toEqual({ ...run.task("extract"), reusedFrom: run.document.runKey });
    expect(document.tasks.get("upload")).toMatchObject({ state: "pending", attempt: 0, startedAt: null });
    run.document = document;
    expect(run.pass()).toMatchObject({ claims: [], over: null });
    run.document = prepared(document, { kind: "ready" }, now + 1);
    expect(run.pass().claims).toMatchObject([{ taskKey: "upload", attempt: 0 }]);
  });
  test("selected instances keep index and item, a mapping made anew has none", () => {
    const run = mapped();
    const kept = recoveredRun(run.document, run.dag, planned(run, failed), now);
    expect(kept.mapped).toEqual(run.document.mapped);
    expect(kept.tasks.get("map#1")).toMatchObject({ state: "pending", mapIndex: 1, mapItem: "y" });
    expect(kept.tasks.get("map#0")).toMatchObject({ state: "success", reusedFrom: run.document.runKey });
    expect(kept.tasks.get("map")).toMatchObject({ state: "expanded" });
    const anew = recoveredRun(run.document, run.dag, planned(run, from("src")), now);
    expect(anew.mapped.size).toBe(0);
    expect([...anew.tasks.keys()].sort()).toEqual(["join", "map", "src"]);
    expect(anew.tasks.get("map")).toMatchObject({ state: "pending", mapped: true });
  });
  test("a gate that runs again needs a new decision", () => {
    const run = runOnPaper([{ id: "g", type: "approval" }]);
    run.pass();
    run.document = altered({ ...run.document, state: "failed" }, "g", {
      state: "failed",
      approval: { decision: "rejected", by: "a", at: START },
      approvalNotifiedAt: START,
    });
    const document = recoveredRun(run.document, run.dag, planned(run, failed), now);
    expect(document.tasks.get("g")).toMatchObject({ state: "pending", approval: null });
    expect(document.tasks.get("g")).not.toHaveProperty("approvalNotifiedAt");
  });
  test("whose artifacts cannot be copied has failed, and nothing of it ever ran", () => {
    const run = line();
    const document = recoveredRun(run.document, run.dag, planned(run, failed), now);
    run.document = prepared(document, { kind: "failed", reason: "artifact is missing: extract/data" }, now);
    expect(run.document).toMatchObject({
      state: "failed",
      recovery: { status: "failed", reason: "artifact is missing: extract/data" },
    });
    expect(run.pass()).toMatchObject({ claims: [], over: { byThisPass: false } });
    expect(prepared(run.document, { kind: "ready" }, now)).toBe(run.document);
  });
  test("the source is never changed", () => {
    const run = line();
    const before = structuredClone(run.document);
    recoveredRun(run.document, run.dag, planned(run, failed), now);
    expect(run.document).toEqual(before);
  });
  test("is for the request it was made for, and no other", () => {
    const run = line();
    const document = throughTheStore(recoveredRun(run.document, run.dag, planned(run, from("upload", "audit")), now));
    expect(isForRequest(document, from("audit", "upload"))).toBe(true);
    expect(isForRequest(document, from("audit"))).toBe(false);
    expect(isForRequest(document, failed)).toBe(false);
    expect(preparationOf(document)).toBe("preparing");
  });
});

describe("configurationRevision", () => {
  const revision = (tasks: string, keys = "") => {
    const [dag] = configOf(`state: {path: /s}\ndags:\n  - {name: d, ${keys}tasks: [${tasks}]}\n`).dags;
    if (dag === undefined) throw new Error("no dag");
    return configurationRevision(dag, sha256);
  };
  const [a, b] = ["{id: a, command: x}", "{id: b, command: y, dependsOn: [a]}"];
  const base = revision(`${a}, ${b}`);

  test("is that of tasks and launch settings, in any order", () => {
    expect(base).toMatch(/^[0-9a-f]{64}$/);
    expect(revision(`${b}, ${a}`)).toBe(base);
    expect(revision(`${a}, ${b}`, 'schedule: "0 2 * * *", retainRuns: 7, enabled: no, ')).toBe(base);
    expect(revision(`{id: a, command: x, onFailure: {report: {mail: {from: a, to: b}}}}, ${b}`)).toBe(base);
  });
  test.each([
    ["a command", "{id: a, command: z}"],
    ["retries", "{id: a, command: x, retries: 1}"],
    ["a variable's name", "{id: a, command: x, environment: [{key: V, value: w}]}"],
    ["the working directory", "{id: a, command: x, workingDirectory: /w}"],
    ["the kind", "{id: a, command: x, type: sensor}"],
  ])("changes with %s", (_, other) => expect(revision(`${other}, ${b}`)).not.toBe(base));
  test("not with a variable's value", () => {
    const withValue = (value: string) => revision(`{id: a, command: x, environment: [{key: V, value: ${value}}]}`);
    expect(withValue("v")).toBe(withValue("w"));
  });
  test("unknown or different in the source: the plan says so", () => {
    const run = line();
    expect(planned(run, failed)).toMatchObject({ sourceConfigurationRevision: null, configurationChanged: true });
    run.document = { ...run.document, configurationRevision: configurationRevision(run.dag, sha256) };
    expect(planned(run, failed).configurationChanged).toBe(false);
  });
});

describe("a range", () => {
  const listed = (day: number, createdAt: number, state: ListedRun["state"]): ListedRun => ({
    runKey: `${day}/${createdAt}`,
    runId: "",
    createdAt,
    state,
    logicalDate: `2026-09-0${day}T02:00:00+00:00`,
  });
  const day = (n: number) => Date.UTC(2026, 8, n, 2);
  test("is the newest run of each date in it, where that has failed", () => {
    const runs = [
      listed(1, 1, "failed"),
      listed(2, 2, "failed"),
      listed(2, 3, "success"),
      listed(3, 5, "failed"),
      listed(3, 4, "success"),
      listed(4, 6, "failed"),
      { ...listed(1, 9, "failed"), logicalDate: null },
    ];
    const { dates, runs: sources } = rangeSources(runs, day(1), day(3));
    expect(dates).toBe(3);
    expect(sources.map(({ runKey }) => runKey)).toEqual(["1/1", "3/5"]);
  });
});
