import { describe, expect, test } from "vitest";
import { memoryMedium } from "../../src/store/memory/medium.ts";
import { type FleetNode, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";

async function trigger(node: FleetNode, dag = "d"): Promise<string> {
  const outcome = await node.control.trigger(dag, null);
  if (outcome.kind !== "triggered") throw new Error(`not triggered: ${outcome.kind}`);
  return outcome.runKey;
}

const twoTasks = (more = "") => `
dags:
  - name: d
    tasks:
      - {id: a, command: a${more}}
      - {id: b, dependsOn: [a], command: b}
`;

describe("a node that dies", () => {
  test("is followed by another when its lease lapses, which fails or repeats what ran there (D-CRS-1, D-CRS-3, 13.2)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks(", retries: 1"), commands: { a: () => ({ seconds: 100 }) } });
    const node = fleet.start("a");
    const peer = fleet.start("b");
    await fleet.until(1);
    const runKey = await trigger(node);
    await fleet.until(10);
    node.crash();
    const diedAt = fleet.clock.wallNow();
    await fleet.until(32);
    expect(peer.engine.owns("d", runKey)).toBe(true);
    expect((fleet.launched[1]?.at ?? 0) - diedAt).toBeLessThan(32_000);
    await fleet.until(150);
    expect(fleet.transcript()).toMatch(/^10:00:01 a a\n.* b a\n.* b b$/);
    expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 1, host: "b" });
    expect(fleet.lease("d", runKey)?.fence).toBe(2);
  });

  test("and leaves its process: the next daemon of that host waits for it to end (D-CRS-4)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks(", retries: 1"), commands: { a: () => ({ seconds: 200 }) } });
    const node = fleet.start("first", { host: "vm" });
    await fleet.until(1);
    await trigger(node);
    await fleet.until(10);
    node.crash("live");
    fleet.start("second", { host: "vm" });
    await fleet.until("10:03:00");
    expect(fleet.transcript()).toBe("10:00:01 first a");
    expect(fleet.task("d", "a")).toMatchObject({ state: "running", attempt: 0 });
    await fleet.until("10:08:00");
    expect(fleet.transcript()).toMatch(/^10:00:01 first a\n10:03:2\d second a\n10:06:4\d second b$/);
    expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 1 });
  });

  test("without attempts left fails the task, and the rest of the run with it", async () => {
    const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 100 }) } });
    const node = fleet.start("a");
    await fleet.until(1);
    await trigger(node);
    await fleet.until(10);
    node.crash();
    fleet.start("b");
    await fleet.until(90);
    expect(fleet.states("d")).toBe("failed: a failed, b upstream_failed");
    expect(fleet.task("d", "a").failReason).toBe("reconciled-crash");
  });
});

test("a frozen owner changes nothing when it comes back after its lease (D-INT-9, D-CLM-9, D-OWN-1, D-OWN-3)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(", retries: 1"), commands: { a: () => ({ seconds: 50 }) } });
  const node = fleet.start("a");
  const peer = fleet.start("b");
  await fleet.until(1);
  const runKey = await trigger(node);
  await fleet.until(5);
  node.freeze();
  await fleet.until(60);
  expect(fleet.transcript()).toMatch(/^10:00:01 a a\n10:00:3\d b a$/);
  const before = fleet.run("d");
  node.thaw();
  await fleet.until(1);
  expect(node.engine.owns("d", runKey)).toBe(false);
  expect(fleet.run("d")).toEqual(before); // the late end of its own task among it
  expect(node.logged.lines.filter((line) => line.startsWith("WARNING"))).toEqual([
    `WARNING dag d: run ${runKey} is advanced by ${fleet.lease("d", runKey)?.holder} now: its lease was taken over; tasks that run here go on`,
  ]);
  await fleet.until(120);
  expect(fleet.states("d")).toBe("success: a success, b success");
  expect(peer.engine.owns("d", runKey)).toBe(false);
  expect(fleet.launched).toHaveLength(3);
});

describe("a claim of which nothing was launched", () => {
  test("because its write landed after 10 s is made anew, and no attempt is used (D-INT-10, D-CLM-3)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks() });
    const node = fleet.start("a");
    await fleet.until(1);
    let writes = 0;
    node.conduct = (operation) =>
      operation === "swapDocument" && ++writes === 2 ? { kind: "slow", delayMs: 12_000 } : { kind: "answer" };
    const runKey = await trigger(node);
    await fleet.until(10.5);
    expect(fleet.transcript()).toBe("");
    await fleet.until(60);
    expect(fleet.launched.map(({ taskKey }) => taskKey)).toEqual(["a", "b"]);
    expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 0 });
    expect(fleet.run("d", runKey).state).toBe("success");
  });

  test("of a sensor's poke, either: the poke is not counted (D-CLM-3)", async () => {
    const fleet = startFleet({
      at,
      yaml: "dags:\n  - name: d\n    tasks:\n      - {id: s, type: sensor, command: s, pokeIntervalSeconds: 20}\n",
      commands: { s: (_launch, run) => ({ exitCode: run === 0 ? 1 : 0 }) },
    });
    const node = fleet.start("a");
    await fleet.until(1);
    await trigger(node);
    await fleet.until(10);
    let writes = 0;
    node.conduct = (operation) =>
      operation === "swapDocument" && ++writes === 1 ? { kind: "slow", delayMs: 12_000 } : { kind: "answer" };
    await fleet.until(60);
    expect(fleet.launched).toHaveLength(2);
    expect(fleet.task("d", "s")).toMatchObject({ state: "success", pokeCount: 2 });
  });

  test("because the store changed while it waited for its spawn is made anew on the new one (D-CLM-4, D-CRS-6)", async () => {
    const fleet = startFleet({
      at,
      yaml: `dags:\n  - name: d\n    tasks:\n${Array.from({ length: 40 }, (_, n) => `      - {id: t${n}, command: t}\n`).join("")}`,
      commands: { t: () => ({ seconds: 5 }) },
    });
    const node = fleet.start("a");
    await fleet.until(1);
    node.holdSpawns = true;
    await trigger(node);
    await fleet.until(2);
    node.useStore(null);
    await fleet.until(3);
    node.useStore(fleet.medium);
    await fleet.until(1);
    node.releaseSpawns();
    await fleet.until(60);
    expect(fleet.launched.map(({ taskKey }) => taskKey).sort()).toEqual(
      Array.from({ length: 40 }, (_, n) => `t${n}`).sort(),
    );
    expect(fleet.run("d").state).toBe("success");
    expect([...fleet.run("d").tasks.values()].every(({ attempt }) => attempt === 0)).toBe(true);
  });
});

test("an end the store does not take is stored when it does, and the process is not started again (D-CLM-8, D-CLM-10)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 5 }) } });
  const node = fleet.start("a");
  await fleet.until(1);
  await trigger(node);
  await fleet.until(2);
  node.conduct = (operation) => (operation === "swapDocument" ? { kind: "fail", message: "full" } : { kind: "answer" });
  await fleet.until(100);
  expect(fleet.transcript()).toBe("10:00:01 a a");
  expect(
    node.logged.lines.filter((line) => line.includes("could not be stored")).map((line) => line.slice(-20)),
  ).toEqual(
    [
      "trying again in 5 s",
      "trying again in 10 s",
      "trying again in 20 s",
      "trying again in 40 s",
      "trying again in 60 s",
    ].map((end) => expect.stringContaining(end)),
  );
  node.conduct = () => ({ kind: "answer" });
  await fleet.until(61);
  expect(fleet.states("d")).toBe("success: a success, b success");
  expect(fleet.task("d", "a").attempt).toBe(0);
});

test("a task's end across a change of the store is not lost (D-CLM-8)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 5 }) } });
  const node = fleet.start("a");
  await fleet.until(1);
  await trigger(node);
  await fleet.until(2);
  node.useStore(null);
  await fleet.until(10);
  node.useStore(fleet.medium);
  await fleet.until(10);
  expect(fleet.transcript()).toMatch(/^10:00:01 a a\n.* a b$/);
  expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 0 });
});

describe("a stop", () => {
  test("waits for what runs, stores it, starts nothing more and gives the run back; it goes on where it was (D-INT-8, D-STP-1, D-STP-2)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 30 }) } });
    const node = fleet.start("a");
    await fleet.until(1);
    const runKey = await trigger(node);
    await fleet.until(5);
    let stopped = false;
    void node.engine.stop().then(() => {
      stopped = true;
    });
    await fleet.until(10);
    expect([stopped, node.engine.running().map(({ name }) => name)]).toEqual([false, ["d.a"]]);
    await fleet.until(20);
    expect(stopped).toBe(true);
    expect(fleet.transcript()).toBe("10:00:01 a a");
    expect(fleet.states("d")).toBe("running: a success, b pending");
    expect(fleet.lease("d", runKey)?.expiresAtSeconds).toBe(0);
    const backAt = fleet.clock.wallNow();
    fleet.start("a");
    await fleet.until(2);
    expect((fleet.launched[1]?.at ?? 0) - backAt).toBeLessThan(1_000);
    expect(fleet.states("d")).toBe("success: a success, b success");
  });

  test("does not look at the run over and over while it waits, though something is ready in it (D-PLN-2, D-STP-2)", async () => {
    const yaml =
      "dags:\n  - name: d\n    tasks:\n      - {id: a, command: a}\n      - {id: b, command: b}\n      - {id: c, command: c, dependsOn: [a]}\n";
    const fleet = startFleet({ at, yaml, commands: { a: () => ({ seconds: 5 }), b: () => ({ seconds: 60 }) } });
    const node = fleet.start("a");
    await fleet.until(1);
    await trigger(node);
    await fleet.until(1);
    let operations = 0;
    node.conduct = () => {
      operations++;
      return { kind: "answer" };
    };
    void node.engine.stop();
    await fleet.until(50);
    expect(fleet.states("d")).toBe("running: a success, b running, c pending");
    expect(operations).toBeLessThan(50);
  });

  test("takes back what waits for its spawn, without an attempt or a report (D-STP-2, D-STP-3, D-CLM-4)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks() });
    const node = fleet.start("a");
    await fleet.until(1);
    node.holdSpawns = true;
    const runKey = await trigger(node);
    await fleet.until(1);
    expect(fleet.task("d", "a").state).toBe("running");
    void node.engine.stop();
    await fleet.until(1);
    expect(fleet.task("d", "a")).toMatchObject({ state: "pending", attempt: 0, proc: null });
    expect(fleet.lease("d", runKey)?.expiresAtSeconds).toBe(0);
    expect(node.reports).toEqual([]);
  });
});

describe("a reload", () => {
  test("that removes the DAG gives its runs back; one that brings it again goes on with them (13.3)", async () => {
    const fleet = startFleet({ at, yaml: twoTasks(", retries: 0"), commands: { a: () => ({ seconds: 5 }) } });
    const node = fleet.start("a");
    await fleet.until(1);
    const runKey = await trigger(node);
    await fleet.until(2);
    node.apply("dags:\n  - name: other\n    tasks:\n      - {id: x, command: x}\n");
    await fleet.until(20);
    expect(fleet.lease("d", runKey)?.expiresAtSeconds).toBe(0);
    expect(fleet.states("d")).toBe("running: a running, b pending");
    node.apply(twoTasks());
    await fleet.until(20);
    expect(fleet.states("d")).toBe("success: a success, b success");
  });

  test("that brings the first DAG starts the engine's work; without one the store is never asked (D-INT-1)", async () => {
    const fleet = startFleet({ at, yaml: "jobs: []\n" });
    const node = fleet.start("a");
    await fleet.until(3600);
    expect(node.store.counters().operations).toEqual({});
    node.apply(twoTasks());
    await fleet.until(1);
    await trigger(node);
    await fleet.until(1);
    expect(fleet.states("d")).toBe("success: a success, b success");
  });
});

test("damaged documents are left alone, and other runs go on (D-INT-11, D-REC-2)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks() });
  const node = fleet.start("a");
  await fleet.until(1);
  const [broken, cut] = [`{"data":{"dag":"d","tasks":{"a":null}},"schemaVersion":"v1"}`, `{"data":{"dag"`];
  fleet.medium.documents.set(
    "dagrun/d",
    new Map([
      ["manual-broken", broken],
      ["manual-cut", cut],
    ]),
  );
  const runKey = await trigger(node);
  await fleet.until(700);
  expect(fleet.run("d", runKey).state).toBe("success");
  expect(fleet.medium.documents.get("dagrun/d")?.get("manual-broken")).toBe(broken);
  expect(fleet.medium.documents.get("dagrun/d")?.get("manual-cut")).toBe(cut);
});

test("another store is another world: nothing of the first is looked for in it (D-CRS-6)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 5 }) } });
  const node = fleet.start("a");
  await fleet.until(1);
  const runKey = await trigger(node);
  await fleet.until(1);
  const elsewhere = memoryMedium();
  node.useStore(elsewhere);
  await fleet.until(60);
  expect(elsewhere.documents.size).toBe(0);
  expect(await node.control.runs("d", 50)).toEqual({ kind: "answer", value: [] });
  expect(fleet.states("d", runKey)).toBe("running: a running, b pending");
});

test("a run of a live peer stays there, however many nodes come (D-CRS-2, D-OWN-1, D-OWN-2)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(), commands: { a: () => ({ seconds: 300 }) } });
  const node = fleet.start("a");
  const peer = fleet.start("b");
  await fleet.until(1);
  const runKey = await trigger(node);
  await fleet.until(1);
  expect([node.engine.owns("d", runKey), peer.engine.owns("d", runKey)]).toEqual([true, false]);
  const late = fleet.start("c");
  await fleet.until(250);
  expect(fleet.lease("d", runKey)?.fence).toBe(1);
  expect([peer.engine.owns("d", runKey), late.engine.owns("d", runKey)]).toEqual([false, false]);
  await fleet.until(100);
  expect(fleet.transcript()).toMatch(/^10:00:01 a a\n.* a b$/);
});

test("each run has an id of its own, 32 hex digits (D-KEY-3)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks() });
  const node = fleet.start("a");
  await fleet.until(1);
  const ids = [await trigger(node), await trigger(node)].map((runKey) => fleet.run("d", runKey).runId);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test("only a node that the cluster lets creates scheduled runs; any creates one by hand, and goes on with what it has (D-SCH-5)", async () => {
  const yaml = twoTasks().replace("  - name: d\n", '  - name: d\n    schedule: "*/5 * * * *"\n');
  const fleet = startFleet({ at, yaml });
  let mayCreate = false;
  const node = fleet.start("a", { gate: { mayCreateScheduled: () => mayCreate } });
  await fleet.until("10:11:00");
  expect(fleet.keys("d")).toEqual([]);
  const runKey = await trigger(node);
  await fleet.until(10);
  expect(fleet.run("d", runKey).state).toBe("success");
  mayCreate = true;
  await fleet.until("10:15:30");
  const scheduled = fleet.keys("d").filter((key) => key !== runKey);
  expect(scheduled).toHaveLength(1);
  expect(fleet.run("d", scheduled[0]).state).toBe("success");
});

test("the end of a run is told of in the log, by DAG and key (D-LOG-3)", async () => {
  const fleet = startFleet({ at, yaml: twoTasks(), commands: { b: () => ({ exitCode: 1 }) } });
  const node = fleet.start("a");
  await fleet.until(1);
  const runKey = await trigger(node);
  await fleet.until(5);
  expect(node.logged.lines.filter((line) => line.includes(runKey) && line.startsWith("INFO")).at(-1)).toContain(
    "failed",
  );
});
