import { describe, expect, test } from "vitest";
import { type Commands, type FleetNode, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";

async function trigger(node: FleetNode, dag: string): Promise<string> {
  const outcome = await node.control.trigger(dag, null);
  if (outcome.kind !== "triggered") throw new Error(`not triggered: ${outcome.kind}`);
  return outcome.runKey;
}

/** A node that has been there for a second, and one run of the DAG `d`. */
async function oneRun(tasks: string, commands: Commands = {}, more = "") {
  const fleet = startFleet({ at, yaml: `dags:\n  - name: d\n    tasks:\n${tasks}${more}`, commands });
  const node = fleet.start("a");
  await fleet.until(1);
  const runKey = await trigger(node, "d");
  return { fleet, node, runKey };
}

const trouble = ({ logged }: FleetNode): string[] => logged.lines.filter((line) => !/^(DEBUG|INFO)/.test(line));

describe("a run", () => {
  test("goes from task to task in dependency order, whatever their order in the file (D-CFG-1)", async () => {
    const { fleet, node, runKey } = await oneRun(
      `
      - {id: load, dependsOn: [transform], command: load}
      - {id: extract, command: extract}
      - {id: transform, dependsOn: [extract], command: transform}
`,
      { extract: () => ({ seconds: 2 }), transform: () => ({ seconds: 3 }), load: () => ({ seconds: 1 }) },
    );
    await fleet.until(20);
    expect(fleet.transcript()).toBe("10:00:01 a extract\n10:00:03 a transform\n10:00:06 a load");
    expect(fleet.states("d")).toBe("success: extract success, load success, transform success");
    expect(fleet.lease("d", runKey)?.expiresAtSeconds).toBe(0);
    expect(fleet.lease("d", runKey)?.holder).toMatch(/^a#[0-9a-f]{12}$/);
    expect(trouble(node)).toEqual([]);
  });

  test("retries a task to its last attempt, on time, and tells of each one (D-CFG-8, D-CFG-11, D-PLN-1)", async () => {
    const { fleet, node } = await oneRun(
      `
      - {id: f, command: f, retries: 2, retryDelaySeconds: 2, onFailure: {report: {shell: {command: tell}}}}
      - {id: after, dependsOn: [f], command: after}
      - {id: cleanup, dependsOn: [f], triggerRule: all_done, command: cleanup}
`,
      { f: () => ({ exitCode: 3 }) },
    );
    await fleet.until("10:00:02");
    expect(fleet.task("d", "f")).toMatchObject({ state: "up_for_retry", attempt: 1, exitCode: 3 });
    await fleet.until(20);
    expect(fleet.transcript()).toBe("10:00:01 a f\n10:00:03 a f\n10:00:05 a f\n10:00:05 a cleanup");
    expect(fleet.task("d", "f")).toMatchObject({ attempt: 3, failReason: "command exited with code 3" });
    expect(fleet.states("d")).toBe("failed: after upstream_failed, cleanup success, f failed");
    expect(node.reports.map((facts) => facts.kind === "run" && [facts.hook, facts.job.name])).toEqual(
      [1, 2, 3].map(() => ["onFailure", "d.f"]),
    );
    expect(node.reports.every((facts) => facts.kind === "run" && facts.runId === fleet.run("d").runId)).toBe(true);
  });

  test("fans out over the list of its source, at most 32 launches a pass (D-MAP-2, D-CLM-11)", async () => {
    const items = Array.from({ length: 70 }, (_, index) => index);
    const { fleet, node } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
      - {id: join, dependsOn: [each], command: join}
`,
      { src: () => ({ push: { list: JSON.stringify(items) } }), each: () => ({ seconds: 60 }) },
    );
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "slow", delayMs: 1_000 } : { kind: "answer" };
    await fleet.until(30);
    const starts = fleet.launched.filter(({ taskKey }) => taskKey.startsWith("each#")).map(({ at: time }) => time);
    const bursts = [...new Set(starts)].map((time) => starts.filter((other) => other === time).length);
    expect(bursts).toEqual([32, 32, 6]);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(120);
    expect(fleet.launched.find(({ taskKey }) => taskKey === "each#69")?.request.injectedEnvironment).toMatchObject({
      CRONSTABLE_DAG_MAP_ITEM: "69",
      CRONSTABLE_DAG_MAP_INDEX: "69",
      CRONSTABLE_DAG_TASK: "each",
    });
    expect(fleet.run("d").state).toBe("success");
    expect(fleet.launched.at(-1)?.taskKey).toBe("join");
  });

  test("stores how the instances of a fan-out ended a few at a time, and the last ones at once (D-CLM-10)", async () => {
    const count = 20;
    const items = Array.from({ length: count }, (_, index) => index);
    const { fleet, node } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
      - {id: join, dependsOn: [each], command: join}
`,
      {
        src: () => ({ push: { list: JSON.stringify(items) } }),
        each: ({ taskKey }) => ({ seconds: 10 + Number(taskKey.split("#")[1]) / 100 }),
      },
    );
    await fleet.until(10);
    let writes = 0;
    node.conduct = (operation) => {
      if (operation === "swapDocument") writes++;
      return { kind: "answer" };
    };
    await fleet.until(20);
    const ends = items.map((index) => fleet.task("d", `each#${index}`)?.finishedAt ?? 0);
    expect(ends.toSorted((a, b) => a - b)).toEqual(ends);
    expect(fleet.task("d", "join")?.startedAt).toBeCloseTo(ends.at(-1) ?? 0, 3);
    expect(fleet.run("d").state).toBe("success");
    expect(writes).toBeGreaterThan(2);
    expect(writes).toBeLessThan(count / 3);
  });

  test("has the pids of what lives for a moment, written with whatever else there is to write (6.3)", async () => {
    const fleet = startFleet({
      at,
      yaml: `dags:
  - name: d
    tasks:
      - {id: short, command: short}
      - {id: long, dependsOn: [short], command: long}
`,
      commands: { short: () => ({ seconds: 0.01 }), long: () => ({ seconds: 60 }) },
    });
    const node = fleet.start("a");
    await fleet.until(1);
    let writes = 0;
    node.conduct = (operation) => {
      if (operation === "swapDocument") writes++;
      return { kind: "answer" };
    };
    await trigger(node, "d");
    await fleet.until(5);
    expect(fleet.task("d", "long")?.pid).toBeTypeOf("number");
    expect(writes).toBe(4); // the run, the first claim, its end and the second claim, the second pid
  });

  test("keeps its items, whatever the source publishes later (D-MAP-5)", async () => {
    const { fleet, node } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each, retries: 1}
`,
      {
        src: () => ({ push: { list: "[1, 2]" } }),
        each: (_launch, run) => ({ seconds: 40, exitCode: run === 0 ? 1 : 0, push: { list: "[9]" } }),
      },
    );
    await fleet.until(5);
    node.crash();
    fleet.start("b");
    await fleet.until(200);
    expect(fleet.run("d").mapped.get("each")?.items).toEqual([1, 2]);
    expect(fleet.states("d")).toBe("success: each expanded, each#0 success, each#1 success, src success");
  });

  test("is not expanded while the store cannot tell, and is when it can (D-MAP-6)", async () => {
    const { fleet, node } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
`,
      { src: () => ({ seconds: 1, push: { list: "[1]" } }) },
    );
    node.conduct = (operation) =>
      operation === "newestByKey" ? { kind: "fail", message: "the disk is on fire" } : { kind: "answer" };
    await fleet.until(9);
    expect(fleet.task("d", "each").state).toBe("pending");
    expect(trouble(node)).toContain(
      "WARNING dag d: xcom 'list' from 'src' could not be read (the disk is on fire); leaving the task unexpanded to retry",
    );
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(6);
    expect(fleet.states("d")).toBe("success: each expanded, each#0 success, src success");
  });

  test.each([
    ["nothing", {}, 0],
    ["no JSON", { list: "[1," }, 1],
    ["no list", { list: '{"a": 1}' }, 1],
  ])("of %s has no items and goes on (D-MAP-7, D-MAP-8)", async (_what, push, warnings) => {
    const { fleet, node } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
      - {id: join, dependsOn: [each], command: join}
`,
      { src: () => ({ push }) },
    );
    await fleet.until(5);
    expect(fleet.states("d")).toBe("success: each expanded, join success, src success");
    expect(trouble(node).filter((line) => /xcom 'list' from 'src'/.test(line))).toHaveLength(warnings);
  });

  test("fails a task of more than 1000 items, also when the list is too long for a turn (D-MAP-10)", async () => {
    const { fleet } = await oneRun(
      `
      - {id: src, command: src}
      - {id: each, dependsOn: [src], expand: {fromTask: src, key: list}, command: each}
`,
      { src: () => ({ push: { list: JSON.stringify(Array.from({ length: 1001 }, () => "x")) } }) },
    );
    await fleet.until(5);
    expect(fleet.task("d", "each")).toMatchObject({
      state: "failed",
      failReason: "mapped fan-out of 1001 items exceeds the cap of 1000",
    });
    expect(fleet.run("d").mapped.size).toBe(0);
  });
});

describe("a sensor", () => {
  const sensor = (more: string) => `
      - {id: s, type: sensor, command: s, ${more}, onFailure: {report: {shell: {command: tell}}}, onSuccess: {report: {shell: {command: tell}}}}
`;

  test("pokes until it is met, and tells of that alone (D-SEN-1, D-SEN-2, D-SEN-6)", async () => {
    const { fleet, node } = await oneRun(sensor("pokeIntervalSeconds: 10, pokeJitterSeconds: 4"), {
      s: (_launch, run) => ({ exitCode: run < 2 ? 1 : 0, seconds: 1 }),
    });
    await fleet.until(60);
    expect(fleet.transcript()).toBe("10:00:01 a s\n10:00:14 a s\n10:00:27 a s");
    expect(fleet.task("d", "s")).toMatchObject({ state: "success", pokeCount: 3, exitCode: 0, nextPokeAt: null });
    expect(node.reports).toMatchObject([{ hook: "onSuccess" }]);
  });

  test("gives up after its time, once, and tells why (F66, D-SEN-3, D-SEN-6, D-SEN-7)", async () => {
    const { fleet, node } = await oneRun(sensor("pokeIntervalSeconds: 10, pokeTimeoutSeconds: 25, retries: 2"), {
      s: () => ({ exitCode: 1 }),
    });
    await fleet.until(60);
    expect(fleet.transcript()).toBe("10:00:01 a s\n10:00:11 a s\n10:00:21 a s");
    expect(fleet.task("d", "s")).toMatchObject({ state: "failed", failReason: "sensor timed out", attempt: 0 });
    expect(node.reports).toMatchObject([
      { hook: "onFailure", result: { failReason: "sensor timed out", exitCode: 1 } },
    ]);
  });

  test("goes on where it was after a crash; its time is not counted anew (D-SEN-4)", async () => {
    const { fleet, node } = await oneRun(sensor("pokeIntervalSeconds: 50, pokeTimeoutSeconds: 120"), {
      s: () => ({ exitCode: 1 }),
    });
    await fleet.until("10:00:10");
    const { firstPokeAt } = fleet.task("d", "s");
    node.crash();
    await fleet.until("10:00:12");
    fleet.start("a");
    await fleet.until("10:04:00");
    expect(fleet.transcript()).toMatch(/^10:00:01 a s\n10:0(0:5\d|1:[01]\d) a s\n10:01:/);
    expect(fleet.task("d", "s")).toMatchObject({ firstPokeAt, state: "failed", failReason: "sensor timed out" });
  });
});

describe("a gate", () => {
  const gated = `
      - {id: g, type: approval}
      - {id: after, dependsOn: [g], command: after}
`;
  const notify = `
notify:
  report: {shell: {command: tell}}
`;

  test("waits for a decision, and is told of once, whoever has the run (D-APR-1, D-APR-4, D-APR-5)", async () => {
    const { fleet, node, runKey } = await oneRun(gated, {}, notify);
    await fleet.until(60);
    expect(fleet.task("d", "g")).toMatchObject({
      state: "running",
      awaitingApproval: true,
      approval: null,
      host: null,
    });
    expect(node.reports).toEqual([
      {
        kind: "event",
        event: "approval_waiting",
        name: "d",
        subject: `DAG 'd' run ${runKey} awaiting approval: g`,
        message: "Task g is an approval gate awaiting a decision; approve or reject it to let the run continue.",
        extras: { dag: "d", run_key: runKey, run_id: fleet.run("d").runId, taskkey: "g" },
      },
    ]);
    node.crash();
    const next = fleet.start("b");
    await fleet.until(120);
    expect(next.engine.owns("d", runKey)).toBe(true);
    expect(next.reports).toEqual([]);
    expect(await next.control.decide("d", runKey, "g", "approve", "alice")).toEqual({
      kind: "decided",
      state: "success",
    });
    await fleet.until(1);
    expect(fleet.states("d")).toBe("success: after success, g success");
    expect(fleet.task("d", "g").approval).toMatchObject({ decision: "approved", by: "alice" });
  });

  test("is decided once (F69, D-APR-7)", async () => {
    const { fleet, node, runKey } = await oneRun(gated);
    await fleet.until(1);
    const both = await Promise.all([
      node.control.decide("d", runKey, "g", "approve", "alice"),
      node.control.decide("d", runKey, "g", "reject", "bob"),
    ]);
    expect(both.map(({ kind }) => kind).sort()).toEqual(["decided", "not awaiting"]);
    await fleet.until(1);
    expect(await node.control.decide("d", runKey, "g", "approve", "carol")).toEqual({ kind: "not awaiting" });
    expect(fleet.task("d", "g").approval).toMatchObject(
      both[0]?.kind === "decided" ? { decision: "approved", by: "alice" } : { decision: "rejected", by: "bob" },
    );
    expect(await node.control.decide("d", runKey, "after", "approve", "x")).toEqual({ kind: "not awaiting" });
    expect(await node.control.decide("d", runKey, "zzz", "approve", "x")).toEqual({ kind: "unknown task" });
    expect(await node.control.decide("d", "zzz", "g", "approve", "x")).toEqual({ kind: "unknown run" });
    expect(await node.control.decide("zzz", runKey, "g", "approve", "x")).toEqual({ kind: "unknown dag" });
  });

  test("that is decided on another node lets the run go on within 6 s (D-APR-6)", async () => {
    const { fleet, node, runKey } = await oneRun(gated);
    const other = fleet.start("b");
    await fleet.until("10:00:33.2");
    expect(node.engine.owns("d", runKey)).toBe(true);
    await other.control.decide("d", runKey, "g", "approve", "bob");
    const decidedAt = fleet.clock.wallNow();
    await fleet.until(10);
    expect((fleet.launched[0]?.at ?? 0) - decidedAt).toBeLessThan(6_000);
    expect(fleet.transcript()).toMatch(/a after$/);
  });
});

describe("notifications", () => {
  test("a failed run is told of once, also when it is adopted on the way (section 20)", async () => {
    const { fleet, node, runKey } = await oneRun(
      `
      - {id: z, command: z}
      - {id: m, dependsOn: [z], command: m}
      - {id: slow, command: slow}
`,
      { z: () => ({ exitCode: 1 }), slow: () => ({ seconds: 300, exitCode: 1 }) },
      "\nnotify:\n  report: {shell: {command: tell}}\n  events: [dag_failure]\n",
    );
    await fleet.until(10);
    node.crash();
    const next = fleet.start("b");
    await fleet.until(500);
    expect(node.reports).toEqual([]);
    expect(next.reports).toMatchObject([
      {
        event: "dag_failure",
        subject: `DAG 'd' run ${runKey} failed`,
        message: "3 task(s) failed: m, slow, z",
        extras: { failed_tasks: ["m", "slow", "z"] },
      },
    ]);
    const third = fleet.start("c");
    await fleet.until(700);
    expect(third.reports).toEqual([]);
  });
});
