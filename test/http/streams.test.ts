import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settled } from "../../src/platform/simulated-clock.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, type WebNode } from "../support/web-node.ts";

let node: WebNode;
beforeEach(async () => {
  node = await startWebNode({
    jobs: [jobConfig({ name: "job" }), jobConfig({ name: "idle" })],
    at: "2026-11-30T08:49:05Z",
  });
});
afterEach(() => node.stop());

interface Tail {
  readonly response: IncomingMessage;
  readonly sent: ClientRequest;
  text(): string;
  readonly ended: Promise<unknown>;
}

async function follow(path: string, headers: Record<string, string> = {}): Promise<Tail> {
  const sent = request({ host: "127.0.0.1", port: node.port(), path, headers, agent: false });
  sent.on("error", () => {}); // tests that cut it know
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    text += chunk;
  });
  response.on("error", () => {});
  return { response, sent, text: () => text, ended: new Promise((resolve) => response.once("close", resolve)) };
}

/** Of a run's own log: with its number and the instant it was read. */
const numbered = (id: number, text: string, stream = "stdout", second = "05"): string =>
  `id: ${id}\nevent: line\ndata: {"stream":"${stream}","line":${JSON.stringify(text)},"ts":"2026-11-30T08:49:${second}+00:00"}\n\n`;
const line = (text: string, stream = "stdout"): string =>
  `event: line\ndata: {"stream":"${stream}","line":${JSON.stringify(text)}}\n\n`;
const END = "event: end\ndata: {}\n\n";

test("tails begun before, during and after a run have every line once, in order, and the end (acceptance 28)", async () => {
  await node.post("/jobs/job/start");
  const run = node.run("job");
  const early = await follow("/jobs/job/logs");
  expect(early.response.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "transfer-encoding": "chunked",
  });
  run.print("stdout", "one", 'two "quoted"\t<b>');
  run.print("stderr", "three");
  const midway = await follow("/jobs/job/logs"); // before the first batch has gone out
  await expect.poll(early.text).toContain("three");
  const later = await follow("/jobs/job/logs");
  run.print("stdout", "four");
  run.exit(0);
  await Promise.all([early.ended, midway.ended, later.ended]);
  const whole = `${line("one")}${line('two "quoted"\t<b>')}${line("three", "stderr")}${line("four")}${END}`;
  expect([early.text(), midway.text(), later.text()]).toEqual([whole, whole, whole]);
  expect((await node.get("/jobs/job/logs")).text).toBe(whole);
});

test("a job that never ran, and one whose newest row kept nothing (acceptance 28)", async () => {
  expect((await node.get("/jobs/idle/logs")).text).toBe('event: end\ndata: {"reason": "no-output"}\n\n');
  await node.post("/jobs/idle/start");
  node.run("idle").print("stdout", "kept");
  node.run("idle").exit(0);
  expect((await node.get("/jobs/idle/logs")).text).toContain("kept");
  await node.post("/jobs/idle/pause");
  await node.until("2026-11-30T08:50:01Z"); // a skipped slot is the newest row now
  expect((await node.get("/jobs/idle/logs")).text).toBe(END);
  expect((await node.get("/jobs/nope/logs")).status).toBe(404);
});

test("only the newest thousand lines are sent again (acceptance 29)", async () => {
  await node.post("/jobs/job/start");
  node.run("job").print("stdout", ...Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`));
  node.run("job").exit(0);
  const lines = (await node.get("/jobs/job/logs")).text.match(/"line":"line \d+"/g) ?? [];
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([1000, '"line":"line 4001"', '"line":"line 5000"']);
});

test("silence is pinged, talk is not (acceptance 28)", async () => {
  await node.post("/jobs/job/start");
  const tail = await follow("/jobs/job/logs");
  await node.until("2026-11-30T08:49:19Z");
  node.run("job").print("stdout", "talk");
  await expect.poll(tail.text).toBe(line("talk"));
  await node.until("2026-11-30T08:49:33Z");
  expect(tail.text()).toBe(line("talk"));
  await node.until("2026-11-30T08:49:36Z");
  await expect.poll(tail.text).toBe(`${line("talk")}: ping\n\n`);
  node.run("job").exit(0);
  await tail.ended;
});

test("a reader that does not read costs a bounded queue; it gets the newest lines and the end (acceptance 29)", async () => {
  await node.post("/jobs/job/start");
  const run = node.run("job");
  const stalled = await stall();
  const text = "x".repeat(10_000);
  for (let batch = 0; batch < 150; batch++) {
    run.print("stdout", ...Array.from({ length: 20 }, (_, index) => `${batch * 20 + index} ${text}`));
    await settled();
  }
  run.exit(0);
  let received = "";
  stalled.setEncoding("latin1");
  stalled.on("data", (chunk: string) => {
    received += chunk.replaceAll(/x{2,}/g, "");
  });
  await expect.poll(() => received.includes("event: end")).toBe(true);
  stalled.destroy();
  const lines = received.match(/"line":"\d+ /g) ?? [];
  expect(lines.length).toBeLessThan(2_500); // 30 MB were printed; what the system itself holds for a socket is less
  expect(lines.at(-1)).toBe('"line":"2999 ');
});

test.each(["goes on", "has ended"])(
  "a reader that takes nothing for five minutes is let go of; its run %s",
  async (run) => {
    await node.post("/jobs/job/start");
    const stalled = await stall();
    for (let batch = 0; batch < 100; batch++) {
      node.run("job").print("stdout", "x".repeat(100_000));
      await settled();
    }
    if (run === "has ended") node.run("job").exit(0);
    await settled();
    const closed = once(stalled, "close");
    await node.until("2026-11-30T08:55:00Z");
    stalled.resume();
    await closed;
  },
);

/** Follows the log without reading more than its beginning. */
async function stall(): Promise<Socket> {
  const socket = connect(node.port(), "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /jobs/job/logs HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "readable");
  return socket;
}

test("2,000 readers that leave, and 20 that stop reading, leave nothing behind (acceptance 29, F51)", async () => {
  await node.post("/jobs/job/start");
  const run = node.run("job");
  const files = (): number => readdirSync("/proc/self/fd").length;
  const [filesBefore, timersBefore] = [files(), node.clock.pending];
  const stalled = await Promise.all(Array.from({ length: 20 }, stall));
  for (let round = 0; round < 20; round++) {
    const tails = await Promise.all(Array.from({ length: 100 }, () => follow("/jobs/job/logs")));
    run.print("stdout", `round ${round} ${"x".repeat(2_000)}`);
    for (const [index, tail] of tails.entries()) {
      if (index % 2 === 0) tail.sent.destroy();
      else tail.response.socket.resetAndDestroy();
    }
    await Promise.all(tails.map(({ ended }) => ended));
  }
  for (const socket of stalled) socket.resetAndDestroy();
  await expect.poll(files).toBeLessThanOrEqual(filesBefore + 2);
  await expect.poll(() => node.clock.pending).toBe(timersBefore);
  run.print("stdout", "still there");
  run.exit(0);
  expect((await node.get("/jobs/job/logs")).text).toContain("still there");
});

test("stopping the API ends every tail at once, whatever its run does", async () => {
  await node.post("/jobs/job/start");
  const tails = await Promise.all([follow("/jobs/job/logs"), follow("/jobs/job/logs")]);
  node.run("job").print("stdout", "so far");
  await expect.poll(() => tails.every((tail) => tail.text() !== "")).toBe(true);
  const stopped = node.web.stop();
  await Promise.all(tails.map(({ ended }) => ended));
  expect(tails.map((tail) => tail.text())).toEqual([`${line("so far")}${END}`, `${line("so far")}${END}`]);
  await stopped;
});

test("a run has its log by its id: numbered and timed, and taken up again where the reader was cut off", async () => {
  await node.post("/jobs/job/start");
  const run = node.run("job");
  const path = `/jobs/job/runs/${run.runId}/logs`;
  const first = await follow(path);
  run.print("stdout", "one", "two");
  await expect.poll(first.text).toContain("two");
  expect(first.text()).toBe(numbered(1, "one") + numbered(2, "two"));
  first.sent.destroy();
  await node.until("2026-11-30T08:49:07Z");
  run.print("stderr", "three");
  const again = await follow(path, { "last-event-id": "2" });
  run.exit(3);
  await again.ended;
  expect(again.text()).toBe(
    `${numbered(3, "three", "stderr", "07")}event: end\ndata: {"runId":"${run.runId}","outcome":"failure","source":"live"}\n\n`,
  );
  expect((await node.get(`${path}?after=1`)).text).toMatch(/^id: 2\n/);
  expect((await node.get("/jobs/job/runs/nope/logs")).json()).toEqual({ error: "job 'job' has no run 'nope'" });
});

test("lines that are kept no more are told as a gap", async () => {
  await node.post("/jobs/job/start");
  const run = node.run("job");
  run.print("stdout", ...Array.from({ length: 1500 }, (_, index) => String(index + 1)));
  run.exit(0);
  const { text } = await node.get(`/jobs/job/runs/${run.runId}/logs?after=100`);
  expect(text).toMatch(
    /^event: gap\ndata: \{"missed":400\}\n\nid: 501\nevent: line\ndata: \{"stream":"stdout","line":"501","ts":"[^"]+"\}\n/,
  );
});
