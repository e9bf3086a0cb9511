import { afterEach, beforeEach, expect, test } from "vitest";
import type { DagConfig } from "../../src/config/model.ts";
import type { DagControl } from "../../src/contract/dag-control.ts";
import {
  type DagRunDocument,
  type DagRunSummary,
  type DagXcom,
  dag as dagShape,
} from "../../src/contract/wire/dags.ts";
import { liveOutput } from "../../src/execution/capture/live-output.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { utcZone } from "../../src/schedule/zone.ts";
import { configOf } from "../support/node.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";
import { sample } from "./samples.ts";

const task = {
  dependsOn: [],
  triggerRule: "all_success",
  retries: 0,
  retryDelaySeconds: 0,
  pokeIntervalSeconds: 1,
  pokeTimeoutSeconds: 1,
  pokeJitterSeconds: 0,
  onReject: "fail",
  job: null,
} as const;
const etl: DagConfig = {
  name: "etl",
  place: { file: "x", line: 1, column: 1 },
  tasks: [
    { ...task, id: "extract", type: "task", expand: null },
    { ...task, id: "gate", type: "approval", expand: { fromTask: "extract", key: "k" } },
  ],
  scheduleText: "0 2 * * *",
  timing: { kind: "timetable", schedule: parseSchedule("0 2 * * *"), zone: utcZone },
  utc: true,
  timezone: null,
  onMissed: "skip",
  startingDeadlineSeconds: null,
  catchupJitterSeconds: 0,
  clusterPolicy: "Leader",
  enabled: true,
  retainRuns: 50,
};
const config = { ...configOf([]), dags: [etl] };
const answers: { -readonly [K in keyof DagControl]?: unknown } = {};
const engine = new Proxy({} as DagControl, {
  get:
    (_, name: keyof DagControl) =>
    (...given: unknown[]) =>
      typeof answers[name] === "function" ? answers[name](...given) : answers[name],
});

let node: WebNode;
let without: WebNode;
beforeEach(async () => {
  node = await startWebNode({ config, parts: { dags: () => engine }, at: "2026-11-30T08:49:05Z" });
  without = await startWebNode({ config, at: "2026-11-30T08:49:05Z" });
});
afterEach(async () => {
  await Promise.all([node.stop(), without.stop()]);
});

const said = async (by: WebNode, method: string, path: string, body?: unknown) => {
  const { status, json } = await by.ask(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  return [status, json()];
};
const RUN = "/dags/etl/runs/k%3A1";
const notFound = [404, { error: "dag 'x' not found" }];

test("without the engine, the configuration is shown and nothing can be done (D-API-3)", async () => {
  const [status, list] = await said(without, "GET", "/dags");
  expect([status, dagShape.array().parse(list)]).toEqual([200, list]);
  expect(list).toEqual([
    {
      name: "etl",
      enabled: true,
      scheduled: true,
      retainRuns: 50,
      tasks: [
        { id: "extract", type: "task", dependsOn: [], triggerRule: "all_success", retries: 0, mapped: false },
        { id: "gate", type: "approval", dependsOn: [], triggerRule: "all_success", retries: 0, mapped: true },
      ],
      schedule: "0 2 * * *",
    },
  ]);
  const noStore = [404, { error: "no `state:` store is configured; DAG run documents only exist in a durable store" }];
  for (const path of ["/runs", "/runs/k", "/runs/k/xcom"]) {
    expect(await said(without, "GET", `/dags/etl${path}`)).toEqual(noStore);
    expect(await said(without, "GET", `/dags/x${path}`)).toEqual(notFound);
  }
  expect((await without.get("/dags/etl/runs/k/tasks/t/logs")).text).toBe(
    'event: end\ndata: {"reason": "no-output"}\n\n',
  );
  expect(await said(without, "GET", "/dags/x/runs/k/tasks/t/logs")).toEqual(notFound);
  expect((await said(without, "POST", "/dags/etl/trigger"))[0]).toBe(500);
  expect(await said(without, "POST", "/dags/x/trigger")).toEqual(notFound);
  expect(await said(without, "POST", "/dags/etl/backfill", { from: "a", to: "b" })).toEqual([
    503,
    { error: "backfill state is unavailable" },
  ]);
  expect(await said(without, "POST", "/dags/x/backfill", { from: "a", to: "b" })).toEqual([
    400,
    { error: "no such scheduled dag" },
  ]);
  expect(await said(without, "POST", `${RUN}/tasks/t/decision`, { decision: "approve" })).toEqual([
    409,
    { error: "no such run" },
  ]);
  expect(await said(without, "POST", "/dags/x/runs/k/tasks/t/decision", { decision: "approve" })).toEqual([
    409,
    { error: "no such dag" },
  ]);
  expect((await said(without, "GET", "/summary"))[1]).toMatchObject({ dags: { total: 1 } });
  expect(await said(without, "GET", "/dags/etl")).toEqual([404, { error: "404: Not Found" }]);
});

test("reads pass on what the engine says", async () => {
  answers.list = async () => sample("dags.json");
  expect((await said(node, "GET", "/dags"))[1]).toEqual(sample("dags.json"));
  const { runs } = sample("dag-runs.json") as { runs: DagRunSummary[] };
  answers.runs = async (_dag: string, limit: number) => ({ kind: "answer", value: runs.slice(0, limit) });
  expect((await said(node, "GET", "/dags/etl/runs"))[1]).toEqual(sample("dag-runs.json"));
  expect((await said(node, "GET", "/dags/etl/runs?limit=0"))[1]).toMatchObject({ runs: [runs[0]] });
  const document = sample("dag-run.json") as DagRunDocument;
  answers.run = async (_dag: string, runKey: string) =>
    runKey === "k:1" ? { kind: "answer", value: document } : { kind: "unknown run" };
  expect(await said(node, "GET", RUN)).toEqual([200, document]);
  expect(await said(node, "GET", "/dags/etl/runs/nope")).toEqual([404, { error: "dag 'etl' has no run 'nope'" }]);
  const xcom = sample("dag-xcom.json") as DagXcom;
  answers.xcom = async () => ({ kind: "answer", value: xcom });
  expect(await said(node, "GET", `${RUN}/xcom`)).toEqual([200, xcom]);
  for (const [kind, status, error] of [
    ["unknown dag", 404, "dag 'etl' not found"],
    ["unreadable", 500, "internal error; the reason is in the cronstable log"],
    ["timed out", 504, "the request timed out; the reason is in the cronstable log"],
  ] as const) {
    answers.runs = async () => ({ kind });
    expect(await said(node, "GET", "/dags/etl/runs")).toEqual([status, { error }]);
  }
});

test("a task's log is followed under its exact key", async () => {
  const source = liveOutput(node.clock);
  answers.taskOutput = (_dag: string, _run: string, taskKey: string) => ({
    kind: "answer",
    value: taskKey === "process#0" ? source.output : null,
  });
  source.publish("stdout", { text: "hi\n", lines: 1, bytes: 3 });
  source.end();
  expect((await node.get(`${RUN}/tasks/process%230/logs`)).text).toBe(
    'event: line\ndata: {"stream":"stdout","line":"hi"}\n\nevent: end\ndata: {}\n\n',
  );
  expect((await node.get(`${RUN}/tasks/process/logs`)).text).toContain("no-output");
});

test("actions say what came of them (F69)", async () => {
  answers.trigger = async () => ({ kind: "triggered", runKey: "manual-df4a142c4f0b" });
  expect(await said(node, "POST", "/dags/etl/trigger", { ignored: true })).toEqual([
    200,
    { dag: "etl", name: "etl", runKey: "manual-df4a142c4f0b" },
  ]);
  answers.trigger = async () => ({ kind: "not recorded" });
  expect((await said(node, "POST", "/dags/etl/trigger"))[0]).toBe(500);

  for (const [outcome, answer] of [
    [
      { kind: "created", instants: 3, created: 1, next: null },
      [200, { ok: true, created: 3, new: 1, truncated: false }],
    ],
    [
      { kind: "created", instants: 100, created: 100, next: "2026-04-11T00:00:00+00:00" },
      [200, { ok: true, created: 100, new: 100, truncated: true, next: "2026-04-11T00:00:00+00:00" }],
    ],
    [{ kind: "unknown dag" }, [400, { error: "no such scheduled dag" }]],
    [{ kind: "bad range" }, [400, { error: "bad date range" }]],
    [{ kind: "no instants" }, [400, { error: "the dag's schedule has no computable instants" }]],
    [{ kind: "unavailable" }, [503, { error: "backfill state is unavailable" }]],
  ]) {
    answers.backfill = async () => outcome;
    expect(await said(node, "POST", "/dags/etl/backfill", { from: "2026-01-01", to: "2026-01-02" })).toEqual(answer);
  }
  for (const body of [{}, { from: "x" }, { from: 1, to: "x" }])
    expect(await said(node, "POST", "/dags/etl/backfill", body)).toEqual([
      400,
      { error: "backfill needs string `from` and `to` ISO dates" },
    ]);

  const decided: unknown[][] = [];
  answers.decide = async (...given: unknown[]) => {
    decided.push(given);
    return { kind: "decided", state: "success" };
  };
  const path = `${RUN}/tasks/gate/decision`;
  expect(await said(node, "POST", path, { decision: "approve", by: "alice" })).toEqual([
    200,
    { ok: true, state: "success" },
  ]);
  await said(node, "POST", path, { decision: "reject", by: 5 });
  expect(decided).toEqual([
    ["etl", "k:1", "gate", "approve", "alice"],
    ["etl", "k:1", "gate", "reject", "api"],
  ]);
  expect(await said(node, "POST", path, { decision: "maybe" })).toEqual([
    400,
    { error: "decision must be 'approve' or 'reject'" },
  ]);
  for (const [kind, error] of [
    ["unknown dag", "no such dag"],
    ["unknown run", "no such run"],
    ["unknown task", "no such task"],
    ["not awaiting", "task is not awaiting approval"],
  ]) {
    answers.decide = async () => ({ kind });
    expect(await said(node, "POST", path, { decision: "approve" })).toEqual([409, { error }]);
  }
});

test("a decision the store does not confirm is an error, not a refusal", async () => {
  for (const [kind, status] of [
    ["unreadable", 500],
    ["timed out", 504],
  ]) {
    answers.decide = async () => ({ kind });
    expect((await said(node, "POST", `${RUN}/tasks/gate/decision`, { decision: "approve" }))[0]).toBe(status);
  }
});

test("recoveries are previewed, carried out, or refused with the reason", async () => {
  const asked: unknown[][] = [];
  for (const [outcome, answer] of [
    [{ kind: "preview", body: { dryRun: true, planToken: "ab" } }, [200, { dryRun: true, planToken: "ab" }]],
    [{ kind: "accepted", body: { dag: "etl", dryRun: false } }, [200, { dag: "etl", dryRun: false }]],
    [{ kind: "invalid", error: "bad date range" }, [400, { error: "bad date range" }]],
    [
      { kind: "refused", error: "source run is busy; retry shortly" },
      [409, { error: "source run is busy; retry shortly" }],
    ],
    [{ kind: "unavailable" }, [503, { error: "recovery state is unavailable" }]],
  ]) {
    answers.recover = async (...given: unknown[]) => {
      asked.push(given);
      return outcome;
    };
    answers.recoverRange = answers.recover;
    expect(await said(node, "POST", `${RUN}/recover`, { mode: "failed" })).toEqual(answer);
    expect(await said(node, "POST", "/dags/etl/recover", { from: "2026-01-01" })).toEqual(answer);
  }
  expect(asked.slice(0, 2)).toEqual([
    ["etl", "k:1", { mode: "failed" }],
    ["etl", { from: "2026-01-01" }],
  ]);
  expect(await said(without, "POST", `${RUN}/recover`)).toEqual([409, { error: "workflow not found" }]);
});

test("schedules of DAGs take part in the schedule tools and calendars, and are no jobs (D-SCH-3)", async () => {
  expect((await said(node, "GET", "/schedule/why?job=dag:etl&at=2026-07-14T02:00"))[1]).toMatchObject({
    job: "dag:etl",
    matches: true,
  });
  expect((await said(node, "GET", "/schedule/pressure"))[1]).toMatchObject({ jobs: 1, total_fires: 1 });
  expect((await node.get("/jobs/dag%3Aetl/calendar.ics?limit=1")).text).toContain("SUMMARY:dag:etl");
  expect((await node.get("/calendar.ics?limit=1")).text).toContain("SUMMARY:dag:etl");
  for (const path of ["/jobs/dag%3Aetl", "/jobs/dag%3Anope/calendar.ics"])
    expect((await node.get(path)).status).toBe(404);
  expect((await said(node, "GET", "/jobs"))[1]).toEqual([]);
});
