import { expect, test } from "vitest";
import { changesOf, dagLines, planLines, runLines, taskLines } from "../../../src/commands/dag/tables.ts";
import type { DagRunDocument } from "../../../src/contract/wire/dags.ts";

const at = Date.parse("2026-01-02T03:04:05Z") / 1000;

function runOf(tasks: DagRunDocument["tasks"], state = "running"): DagRunDocument {
  const times = { createdAt: at, updatedAt: at };
  return {
    dag: "re lease",
    runKey: "manual-1",
    runId: "r",
    kind: "manual",
    logicalDate: null,
    mapped: {},
    state,
    tasks,
    ...times,
  };
}

test("a run's tasks: how they went, why, by whom; a gate that waits says how it is decided", () => {
  const run = runOf({
    build: {
      state: "success",
      attempt: 1,
      host: "vm",
      startedAt: at,
      finishedAt: at + 1.25,
      exitCode: 0,
      reusedFrom: "manual-0",
    },
    check: {
      state: "failed",
      attempt: 1,
      host: "vm",
      startedAt: at,
      finishedAt: at + 2,
      exitCode: 3,
      failReason: "exit\n\u001b[31m3",
    },
    asked: { state: "success", attempt: 0, approval: { decision: "approved", by: "ann", at } },
    "sign-off": { state: "running", awaitingApproval: true, attempt: 0, startedAt: at },
    "say 'go'": { state: "pending" },
  });
  expect(taskLines(run).join("\n")).toMatchInlineSnapshot(`
    "re lease manual-1: running (manual, created 2026-01-02T03:04:05Z)
    task      state                 failures  host  started               took   exit  reason
    build     success               1         vm    2026-01-02T03:04:05Z  1.3 s  0     from manual-0
    check     failed                1         vm    2026-01-02T03:04:05Z  2.0 s  3     exit\\n\\u001b[31m3
    asked     success               0         -     -                     -      -     approved by ann
    sign-off  waits for a decision  0         -     2026-01-02T03:04:05Z  -      -     -
    say 'go'  pending               -         -     -                     -      -     -
    decide it: cronstable dag approve 're lease' manual-1 sign-off   (or reject)"
  `);
});

test("runs and DAGs have a line each, and say when there are none", () => {
  const run = { runKey: "k", runId: "r", state: "success", kind: "backfill", logicalDate: "2026-01-01T00:00:00+00:00" };
  const times = { createdAt: at, updatedAt: at };
  expect(runLines([{ ...run, ...times, taskStates: { success: 2, skipped: 1 } }]).join("\n")).toMatchInlineSnapshot(`
    "run  kind      state    date                       created               tasks
    k    backfill  success  2026-01-01T00:00:00+00:00  2026-01-02T03:04:05Z  2 success, 1 skipped"
  `);
  expect(runLines([])).toEqual(["no runs"]);
  const task = { id: "a", type: "task", dependsOn: [], triggerRule: "all_success", retries: 0, mapped: false } as const;
  const dag = { name: "d", enabled: true, scheduled: false, retainRuns: 50, tasks: [task] };
  const scheduled = {
    ...dag,
    name: "nightly",
    enabled: false,
    schedule: "0 2 * * *",
    totalRuns: 3,
    latestRun: { runKey: "k", state: "failed", kind: "manual", ...times },
    awaiting: [{ runKey: "k", taskkey: "a", since: null }],
  };
  expect(dagLines([dag, scheduled]).join("\n")).toMatchInlineSnapshot(`
    "name     schedule              next  tasks  runs  latest                       waiting gates
    d        by hand               -     1      -     -                            -
    nightly  0 2 * * * (disabled)  -     1      3     failed 2026-01-02T03:04:05Z  1"
  `);
  expect(dagLines([])).toEqual(["no workflows"]);
});

test("following a run, each change of a task is told once", () => {
  const first = runOf({ a: { state: "running", attempt: 0 }, b: { state: "pending", attempt: 0 } });
  expect(changesOf(null, first)).toEqual(["a: running"]);
  expect(changesOf(first, first)).toEqual([]);
  const retried = { state: "up_for_retry", attempt: 1, failReason: "command exited with code 1" };
  const gate = { state: "running", attempt: 0, awaitingApproval: true };
  const second = runOf({ a: retried, b: { state: "pending", attempt: 0 }, g: gate, "m#0": { state: "pending" } });
  expect(changesOf(first, second)).toEqual([
    "a: up_for_retry (command exited with code 1)",
    "g: waits for a decision: cronstable dag approve 're lease' manual-1 g",
  ]);
  const third = runOf({ ...second.tasks, a: { ...retried, state: "success" }, g: { state: "skipped", attempt: 0 } });
  expect(changesOf(second, third)).toEqual(["a: success", "g: skipped"]);
});

test("a recovery's plan says what it makes again, what it reuses, and what may stand in its way", () => {
  const plan = { dryRun: true, tasks: ["a", "b"], preserved: [], resetMappings: ["m"], configurationChanged: true };
  expect(planLines(plan)).toEqual([
    "runs again: a, b",
    "reused:     nothing",
    "fans out anew: m",
    "the configuration is not known to be the one this run had: --allow-config-change accepts that",
  ]);
});
