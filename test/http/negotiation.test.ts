import { afterAll, beforeAll, expect, test } from "vitest";
import { asksForJson } from "../../src/http/accept.rules.ts";
import { countdown } from "../../src/http/payloads/overview.ts";
import { jobConfig } from "../support/job-config.ts";
import { configOf } from "../support/node.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

let node: WebNode;
beforeAll(async () => {
  const jobs = [
    jobConfig({ name: "soon" }),
    jobConfig({ name: "off", enabled: false }),
    jobConfig({ name: "boot", timing: { kind: "reboot" }, scheduleText: "@reboot" }),
  ];
  node = await startWebNode({
    at: "2026-11-30T08:49:06Z",
    config: configOf(jobs),
    web: {
      headers: {
        "X-Demo": "1",
        "content-TYPE": "text/x-evil",
        "Content-Length": "3",
        "bad name": "x",
        "X-Bad": "a\nb",
      },
    },
  });
});
afterAll(() => node.stop());

test.each([
  ["application/json", true],
  ["text/html, application/json;q=0.1", true],
  ["Application/JSON", true],
  [undefined, false],
  ["*/*", false],
  ["application/*", false],
  ["application/jsonp", false],
])("Accept %s asks for JSON: %s", (accept, asks) => {
  expect(asksForJson(accept)).toBe(asks);
});

test("status is text for people and JSON for those who ask (acceptance 4)", async () => {
  expect((await node.get("/status")).text).toBe(
    "soon: scheduled (in 54 seconds)\noff: disabled\nboot: running (pid: )",
  );
  await node.until("2026-11-30T08:49:06Z");
  expect((await node.get("/status", { accept: "application/json" })).json()).toEqual([
    { job: "soon", status: "scheduled", scheduled_in: 54 },
    { job: "off", status: "disabled" },
    { job: "boot", status: "running", pid: [node.run("boot").pid] },
  ]);
  node.run("boot").exit(0);
  expect((await node.get("/status")).text).toMatch(/boot: scheduled \(@reboot\)$/);
  const text = await node.get("/job-set-id", { accept: "application/*" });
  expect([text.headers["content-type"], text.text]).toEqual(["text/plain; charset=utf-8", node.control.jobSetId()]);
  expect((await node.get("/job-set-id", { accept: "application/json" })).json()).toEqual({
    job_set_id: node.control.jobSetId(),
    jobs: 3,
  });
});

test.each([
  [0, "in 0 second"],
  [1.9, "in 1 second"],
  [2, "in 2 seconds"],
  [119.9, "in 119 seconds"],
  [120, "in 2 minutes"],
  [7199, "in 119 minutes"],
  [7200, "in 2 hours"],
  [47.9 * 3600, "in 47 hours"],
  [48 * 3600, "in 2 days"],
])("%d seconds: %s", (seconds, words) => {
  expect(countdown(seconds)).toBe(words);
});

test("configured headers go with what succeeds, never change its type, and cannot break it (acceptance 23)", async () => {
  const good = await node.get("/summary");
  expect([good.headers["x-demo"], good.headers["content-type"], good.headers["x-content-type-options"]]).toEqual([
    "1",
    "application/json",
    "nosniff",
  ]);
  expect(Number(good.headers["content-length"])).toBe(good.bytes.length);
  for (const path of ["/jobs", "/metrics", "/jobs/soon/logs", "/schedule/preview", "/version"])
    expect((await node.get(path)).headers["x-demo"]).toBe("1");
  for (const path of ["/nope", "/jobs/nope", "/schedule/why?job=nope&at=2026-01-01"])
    expect((await node.get(path)).headers["x-demo"]).toBeUndefined();
  expect((await node.ask("PUT", "/jobs")).headers["x-demo"]).toBeUndefined();
  expect((await node.ask("POST", "/shutdown")).headers["x-demo"]).toBe("1");
  const stream = await node.get("/jobs/soon/logs");
  expect([
    stream.headers["content-type"],
    stream.headers["cache-control"],
    stream.headers["x-accel-buffering"],
  ]).toEqual(["text/event-stream", "no-cache", "no"]);
  expect(node.logged.lines.filter((line) => line.includes("is left out"))).toHaveLength(2);
});

test("the summary counts, and names the next fire that will happen", async () => {
  await node.post("/jobs/soon/pause", { durationSeconds: 3600 });
  expect((await node.get("/summary")).json()).toMatchObject({
    node_name: "node-a",
    generated_at: "2026-11-30T08:49:06+00:00",
    jobs: { total: 3, enabled: 2, disabled: 1, running: 0, paused: 1, failing: 0, never_fires: 0 },
    next_fire: null,
    cluster: { enabled: false },
    draining: false,
  });
  await node.post("/jobs/soon/resume");
  expect((await node.get("/summary")).json().next_fire).toEqual({
    job: "soon",
    in: 54,
    at: "2026-11-30T08:50:00+00:00",
  });
});
