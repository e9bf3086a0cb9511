import { expect, test } from "vitest";
import type { JobConfig, RetryConfig } from "../../src/config/model.ts";
import { jobConfig } from "../support/job-config.ts";
import { exits, lasts, startNode } from "../support/node.ts";
import { everyHour } from "../support/timings.ts";

const retry = (
  maximumRetries: RetryConfig["maximumRetries"],
  initialDelaySeconds: number,
  over: Partial<RetryConfig> = {},
): RetryConfig => ({
  maximumRetries,
  initialDelaySeconds,
  maximumDelaySeconds: 100_000,
  backoffMultiplier: 2,
  ...over,
});

const flaky = (over: Partial<JobConfig>): JobConfig =>
  jobConfig({ name: "flaky", command: "./flaky.sh", timing: everyHour, ...over });

test("F-16, F-23: retries double their wait up to the cap, each failure is reported, the last one as permanent", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1) },
    jobs: [flaky({ retry: retry(6, 1, { maximumDelaySeconds: 10 }) })],
  });
  await node.until("12:01");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     retry      #1 in 1s
    12:00:01  flaky     settled    retry 1: launched
    12:00:01  flaky     start      retry 1
    12:00:01  flaky     failure    command exited with code 1
    12:00:01  flaky     report     onFailure
    12:00:01  flaky     retry      #2 in 2s
    12:00:03  flaky     settled    retry 2: launched
    12:00:03  flaky     start      retry 2
    12:00:03  flaky     failure    command exited with code 1
    12:00:03  flaky     report     onFailure
    12:00:03  flaky     retry      #3 in 4s
    12:00:07  flaky     settled    retry 3: launched
    12:00:07  flaky     start      retry 3
    12:00:07  flaky     failure    command exited with code 1
    12:00:07  flaky     report     onFailure
    12:00:07  flaky     retry      #4 in 8s
    12:00:15  flaky     settled    retry 4: launched
    12:00:15  flaky     start      retry 4
    12:00:15  flaky     failure    command exited with code 1
    12:00:15  flaky     report     onFailure
    12:00:15  flaky     retry      #5 in 10s
    12:00:25  flaky     settled    retry 5: launched
    12:00:25  flaky     start      retry 5
    12:00:25  flaky     failure    command exited with code 1
    12:00:25  flaky     report     onFailure
    12:00:25  flaky     retry      #6 in 10s
    12:00:35  flaky     settled    retry 6: launched
    12:00:35  flaky     start      retry 6
    12:00:35  flaky     failure    command exited with code 1
    12:00:35  flaky     report     onFailure
    12:00:35  flaky     settled    retry 6: exhausted
    12:00:35  flaky     permanent
    12:00:35  flaky     report     onPermanentFailure"
  `);
});

test("acceptance 20: slow reports push the retry back by as long as they take", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1, 0) },
    jobs: [flaky({ retry: retry(1, 5) })],
    reportSeconds: 20,
  });
  await node.until("12:01:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:20  flaky     retry      #1 in 5s
    12:00:25  flaky     settled    retry 1: launched
    12:00:25  flaky     start      retry 1
    12:00:25  flaky     success
    12:00:25  flaky     settled    retry 1: succeeded
    12:00:25  flaky     report     onSuccess"
  `);
});

test("F-17, F-51: without retries a failure is at once permanent", async () => {
  const node = startNode({ at: "2026-03-01T11:59:50Z", commands: { "./flaky.sh": exits(1) }, jobs: [flaky({})] });
  await node.until("12:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     permanent
    12:00:00  flaky     report     onPermanentFailure"
  `);
});

test("F-13: unlimited retries never end in a permanent failure", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1) },
    jobs: [flaky({ retry: retry("unlimited", 60, { maximumDelaySeconds: 60 }) })],
  });
  await node.until("12:59");
  expect(node.transcript()).not.toContain("permanent");
  expect(node.starts("flaky")).toHaveLength(60);
});

test("F-18: a scheduled fire ends the retries of the fire before it and starts its own", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1, 1, 0) },
    jobs: [flaky({ retry: retry(5, 2000, { backoffMultiplier: 1, maximumDelaySeconds: 2000 }) })],
  });
  await node.until("13:00:10");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     retry      #1 in 2000s
    12:33:20  flaky     settled    retry 1: launched
    12:33:20  flaky     start      retry 1
    12:33:20  flaky     failure    command exited with code 1
    12:33:20  flaky     report     onFailure
    12:33:20  flaky     retry      #2 in 2000s
    13:00:00  flaky     settled    retry 2: superseded
    13:00:00  flaky     start      schedule
    13:00:00  flaky     success
    13:00:00  flaky     report     onSuccess"
  `);
});

test("F-19: beside Allow's newer fire the failure of an older run is permanent", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": (run) => (run === 0 ? { exitCode: 1, seconds: 3700 } : { exitCode: 0, seconds: 300 }) },
    jobs: [flaky({ retry: retry(2, 60) })],
  });
  await node.until("13:20");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    13:00:00  flaky     start      schedule
    13:01:40  flaky     failure    command exited with code 1
    13:01:40  flaky     report     onFailure
    13:01:40  flaky     permanent
    13:01:40  flaky     report     onPermanentFailure
    13:05:00  flaky     success
    13:05:00  flaky     report     onSuccess"
  `);
});

test("F-20: a fire that Forbid drops leaves a pending retry and its count alone", async () => {
  const node = startNode({
    at: "2026-03-01T11:58:50Z",
    commands: { "./flaky.sh": (run) => ({ exitCode: 1, seconds: run === 0 ? 90 : run === 1 ? 3000 : 1 }) },
    jobs: [flaky({ timing: everyHour, concurrencyPolicy: "Forbid", retry: retry(3, 1000) })],
  });
  await node.until("12:00:30");
  await node.scheduler.startJob("flaky", null); // refused: it runs
  await node.until("13:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:30  flaky     refused    manual: forbidden
    12:01:30  flaky     failure    command exited with code 1
    12:01:30  flaky     report     onFailure
    12:01:30  flaky     retry      #1 in 1000s
    12:18:10  flaky     settled    retry 1: launched
    12:18:10  flaky     start      retry 1
    13:00:00  flaky     refused    schedule: forbidden
    13:08:10  flaky     failure    command exited with code 1
    13:08:10  flaky     report     onFailure
    13:08:10  flaky     retry      #2 in 2000s"
  `);
});

test("F-20: a manual run beside a waiting retry, and a fire that Forbid drops for it", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": (run) => (run === 1 ? { exitCode: 0, seconds: 1800 } : { exitCode: 1, seconds: 1 }) },
    jobs: [flaky({ concurrencyPolicy: "Forbid", retry: retry(3, 7200) })],
  });
  await node.until("12:50");
  await node.scheduler.startJob("flaky", "ann");
  await node.until("13:10");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:01  flaky     failure    command exited with code 1
    12:00:01  flaky     report     onFailure
    12:00:01  flaky     retry      #1 in 7200s
    12:50:00  flaky     start      manual
    13:00:00  flaky     refused    schedule: forbidden"
  `);
});

test("F-22: a manual start without a ladder fails permanently; with one it takes the next attempt", async () => {
  const node = startNode({
    at: "2026-03-01T11:30Z",
    commands: { "./flaky.sh": exits(1) },
    jobs: [flaky({ retry: retry(2, 600) })],
  });
  await node.scheduler.startJob("flaky", "ann");
  await node.until("12:05");
  await node.scheduler.startJob("flaky", "ann");
  await node.until("12:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "11:30:00  flaky     start      manual
    11:30:00  flaky     failure    command exited with code 1
    11:30:00  flaky     report     onFailure
    11:30:00  flaky     permanent
    11:30:00  flaky     report     onPermanentFailure
    12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     retry      #1 in 600s
    12:05:00  flaky     start      manual
    12:05:00  flaky     failure    command exited with code 1
    12:05:00  flaky     report     onFailure
    12:05:00  flaky     retry      #2 in 1200s
    12:25:00  flaky     settled    retry 2: launched
    12:25:00  flaky     start      retry 2
    12:25:00  flaky     failure    command exited with code 1
    12:25:00  flaky     report     onFailure
    12:25:00  flaky     settled    retry 2: exhausted
    12:25:00  flaky     permanent
    12:25:00  flaky     report     onPermanentFailure"
  `);
});

test("F-24: an older run that succeeds takes no retries from a newer one that has scheduled none", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    // the first run lasts over the second fire and succeeds while the second runs; the second fails later
    commands: {
      "./flaky.sh": (run) =>
        run === 0 ? { exitCode: 0, seconds: 3700 } : { exitCode: run === 1 ? 1 : 0, seconds: 300 },
    },
    jobs: [flaky({ retry: retry(2, 60) })],
  });
  await node.until("13:20");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    13:00:00  flaky     start      schedule
    13:01:40  flaky     success
    13:01:40  flaky     report     onSuccess
    13:05:00  flaky     failure    command exited with code 1
    13:05:00  flaky     report     onFailure
    13:05:00  flaky     retry      #1 in 60s
    13:06:00  flaky     settled    retry 1: launched
    13:06:00  flaky     start      retry 1
    13:11:00  flaky     success
    13:11:00  flaky     settled    retry 1: succeeded
    13:11:00  flaky     report     onSuccess"
  `);
});

test("F-24: once the newer run has scheduled a retry, a success of any run ends the sequence", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": (run) => (run === 0 ? { exitCode: 0, seconds: 3700 } : { exitCode: 1, seconds: 10 }) },
    jobs: [flaky({ retry: retry(2, 600) })],
  });
  await node.until("13:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    13:00:00  flaky     start      schedule
    13:00:10  flaky     failure    command exited with code 1
    13:00:10  flaky     report     onFailure
    13:00:10  flaky     retry      #1 in 600s
    13:01:40  flaky     success
    13:01:40  flaky     settled    retry 1: succeeded
    13:01:40  flaky     report     onSuccess"
  `);
});

test("F-24: a retry that runs when an older run succeeds fails permanently", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: {
      "./flaky.sh": (run) =>
        [
          { exitCode: 0, seconds: 3700 },
          { exitCode: 1, seconds: 10 },
          { exitCode: 1, seconds: 300 },
        ][run] ?? { exitCode: 0, seconds: 0 },
    },
    jobs: [flaky({ retry: retry(5, 30) })],
  });
  await node.until("13:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    13:00:00  flaky     start      schedule
    13:00:10  flaky     failure    command exited with code 1
    13:00:10  flaky     report     onFailure
    13:00:10  flaky     retry      #1 in 30s
    13:00:40  flaky     settled    retry 1: launched
    13:00:40  flaky     start      retry 1
    13:01:40  flaky     success
    13:01:40  flaky     settled    retry 1: succeeded
    13:01:40  flaky     report     onSuccess
    13:05:40  flaky     failure    command exited with code 1
    13:05:40  flaky     report     onFailure
    13:05:40  flaky     permanent
    13:05:40  flaky     report     onPermanentFailure"
  `);
});

test("F-25: an operator's cancel follows the rule of a success", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": (run) => (run === 0 ? { exitCode: 1, seconds: 1 } : { exitCode: 1, seconds: 100 }) },
    jobs: [flaky({ retry: retry(5, 60) })],
  });
  await node.until("12:01:30");
  const answer = node.scheduler.cancelJob("flaky");
  await node.until("12:59");
  expect(await answer).toEqual({ kind: "cancelled", instances: 1 });
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:01  flaky     failure    command exited with code 1
    12:00:01  flaky     report     onFailure
    12:00:01  flaky     retry      #1 in 60s
    12:01:01  flaky     settled    retry 1: launched
    12:01:01  flaky     start      retry 1
    12:01:30  flaky     cancelled  cancelled via web UI
    12:01:30  flaky     settled    retry 1: cancelled"
  `);
});

test("F-12: a replaced run is neither judged nor reported nor retried; the new one has its own ladder", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": lasts(4000, 1, 5) },
    jobs: [flaky({ concurrencyPolicy: "Replace", retry: retry(1, 60) })],
  });
  await node.until("13:00:10");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    13:00:05  flaky     replaced
    13:00:05  flaky     start      schedule"
  `);
});

test("F-28: a job removed while its retry waits is dropped with a warning when the retry is due", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1) },
    jobs: [flaky({ retry: retry(5, 60) })],
  });
  await node.until("12:00:30");
  node.apply([]);
  await node.until("12:10");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     retry      #1 in 60s
    12:01:00  flaky     settled    retry 1: job-removed
    12:01:00  flaky     refused    retry: removed"
  `);
  expect(node.log).toContain("WARNING Cron job flaky was scheduled for retry, but disappeared from the configuration");
});

test("a retry that Forbid drops is consumed, the run in its way goes on with the ladder", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": (run) => (run === 1 ? { exitCode: 1, seconds: 200 } : { exitCode: 1, seconds: 1 }) },
    jobs: [flaky({ concurrencyPolicy: "Forbid", retry: retry(2, 60) })],
  });
  await node.until("12:00:30");
  await node.scheduler.startJob("flaky", "ann");
  await node.until("12:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:01  flaky     failure    command exited with code 1
    12:00:01  flaky     report     onFailure
    12:00:01  flaky     retry      #1 in 60s
    12:00:30  flaky     start      manual
    12:01:01  flaky     settled    retry 1: launched
    12:01:01  flaky     refused    retry: forbidden
    12:03:50  flaky     failure    command exited with code 1
    12:03:50  flaky     report     onFailure
    12:03:50  flaky     retry      #2 in 120s
    12:05:50  flaky     settled    retry 2: launched
    12:05:50  flaky     start      retry 2
    12:05:51  flaky     failure    command exited with code 1
    12:05:51  flaky     report     onFailure
    12:05:51  flaky     settled    retry 2: exhausted
    12:05:51  flaky     permanent
    12:05:51  flaky     report     onPermanentFailure"
  `);
});

test("F-32, F-53: a shutdown drops pending retries, a failing run ends silently, a success is still told", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": exits(1), "./fails.sh": lasts(60, 1), "./works.sh": lasts(90) },
    jobs: [
      flaky({ retry: retry(5, 60) }),
      jobConfig({ name: "fails", command: "./fails.sh", timing: everyHour, retry: retry(5, 60) }),
      jobConfig({ name: "works", command: "./works.sh", timing: everyHour }),
    ],
  });
  await node.until("12:00:30");
  let stopped = false;
  void node.scheduler.stop().then(() => {
    stopped = true;
  });
  await node.until("12:01:20");
  expect(stopped).toBe(false);
  await node.until("14:00");
  expect(stopped).toBe(true);
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  flaky     start      schedule
    12:00:00  fails     start      schedule
    12:00:00  works     start      schedule
    12:00:00  flaky     failure    command exited with code 1
    12:00:00  flaky     report     onFailure
    12:00:00  flaky     retry      #1 in 60s
    12:01:00  fails     failure    command exited with code 1
    12:01:30  works     success
    12:01:30  works     report     onSuccess"
  `);
});

test("F55: endless retries without a delay leave room for others", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./flaky.sh": lasts(0.05, 1), "./tick.sh": exits(0) },
    jobs: [flaky({ retry: retry("unlimited", 0) }), jobConfig({ name: "tick", command: "./tick.sh" })],
  });
  await node.until("12:05:30");
  expect(node.starts("tick")).toHaveLength(6);
  expect(node.scheduler.history("flaky")?.rows).toHaveLength(50);
});
