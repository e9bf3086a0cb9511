import { afterEach, beforeEach, expect, test } from "vitest";
import { fleetRuns, runDetail } from "../../src/contract/wire/run.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

const finishedAt = Date.parse("2026-11-30T08:51:01Z");
let node: WebNode;
beforeEach(async () => {
  const jobs = [jobConfig({ name: "Alpha" }), jobConfig({ name: "beta", archiveOutput: true })];
  const archived = {
    outcome: "success",
    exitCode: 0,
    finishedAt,
    lines: [{ stream: "stdout", line: "archived" }],
    droppedLines: 4,
    redacted: true,
  } as const;
  node = await startWebNode({
    jobs,
    at: "2026-11-30T08:49:05Z",
    parts: { archive: () => ({ newest: async () => ({ kind: "done", value: [archived] }) }) },
  });
  await node.until("2026-11-30T08:50:01Z");
  node.run("Alpha").exit(0);
  node.run("beta").exit(1);
  await node.until("2026-11-30T08:51:01Z");
  node.run("Alpha").exit(2);
  node.run("beta").exit(0);
});
afterEach(() => node.stop());

const list = async (query = ""): Promise<string[]> => {
  const answer = (await node.get(`/runs${query}`)).json();
  expect(fleetRuns.parse(answer)).toEqual(answer);
  return answer.runs.map(
    ({ job, outcome, finished_at }: { job: string; outcome: string; finished_at: string }) =>
      `${finished_at.slice(11, 16)} ${job} ${outcome}`,
  );
};

test("runs of all jobs, newest first, narrowed down", async () => {
  expect(await list()).toEqual([
    "08:51 beta success",
    "08:51 Alpha failure",
    "08:50 beta failure",
    "08:50 Alpha success",
  ]);
  expect(await list("?outcome=failure")).toEqual(["08:51 Alpha failure", "08:50 beta failure"]);
  expect(await list("?outcome=failure,success&q=ALP")).toEqual(["08:51 Alpha failure", "08:50 Alpha success"]);
  expect(await list("?since=2026-11-30T08:51:00Z")).toEqual(["08:51 beta success", "08:51 Alpha failure"]);
  expect(await list("?until=2026-11-30T08:51:00%2B00:00&limit=1")).toEqual(["08:50 beta failure"]);
  expect(await list("?kind=manual")).toEqual([]);
  expect(await list("?kind=schedule&limit=0")).toHaveLength(1);
});

test("pages follow one another without gap or repetition, also among runs that ended at once", async () => {
  const seen: string[] = [];
  let before = "";
  for (let page = 0; page < 4; page++) {
    const answer = (await node.get(`/runs?limit=1${before}`)).json();
    seen.push(`${answer.runs[0].finished_at.slice(11, 16)} ${answer.runs[0].job}`);
    before = `&before=${answer.next}`;
    if (page === 3) expect(answer.next).toBeNull();
  }
  expect(seen).toEqual(["08:51 beta", "08:51 Alpha", "08:50 beta", "08:50 Alpha"]);
});

test("what cannot be read is said", async () => {
  for (const [query, error] of [
    ["since=x", "since must be an ISO-8601 timestamp"],
    ["until=x", "until must be an ISO-8601 timestamp"],
    ["before=x", "before must be the next of an earlier answer"],
  ]) {
    const { status, json } = await node.get(`/runs?${query}`);
    expect([status, json()]).toEqual([400, { error }]);
  }
});

test("one run by its id: live, kept, archived, gone", async () => {
  await node.post("/jobs/Alpha/start");
  const shown = async (job: string, runId: string) => {
    const answer = (await node.get(`/jobs/${job}/runs/${runId}`)).json();
    expect(runDetail.parse(answer)).toEqual(answer);
    return [answer.status, answer.output, answer.trigger.kind, answer.run?.outcome];
  };
  const [alphaFirst, betaFirst, alphaSecond, betaSecond, live] = node.runs.map(({ runId }) => runId);
  expect(await shown("Alpha", live ?? "")).toEqual(["running", "live", "manual", undefined]);
  expect(await shown("Alpha", alphaSecond ?? "")).toEqual(["finished", "memory", "schedule", "failure"]);
  expect(await shown("Alpha", alphaFirst ?? "")).toEqual(["finished", null, "schedule", "success"]);
  expect(await shown("beta", betaFirst ?? "")).toEqual(["finished", "archive", "schedule", "failure"]);
  expect((await node.get(`/jobs/beta/runs/${alphaFirst}`)).json()).toEqual({
    error: `job 'beta' has no run '${alphaFirst}'`,
  });
  expect((await node.get("/jobs/nope/runs/x")).json()).toEqual({ error: "job 'nope' not found" });

  node.run("beta").exit(0);
  await node.until("2026-11-30T08:52:01Z");
  node.run("beta").exit(0);
  expect((await node.get(`/jobs/beta/runs/${betaSecond}/logs`)).text).toBe(
    `event: gap\ndata: {"missed":4}\n\nid: 5\nevent: line\ndata: {"stream":"stdout","line":"archived"}\n\nevent: end\ndata: {"runId":"${betaSecond}","outcome":"success","source":"archive"}\n\n`,
  );
  expect((await node.get(`/jobs/Alpha/runs/${alphaFirst}/logs`)).text).toBe(
    `event: end\ndata: {"runId":"${alphaFirst}","outcome":"success","source":null}\n\n`,
  );
});
