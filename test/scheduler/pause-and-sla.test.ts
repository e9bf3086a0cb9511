import { describe, expect, test } from "vitest";
import type { JobPause } from "../../src/contract/pause.ts";
import { jobConfig } from "../support/job-config.ts";
import { exits, lasts, startNode, type TestNode } from "../support/node.ts";
import { everyHour, everyMinute } from "../support/timings.ts";

function pause(node: TestNode, job: string, seconds: number): boolean {
  const since = node.clock.wallNow();
  const held: JobPause = { since, until: since + seconds * 1000, note: "maintenance", by: "ann", channel: "api" };
  return node.scheduler.pauseJob(job, held);
}

describe("a paused job", () => {
  test("F08: skips its slots, each with a row, and goes on at the next slot after the resume", async () => {
    const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [jobConfig({ timing: everyMinute })] });
    await node.until("12:01:10");
    expect(pause(node, "job", 3600)).toBe(true);
    await node.until("12:11:30");
    expect(node.starts("job")).toHaveLength(2);
    expect(node.scheduler.history("job")?.rows.filter((row) => row.kind === "skipped")).toHaveLength(10);
    node.scheduler.resumeJob("job", "ann", "api");
    await node.until("12:11:59");
    expect(node.starts("job")).toHaveLength(2);
    await node.until("12:12:30");
    expect(node.starts("job")).toHaveLength(3);
    expect(node.log).toContain("INFO Job job skipped: paused until 2026-03-01T13:01:10.000Z (maintenance)");
  });

  test("F-29: defers a due retry without using it up, and starts by hand all the same", async () => {
    const node = startNode({
      at: "2026-03-01T11:59:50Z",
      commands: { "./flaky.sh": exits(1, 0, 0) },
      jobs: [
        jobConfig({
          name: "flaky",
          command: "./flaky.sh",
          timing: everyMinute,
          retry: { maximumRetries: 2, initialDelaySeconds: 20, maximumDelaySeconds: 20, backoffMultiplier: 1 },
        }),
      ],
    });
    await node.until("12:00:05");
    pause(node, "flaky", 40);
    await node.until("12:00:58");
    expect(node.transcript()).toMatchInlineSnapshot(`
      "12:00:00  flaky     start      schedule
      12:00:00  flaky     failure    command exited with code 1
      12:00:00  flaky     report     onFailure
      12:00:00  flaky     retry      #1 in 20s
      12:00:20  flaky     retry      #1 in 20s
      12:00:40  flaky     retry      #1 in 20s"
    `);
  });

  test("keeps its pause over an edit, and loses it with its removal", async () => {
    const job = jobConfig({ timing: everyMinute });
    const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [job] });
    pause(node, "job", 3600);
    node.apply([{ ...job, command: "another" }]);
    await node.until("12:02:30");
    expect(node.starts("job")).toHaveLength(0);
    node.apply([]);
    node.apply([job]);
    await node.until("12:04:30");
    expect(node.starts("job")).toHaveLength(2);
  });
});

describe("an SLA", () => {
  const withSla = (sla: Partial<ReturnType<typeof jobConfig>["sla"]>, over = {}) =>
    jobConfig({
      name: "sla",
      command: "./sla.sh",
      timing: everyMinute,
      sla: { maxTimeSinceSuccessSeconds: null, lateAfterSeconds: null, maxRuntimeSeconds: null, ...sla },
      ...over,
    });

  test("tells once per breach, and again only after it has recovered", async () => {
    const node = startNode({
      at: "2026-03-01T11:59:50Z",
      commands: { "./sla.sh": (run) => ({ exitCode: run >= 10 && run < 12 ? 0 : 1, seconds: 1 }) },
      jobs: [withSla({ maxTimeSinceSuccessSeconds: 300 })],
    });
    await node.until("12:30");
    const told = node.log.filter((line) => line.includes("SLA check"));
    expect(told).toMatchInlineSnapshot(`
      [
        "WARNING Job sla: SLA check maxTimeSinceSuccess breached: observed 310.0s exceeds the threshold of 300s",
        "INFO Job sla: SLA check maxTimeSinceSuccess holds again",
        "WARNING Job sla: SLA check maxTimeSinceSuccess breached: observed 359.0s exceeds the threshold of 300s",
      ]
    `);
  });

  test("a run that goes on too long is told while it runs, and never ended", async () => {
    const node = startNode({
      at: "2026-03-01T11:59:50Z",
      commands: { "./sla.sh": lasts(1000) },
      jobs: [withSla({ maxRuntimeSeconds: 120 }, { concurrencyPolicy: "Forbid" })],
    });
    await node.until("12:10");
    expect(node.log.filter((line) => line.includes("breached"))).toHaveLength(1);
    expect(node.scheduler.sla("sla")?.state).toBe("late");
    expect(node.scheduler.running()).toHaveLength(1);
  });
});

test("SLA: a job that gets its check at a reload is judged by its last success", async () => {
  const timing = everyMinute;
  const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [jobConfig({ timing })] });
  await node.until("12:00:30");
  const sla = { maxTimeSinceSuccessSeconds: 600, lateAfterSeconds: null, maxRuntimeSeconds: null };
  node.apply([jobConfig({ timing: everyHour, sla })]);
  await node.until("12:09:30");
  expect(node.scheduler.sla("job")?.state).toBe("ok");
  await node.until("12:11:30");
  expect(node.scheduler.sla("job")?.state).toBe("late");
});

test("SLA lateAfter: a run that started and ended before the threshold was not late", async () => {
  const sla = { maxTimeSinceSuccessSeconds: null, lateAfterSeconds: 90, maxRuntimeSeconds: null };
  const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [jobConfig({ timing: everyHour, sla })] });
  await node.until("12:30");
  expect(node.scheduler.sla("job")?.state).toBe("ok");
});
