import { afterAll, beforeAll, expect, test } from "vitest";
import type { WebNode } from "../support/web-node.ts";
import { sampleNode } from "./sample-node.ts";
import { keysOf, missing, sample, sampleIndex, sampleText } from "./samples.ts";

let node: WebNode;

beforeAll(async () => {
  node = await sampleNode();
});
afterAll(() => node.stop());

/** What other parts serve, or what needs another set-up; their shapes are tested by themselves. */
const elsewhere = [
  /^(?:cluster|fleet|jobs\.clustered|summary\.clustered|node\.clustered)(?!.*disabled)/,
  /^(?:state|push\.|dags|dag-run|dag-xcom|action\.(?:trigger|decision|backfill))/,
  /^(?:whoami\.(?:anonymous|scoped|full)|error\.(?:401|403-anonymous|403-scope|403-push|403-state))/,
  /^(?:metrics|logs\.(?:live|ping)|action\.(?:start|cancel|pause|resume)|resources\.long-running-finished)/,
  /^(?:runs\.long-running-cancelled|openapi-skeleton)/,
];
const names = Object.keys(sampleIndex()).filter((name) => !elsewhere.some((pattern) => pattern.test(name)));

test.each(names)("%s: same status, type, members and order (acceptance 1)", async (name) => {
  const { request, status, headers } = sampleIndex()[name] ?? fail();
  const body = request.body === null ? {} : { body: bodyText(request.body) };
  const answer = await node.ask(request.method, request.path, { headers: request.headers, ...body });
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]?.split(";")[0]).toBe(headers["Content-Type"]?.split(";")[0]);
  expect(Object.keys(headers).filter((header) => answer.headers[header.toLowerCase()] === undefined)).toEqual([]);
  if (!name.endsWith(".json")) return;
  const expected = sample(name);
  const actual = answer.json();
  expect(missing(expected, actual)).toEqual([]);
  expect(alikeKeys(actual, expected)).toEqual(alikeKeys(expected, actual));
});

test("texts are those of the samples (acceptance 4)", async () => {
  for (const name of ["logs.finished.sse.txt", "logs.no-output.sse.txt"])
    expect((await node.get(sampleIndex()[name]?.request.path ?? "")).text).toBe(sampleText(name));
  const status = (await node.get("/status")).text.split("\n");
  expect(status.map((line) => line.split(":")[0])).toEqual(
    sampleText("status.text.txt")
      .split("\n")
      .map((line) => line.split(":")[0]),
  );
  expect(status).toContain("disabled-job: disabled");
  expect(status).toContain("dead-schedule: never fires (schedule has no future occurrence)");
  expect(status.find((line) => line.startsWith("long-running"))).toMatch(/^long-running: running \(pid: \d+\)$/);
});

test("no instant is spelled with Z (acceptance 6)", async () => {
  const { text } = await node.get("/jobs");
  expect(text).not.toMatch(/\d\d:\d\d(?:\.\d+)?Z"/);
  expect(text).toMatch(/"finished_at":"2026-11-30T08:5\d:\d\d(?:\.\d{6})?\+00:00"/);
});

test("actions answer as in the samples", async () => {
  for (const name of ["action.start", "action.pause", "action.resume"]) {
    const { request } = sampleIndex()[`${name}.json`] ?? fail();
    const { status, json } = await node.post(request.path, request.body ?? undefined);
    expect({ name, status, missing: missing(sample(`${name}.json`), json()) }).toEqual({
      name,
      status: 200,
      missing: [],
    });
  }
  const cancelling = node.post("/jobs/long-running/cancel");
  await expect.poll(() => node.run("long-running").stopped).toBe("cancelled");
  node.run("long-running").exit(-15);
  expect((await cancelling).json()).toEqual({ cancelled: "long-running", instances: 1 });
  expect((await node.get("/jobs/long-running/runs")).json().runs[0]).toMatchObject({
    outcome: "cancelled",
    fail_reason: "cancelled via web UI",
  });
});

/** Keys that both have, as the first has them in order; of arrays the first item's. */
function alikeKeys(value: unknown, other: unknown): unknown {
  if (Array.isArray(value)) return Array.isArray(other) ? alikeKeys(value[0], other[0]) : null;
  const theirs = new Set(keysOf(other));
  return keysOf(value).filter((key) => theirs.has(key));
}

function bodyText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

function fail(): never {
  throw new Error("no such sample");
}
