import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../src/journal/ledger/ledger.ts";
import { createTrendBook, type TrendBook } from "../../src/journal/ledger/trends.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

const jobs = [
  jobConfig({ name: "job" }),
  jobConfig({ name: "forbid", concurrencyPolicy: "Forbid" }),
  jobConfig({ name: "off", enabled: false }),
  jobConfig({
    name: "retrying",
    retry: { maximumRetries: 3, initialDelaySeconds: 30, maximumDelaySeconds: 60, backoffMultiplier: 2 },
  }),
  jobConfig({
    name: "for-ever",
    retry: { maximumRetries: "unlimited", initialDelaySeconds: 30, maximumDelaySeconds: 60, backoffMultiplier: 2 },
  }),
];
let node: WebNode;
beforeEach(async () => {
  node = await startWebNode({ jobs, at: "2026-11-30T08:49:05Z", web: { headers: { "X-Demo": "1" } } });
});
afterEach(() => node.stop());

const error = async (path: string, body?: unknown): Promise<unknown[]> => {
  const { status, json } = await node.post(path, body);
  return [status, json().error];
};

test("start launches as a fire would, and says when it did not (acceptance 7)", async () => {
  const answer = await node.post("/jobs/job/start");
  expect(answer.json()).toEqual({ started: "job", launched: true, runId: node.run("job").runId });
  expect((await node.post("/jobs/forbid/start")).json()).toMatchObject({ started: "forbid", launched: true });
  const second = await node.post("/jobs/forbid/start");
  expect([second.status, second.json()]).toEqual([200, { started: "forbid", launched: false, reason: "forbidden" }]);
  expect(node.runs.filter(({ job }) => job === "forbid")).toHaveLength(1);
  expect(await error("/jobs/nope/start")).toEqual([404, "job 'nope' not found"]);
  expect(await error("/jobs/off/start")).toEqual([409, "job 'off' is disabled"]);
  expect((await node.post("/jobs/off/start")).headers["x-demo"]).toBe("1");
  expect((await node.post("/jobs/nope/start")).headers["x-demo"]).toBeUndefined();
});

test("a paused job can be started by hand (acceptance 7)", async () => {
  await node.post("/jobs/job/pause");
  expect((await node.post("/jobs/job/start")).json().launched).toBe(true);
});

test("cancel answers when every instance is gone; the row says who did it (acceptance 8)", async () => {
  expect(await error("/jobs/job/cancel")).toEqual([409, "job 'job' is not running"]);
  expect(await error("/jobs/nope/cancel")).toEqual([404, "job 'nope' not found"]);
  await node.post("/jobs/job/start");
  await node.post("/jobs/job/start");
  let isAnswered = false;
  const cancelling = node.post("/jobs/job/cancel").finally(() => {
    isAnswered = true;
  });
  await expect.poll(() => node.runs.every((run) => run.stopped === "cancelled")).toBe(true);
  expect(isAnswered).toBe(false);
  for (const run of node.runs) run.exit(-15);
  expect((await cancelling).json()).toEqual({ cancelled: "job", instances: 2 });
  expect((await node.get("/jobs/job")).json().last_run).toMatchObject({
    outcome: "cancelled",
    exit_code: -15,
    fail_reason: "cancelled via web UI",
  });
});

test.each([
  ["[]", "request body must be a JSON object"],
  ["nonsense", "request body is not valid JSON"],
  ['"text"', "request body must be a JSON object"],
  ["null", "request body must be a JSON object"],
  [Buffer.from([0x7b, 0xff, 0x7d]), "request body is not valid JSON"],
  [`{"note":"${"x".repeat(2 * 1024 * 1024)}"}`, "request body is not valid JSON"],
  ['{"durationSeconds":true}', "durationSeconds must be an integer"],
  ['{"durationSeconds":1.5}', "durationSeconds must be an integer"],
  ['{"durationSeconds":"60"}', "durationSeconds must be an integer"],
  ['{"until":5}', "until must be an ISO-8601 timestamp string"],
  ['{"until":"soon"}', "until is not a valid ISO-8601 timestamp"],
  ['{"note":5}', "note must be a string"],
  ['{"by":5}', "by must be a string"],
])("a pause request %s is refused, job or no job", async (body, reason) => {
  for (const name of ["job", "nope"]) {
    const answer = await node.ask("POST", `/jobs/${name}/pause`, { body });
    expect([answer.status, answer.json().error, answer.headers["x-demo"]]).toEqual([400, reason, undefined]);
  }
});

test.each([
  [{ durationSeconds: 60, until: "2026-12-01T00:00:00Z" }, "give durationSeconds or until, not both"],
  [{ durationSeconds: 0 }, "durationSeconds must be between 1 and 2592000"],
  [{ durationSeconds: 2_592_001 }, "durationSeconds must be between 1 and 2592000"],
  [{ until: "2026-11-30T08:49:05" }, "until is in the past"],
  [{ until: "2027-11-30T08:49:05Z" }, "until is more than 2592000 seconds away"],
  [{ note: "x".repeat(501) }, "note is longer than 500 characters"],
  [{ by: "x".repeat(101) }, "by is longer than 100 characters"],
])("a pause request %o makes no sense for a job that is there", async (body, reason) => {
  expect(await error("/jobs/job/pause", body)).toEqual([400, reason]);
  expect(await error("/jobs/nope/pause", body)).toEqual([404, "job 'nope' not found"]);
});

test("a pause holds its slots, each leaves a row, and it ends by itself (acceptance 9, 11)", async () => {
  const paused = await node.ask("POST", "/jobs/job/pause", {
    body: '{"durationSeconds":110,"note":"move","by":"alice"}',
    headers: { "content-type": "text/plain" },
  });
  const shown = {
    since: "2026-11-30T08:49:05+00:00",
    until: "2026-11-30T08:50:55+00:00",
    note: "move",
    by: "alice",
    channel: "api",
  };
  expect(paused.json()).toEqual({ paused: shown });
  expect((await node.get("/jobs/job")).json().paused).toEqual(shown);
  await node.until("2026-11-30T08:50:10Z");
  const { runs, stats } = (await node.get("/jobs/job/runs")).json();
  expect(runs).toEqual([
    {
      outcome: "skipped",
      exit_code: null,
      started_at: null,
      finished_at: "2026-11-30T08:50:00+00:00",
      duration: null,
      fail_reason: null,
      skip_reason: "paused",
      resources: null,
      trigger: { kind: "schedule", slot: "2026-11-30T08:50:00+00:00" },
    },
  ]);
  expect([stats.total, stats.success, stats.failure, stats.success_rate]).toEqual([1, 0, 0, null]);
  await node.until("2026-11-30T08:50:56Z");
  expect((await node.get("/jobs/job")).json().paused).toBeNull();
});

test("figures are over all rows that are kept; what did not run, and what was cancelled, is no success and no failure (acceptance 11)", async () => {
  const end = async (exitCode: number): Promise<void> => {
    await node.post("/jobs/job/start");
    node.run("job").exit(exitCode);
  };
  for (const exitCode of [0, 0, 0, 1]) await end(exitCode);
  await node.post("/jobs/job/start");
  const cancelling = node.post("/jobs/job/cancel");
  await expect.poll(() => node.run("job").stopped).toBe("cancelled");
  node.run("job").exit(-15);
  await cancelling;
  await node.post("/jobs/job/pause");
  await node.until("2026-11-30T08:50:01Z");
  const { runs, stats } = (await node.get("/jobs/job/runs?limit=1")).json();
  expect(runs).toMatchObject([{ outcome: "skipped" }]);
  expect(stats).toMatchObject({ total: 6, success: 3, failure: 1, cancelled: 1, success_rate: 0.75 });
});

test.each<[source: string, trendBook: () => TrendBook | null]>([
  ["memory", () => null],
  ["memory", () => ledgerOf({ kind: "failed", failure: { reason: "io", message: "ENOTDIR" } })],
  ["durable", () => ledgerOf({ kind: "done", value: [] })],
])("trends always answer, here from %s (acceptance 12)", async (source, trendBook) => {
  const here = await startWebNode({ jobs, at: "2026-11-30T08:49:05Z", parts: { trendBook } });
  try {
    const answer = await here.get("/jobs/job/trends");
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      { name: "job", source, windows: { "1h": { total: 0 } } },
    ]);
  } finally {
    await here.stop();
  }
});

function ledgerOf(outcome: Awaited<ReturnType<Ledger["newest"]>>): TrendBook {
  return createTrendBook({ newest: async () => outcome }, simulatedClock(0));
}

test("resume ends a pause, and is no error without one (acceptance 9)", async () => {
  await node.post("/jobs/job/pause");
  for (let time = 0; time < 2; time++)
    expect((await node.post("/jobs/job/resume", { by: "bob" })).json()).toEqual({ paused: null });
  expect((await node.get("/jobs/job")).json().paused).toBeNull();
  expect(await error("/jobs/job/resume", { by: 5 })).toEqual([400, "by must be a string"]);
  expect(await error("/jobs/nope/resume")).toEqual([404, "job 'nope' not found"]);
});

test("an armed retry shows, also while it runs; a job that is well shows none (acceptance 10)", async () => {
  await node.until("2026-11-30T08:50:01Z");
  for (const name of ["job", "retrying", "for-ever"]) node.run(name).exit(name === "job" ? 0 : 7);
  const retry = { attempt: 1, maxAttempts: 3, nextRetryAt: "2026-11-30T08:50:31+00:00", delaySeconds: 30 };
  const shown = async (name: string): Promise<unknown> => (await node.get(`/jobs/${name}`)).json().retry;
  expect([await shown("job"), await shown("retrying"), await shown("for-ever")]).toEqual([
    undefined,
    retry,
    { ...retry, maxAttempts: null },
  ]);
  await node.until("2026-11-30T08:50:32Z");
  expect(await shown("retrying")).toEqual(retry);
  expect((await node.get("/jobs/retrying")).json().live).toMatchObject([
    { attempt: 1, trigger: { kind: "retry", attempt: 1 } },
  ]);
  node.run("retrying").exit(0);
  expect(await shown("retrying")).toBeUndefined();
});

test("routes without a body read none, of whatever size", async () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 120);
  expect((await node.ask("POST", "/jobs/job/start", { body })).status).toBe(200);
});

test("a job that is removed while it runs stays in sight, and can be cancelled", async () => {
  await node.post("/jobs/job/start");
  await node.apply(configOf(jobs.slice(1)));
  const shown = async () => (await node.get("/jobs")).json().filter(({ name }: { name: string }) => name === "job");
  expect(await shown()).toMatchObject([{ running: true, removed: true, scheduled_in: null }]);
  expect(await error("/jobs/job/start")).toEqual([404, "job 'job' not found"]);
  const cancelling = node.post("/jobs/job/cancel");
  await expect.poll(() => node.run("job").stopped).toBe("cancelled");
  node.run("job").exit(-15);
  expect((await cancelling).json()).toEqual({ cancelled: "job", instances: 1 });
  expect(await shown()).toEqual([]);
  expect((await node.get("/jobs/job")).status).toBe(404);
});
