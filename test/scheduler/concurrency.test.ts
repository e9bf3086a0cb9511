import { expect, test } from "vitest";
import { jobConfig } from "../support/job-config.ts";
import { lasts, startNode } from "../support/node.ts";
import { atBoot, everyHour } from "../support/timings.ts";

const slow = (concurrencyPolicy: "Allow" | "Forbid" | "Replace", over = {}) =>
  jobConfig({ name: "slow", command: "./slow.sh", concurrencyPolicy, timing: everyHour, ...over });

test("Allow starts beside a running instance", async () => {
  const node = startNode({ at: "2026-03-01T11:59:50Z", commands: { "./slow.sh": lasts(5000) }, jobs: [slow("Allow")] });
  await node.until("13:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  slow      start      schedule
    13:00:00  slow      start      schedule
    13:23:20  slow      success
    13:23:20  slow      report     onSuccess"
  `);
});

test.each(["schedule", "manual"] as const)("F56: Forbid drops a %s start and records nothing", async (kind) => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./slow.sh": lasts(5000) },
    jobs: [slow("Forbid")],
  });
  await node.until("12:10");
  if (kind === "manual") {
    expect(await node.scheduler.startJob("slow", "ann")).toEqual({
      kind: "refused",
      reason: { kind: "forbidden", running: 1 },
    });
  }
  await node.until("13:01");
  expect(node.starts("slow")).toHaveLength(1);
  expect(node.scheduler.history("slow")?.rows).toEqual([]);
  expect(node.log).toContain("WARNING Job slow: still running and concurrencyPolicy is Forbid");
});

test("two starts of a Forbid job in one turn give one run", async () => {
  const node = startNode({ at: "2026-03-01T11:30:00Z", commands: { "./slow.sh": lasts(60) }, jobs: [slow("Forbid")] });
  const [first, second] = await Promise.all([
    node.scheduler.startJob("slow", "ann"),
    node.scheduler.startJob("slow", "bob"),
  ]);
  expect([first.kind, second.kind]).toEqual(["started", "refused"]);
});

test("Replace waits for its victims to be gone, then starts one", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./slow.sh": lasts(5000, 0, 20) },
    jobs: [slow("Replace"), jobConfig({ name: "other", timing: everyHour })],
  });
  await node.until("13:01");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  slow      start      schedule
    12:00:00  other     start      schedule
    12:00:00  other     success
    12:00:00  other     report     onSuccess
    13:00:00  other     start      schedule
    13:00:00  other     success
    13:00:00  other     report     onSuccess
    13:00:20  slow      replaced
    13:00:20  slow      start      schedule"
  `);
});

test("a newer start takes the place of one that still waits for its victims", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./slow.sh": lasts(50_000, 0, 20) },
    jobs: [slow("Replace")],
  });
  await node.until("13:00:05");
  await node.scheduler.startJob("slow", "ann");
  await node.until("13:01");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  slow      start      schedule
    13:00:05  slow      refused    schedule: superseded
    13:00:20  slow      replaced
    13:00:20  slow      start      manual"
  `);
});

test("onlyIfLastSucceeded holds scheduled fires back until a run succeeds; a manual start opens the gate (DEP-1, DEP-5)", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./gate.sh": (run) => ({ exitCode: run === 0 ? 1 : 0, seconds: 1 }) },
    jobs: [jobConfig({ name: "gate", command: "./gate.sh", timing: everyHour, onlyIfLastSucceeded: true })],
  });
  await node.until("13:30");
  await node.scheduler.startJob("gate", "ann");
  await node.until("14:30");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  gate      start      schedule
    12:00:01  gate      failure    command exited with code 1
    12:00:01  gate      report     onFailure
    12:00:01  gate      permanent
    12:00:01  gate      report     onPermanentFailure
    13:00:00  gate      refused    schedule: last-run-failed
    13:30:00  gate      start      manual
    13:30:01  gate      success
    13:30:01  gate      report     onSuccess
    14:00:00  gate      start      schedule
    14:00:01  gate      success
    14:00:01  gate      report     onSuccess"
  `);
});

test("DEP-5: a retry goes although the last run failed", async () => {
  const retry = { maximumRetries: 1, initialDelaySeconds: 5, maximumDelaySeconds: 5, backoffMultiplier: 1 };
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./gate.sh": (run) => ({ exitCode: run === 0 ? 1 : 0, seconds: 1 }) },
    jobs: [jobConfig({ name: "gate", command: "./gate.sh", timing: everyHour, onlyIfLastSucceeded: true, retry })],
  });
  await node.until("13:01");
  expect(
    node
      .transcript()
      .split("\n")
      .filter((line) => /start|refused/.test(line)),
  ).toEqual([
    "12:00:00  gate      start      schedule",
    "12:00:06  gate      start      retry 1",
    "13:00:00  gate      start      schedule",
  ]);
});

test.each([
  ["Allow", 1],
  ["Replace", 2],
] as const)(
  "DEP-3: under %s a run that still goes on counts as %i start(s) by the next fire",
  async (policy, starts) => {
    const node = startNode({
      at: "2026-03-01T11:59:50Z",
      commands: { "./slow.sh": lasts(5000) },
      jobs: [slow(policy, { onlyIfLastSucceeded: true })],
    });
    await node.until("13:10");
    expect(node.starts("slow")).toHaveLength(starts);
  },
);

test("cancel answers when every instance is gone, and says when there is none", async () => {
  const node = startNode({
    at: "2026-03-01T11:59:50Z",
    commands: { "./slow.sh": lasts(50_000, 0, 10) },
    jobs: [slow("Allow")],
  });
  expect(await node.scheduler.cancelJob("slow")).toEqual({ kind: "not running" });
  expect(await node.scheduler.cancelJob("none")).toEqual({ kind: "unknown job" });
  await node.until("13:30");
  let answer: unknown = null;
  void node.scheduler.cancelJob("slow").then((cancelled) => {
    answer = cancelled;
  });
  await node.until("13:30:05");
  expect(answer).toBe(null);
  await node.until("13:30:15");
  expect(answer).toEqual({ kind: "cancelled", instances: 2 });
  expect(node.scheduler.history("slow")?.rows.map((row) => row.kind === "ran" && row.outcome)).toEqual([
    "cancelled",
    "cancelled",
  ]);
});

test("F29: a job removed while it runs stays visible, can be cancelled, and its end is recorded", async () => {
  const node = startNode({ at: "2026-03-01T11:59:50Z", commands: { "./slow.sh": lasts(600) }, jobs: [slow("Allow")] });
  await node.until("12:01");
  node.apply([]);
  expect(node.scheduler.running().map(({ name }) => name)).toEqual(["slow"]);
  const cancelled = node.scheduler.cancelJob("slow");
  await node.until("12:02");
  expect(await cancelled).toEqual({ kind: "cancelled", instances: 1 });
  expect(node.transcript()).toMatchInlineSnapshot(`
    "12:00:00  slow      start      schedule
    12:01:00  slow      cancelled  cancelled via web UI"
  `);
  expect(node.scheduler.running()).toEqual([]);
});

test("a disabled job neither fires nor starts by hand", async () => {
  const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [slow("Allow", { enabled: false })] });
  await node.until("12:30");
  expect(await node.scheduler.startJob("slow", "ann")).toEqual({ kind: "refused", reason: { kind: "disabled" } });
  expect(node.starts("slow")).toEqual([]);
});

test("boot jobs run once, at the start, and not when a reload brings them", async () => {
  const boot = jobConfig({ name: "boot", timing: atBoot });
  const node = startNode({ at: "2026-03-01T11:59:50Z", jobs: [boot] });
  await node.until("12:10");
  node.apply([boot, { ...boot, name: "late" }]);
  await node.until("12:20");
  expect(node.transcript()).toMatchInlineSnapshot(`
    "11:59:50  boot      start      boot
    11:59:50  boot      success
    11:59:50  boot      report     onSuccess"
  `);
});
