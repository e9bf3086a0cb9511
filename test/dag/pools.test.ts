import { describe, expect, test } from "vitest";
import type { PoolView } from "../../src/contract/pool.ts";
import { type Commands, type Fleet, type FleetNode, startFleet } from "./support/fleet.ts";

const at = "2026-07-04T10:00:00Z";

async function trigger(node: FleetNode, dag = "d"): Promise<string> {
  const outcome = await node.control.trigger(dag, null);
  if (outcome.kind !== "triggered") throw new Error(`not triggered: ${outcome.kind}`);
  return outcome.runKey;
}

const pooled = (pool: string, tasks: string): string => `pools: {p: {${pool}}}
dags:
  - name: d
    tasks:
${tasks}`;

/** A node that has been there for a second, and one run of the DAG `d`. */
async function oneRun(yaml: string, commands: Commands = {}) {
  const fleet = startFleet({ at, yaml, commands });
  const node = fleet.start("a");
  await fleet.until(1);
  const runKey = await trigger(node);
  return { fleet, node, runKey };
}

async function pool({ clock }: Fleet, node: FleetNode): Promise<PoolView> {
  const listing = node.pools.list();
  await clock.runUntilSettled(clock.wallNow());
  const listed = await listing;
  const [view] = listed === "unavailable" ? [] : listed;
  if (view === undefined) throw new Error("no view of the pool");
  return view;
}

/** What is in the queue, as `taskkey/attempt state`. */
const entries = ({ entries: all }: Pick<PoolView, "entries">): string[] =>
  all.map(({ dag, attempt, state }) => `${dag?.taskkey}/${attempt} ${state}`);

const warnings = ({ logged }: FleetNode): string[] => logged.lines.filter((line) => !/^(DEBUG|INFO)/.test(line));

/** The most commands that ever lived at once, were each to live so long. */
function mostAtOnce(fleet: Fleet, seconds: (taskKey: string) => number): number {
  const ends = fleet.launched.map(({ at: from, taskKey }) => [from, from + seconds(taskKey) * 1000] as const);
  return Math.max(...ends.map(([from]) => ends.filter(([start, end]) => start <= from && from < end).length));
}

describe("the slot of a task", () => {
  test("is taken only while its process lives: not while it waits for a retry or between two pokes (F59, D-POL-7)", async () => {
    const tasks = ["a", "b", "c", "d", "e"].map(
      (id) => `      - {id: ${id}, command: work, pool: p, retries: 1, retryDelaySeconds: 30}\n`,
    );
    const { fleet, node } = await oneRun(
      pooled(
        "slots: 1",
        `${tasks.join("")}      - {id: s, type: sensor, command: poke, pool: p, pokeIntervalSeconds: 30}\n`,
      ),
      {
        work: (_launch, run) => ({ seconds: 4, exitCode: run === 0 ? 1 : 0 }),
        poke: (_launch, run) => ({ seconds: 4, exitCode: run < 2 ? 1 : 0 }),
      },
    );
    await fleet.until(300);
    expect(fleet.run("d").state).toBe("success");
    expect(fleet.launched).toHaveLength(13);
    expect(mostAtOnce(fleet, () => 4)).toBe(1);
    // One after the other, waits and all, would take six waits of 30 s and more.
    const last = fleet.launched.at(-1)?.at ?? Number.POSITIVE_INFINITY;
    expect(last - (fleet.launched[0]?.at ?? 0)).toBeLessThan(110_000);
    expect(await pool(fleet, node)).toMatchObject({ used: 0, queued: 0, entries: [] });
    expect(warnings(node)).toEqual([]);
  });

  test("is one for each instance, and none for a gate however long it waits (D-POL-1)", async () => {
    const { fleet, node } = await oneRun(
      pooled(
        "slots: 1",
        `      - {id: ok, type: approval}
      - {id: list, command: list, pool: p}
      - {id: each, dependsOn: [list], expand: {fromTask: list, key: items}, command: work, pool: p}
`,
      ),
      { list: () => ({ seconds: 1, push: { items: "[1,2,3]" } }), work: () => ({ seconds: 4 }) },
    );
    await fleet.until(60);
    expect(fleet.launched.map(({ taskKey }) => taskKey).toSorted()).toEqual(["each#0", "each#1", "each#2", "list"]);
    expect(mostAtOnce(fleet, (taskKey) => (taskKey === "list" ? 1 : 4))).toBe(1);
    expect(fleet.run("d").state).toBe("running"); // the gate
    expect(await pool(fleet, node)).toMatchObject({ used: 0, queued: 0, entries: [] });
  });

  test("is waited for without an attempt, a claim, or a share of what a pass may start (D-POL-2, D-POL-8, D-POL-9)", async () => {
    const { fleet, node } = await oneRun(
      pooled(
        "slots: 1",
        `      - {id: list, command: list}
      - {id: first, dependsOn: [list], expand: {fromTask: list, key: items}, command: work, pool: p}
      - {id: free, dependsOn: [list], expand: {fromTask: list, key: items}, command: work}
`,
      ),
      {
        list: () => ({ push: { items: JSON.stringify(Array.from({ length: 32 }, (_, n) => n)) } }),
        work: () => ({ seconds: 600 }),
      },
    );
    await fleet.until(9);
    expect(fleet.launched.filter(({ taskKey }) => taskKey.startsWith("free"))).toHaveLength(32);
    expect(
      new Set(fleet.launched.filter(({ taskKey }) => taskKey.startsWith("free")).map(({ time }) => time)).size,
    ).toBe(1);
    expect(fleet.launched.filter(({ taskKey }) => taskKey.startsWith("first"))).toHaveLength(1);
    expect(fleet.task("d", "first#7")).toMatchObject({ state: "pending", attempt: 0, proc: null });
    expect(await pool(fleet, node)).toMatchObject({ used: 1, queued: 31 });
    expect((await pool(fleet, node)).entries[1]).toMatchObject({
      id: expect.stringMatching(/^dag-[0-9a-f]{32}$/),
      kind: "task",
      name: "d.first",
      source: "dag",
      attempt: 0,
      dag: { name: "d", runKey: fleet.run("d").runKey, runId: fleet.run("d").runId, taskkey: "first#1", poke: null },
    });
  });

  test("is taken in order of priority, as many of them as the task asks for", async () => {
    const { fleet } = await oneRun(
      pooled(
        "slots: 3",
        `      - {id: wide, command: work, pool: p, poolSlots: 3}
      - {id: low, command: work, pool: p, poolSlots: 2}
      - {id: high, command: work, pool: p, poolSlots: 2, queuePriority: 5}
`,
      ),
      { work: () => ({ seconds: 10 }) },
    );
    await fleet.until(60);
    expect(fleet.launched.map(({ taskKey }) => taskKey)).toEqual(["high", "wide", "low"]);
    expect(mostAtOnce(fleet, () => 10)).toBe(1);
  });

  test("holds over all nodes of the store, and comes back from one that dies within its 30 s", async () => {
    const fleet = startFleet({
      at,
      yaml: pooled(
        "slots: 2",
        "      - {id: a, command: work, pool: p, retries: 1}\n      - {id: b, command: work, pool: p, retries: 1}\n",
      ),
      commands: { work: () => ({ seconds: 20 }) },
    });
    const [first, second] = [fleet.start("one"), fleet.start("two")];
    await fleet.until(1);
    const keys = [await trigger(first), await trigger(second), await trigger(second)];
    await fleet.until(15);
    expect(fleet.launched).toHaveLength(2);
    first.crash();
    await fleet.until(600);
    expect(keys.map((key) => fleet.run("d", key).state)).toEqual(["success", "success", "success"]);
    expect(mostAtOnce(fleet, () => 20)).toBe(2);
    expect(await pool(fleet, second)).toMatchObject({ used: 0, queued: 0, entries: [] });
    // What was cut short has run once more, and nothing else.
    const cut = fleet.launched.filter(({ node }) => node === "one").length;
    expect(fleet.launched).toHaveLength(6 + cut);
  });

  test("is given back by a claim that was never launched (D-CLM-4, D-CLM-6, D-POL-7)", async () => {
    const { fleet, node } = await oneRun(pooled("slots: 1", "      - {id: a, command: work, pool: p}\n"), {
      work: () => ({ seconds: 5 }),
    });
    node.holdSpawns = true;
    await fleet.until(3);
    expect(fleet.task("d", "a").state).toBe("running");
    expect(await pool(fleet, node)).toMatchObject({ used: 1 });
    const { medium } = fleet;
    node.useStore(null);
    await fleet.until(3);
    node.releaseSpawns();
    node.useStore(medium);
    await fleet.until(120);
    expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 0 });
    expect(fleet.launched).toHaveLength(1);
    expect(await pool(fleet, node)).toMatchObject({ used: 0, queued: 0, entries: [] });
  });

  test("does not leak when the write of the claim outlasts everybody's patience (acceptance 30)", async () => {
    const { fleet, node } = await oneRun(
      pooled(
        "slots: 1",
        "      - {id: a, command: work, pool: p}\n      - {id: s, type: sensor, command: work, pool: p}\n",
      ),
      { work: () => ({ seconds: 2 }) },
    );
    node.conduct = (operation) =>
      operation === "swapDocument" ? { kind: "slow", delayMs: 14_000 } : { kind: "answer" };
    await fleet.until(60);
    node.conduct = () => ({ kind: "answer" });
    await fleet.until(120);
    expect(fleet.task("d", "a")).toMatchObject({ state: "success", attempt: 0 });
    expect(fleet.task("d", "s")).toMatchObject({ state: "success", pokeCount: 1 });
    expect(fleet.launched).toHaveLength(2);
    expect(await pool(fleet, node)).toMatchObject({ used: 0, queued: 0, entries: [] });
  });

  test("that another took over, after a freeze, ends the process here (D-POL-8)", async () => {
    const fleet = startFleet({
      at,
      yaml: pooled("slots: 1", "      - {id: a, command: work, pool: p, retries: 1}\n"),
      commands: { work: (_launch, run) => ({ seconds: run === 0 ? 500 : 5 }) },
    });
    const node = fleet.start("one");
    await fleet.until(1);
    const key = await trigger(node);
    await fleet.until(3);
    node.freeze();
    const other = fleet.start("two");
    await fleet.until(100);
    node.thaw();
    await fleet.until(100);
    expect(fleet.run("d", key).state).toBe("success");
    expect(fleet.task("d", "a", key)).toMatchObject({ attempt: 1, host: "two" });
    expect(warnings(node)).toContain("WARNING pool p: the claim of task d.a ran out; its process here is stopped");
    expect(node.engine.running()).toEqual([]);
    expect(await pool(fleet, other)).toMatchObject({ used: 0, queued: 0, entries: [] });
  });
});

describe("an entry in the queue", () => {
  const held = (more: string): string =>
    pooled(
      "slots: 1",
      `      - {id: long, command: long, pool: p, queuePriority: 1}\n      - {id: z, command: work, pool: p, ${more}}\n`,
    );
  const long = { long: () => ({ seconds: 100 }) };

  test("that waited too long is a failed attempt, and the next one queues anew (D-POL-4)", async () => {
    const { fleet, node } = await oneRun(held("queueTimeout: 20, retries: 1, retryDelaySeconds: 70"), long);
    await fleet.until(25);
    expect(fleet.task("d", "z")).toMatchObject({
      state: "up_for_retry",
      attempt: 1,
      exitCode: null,
      failReason: "queue timeout",
    });
    expect(entries(await pool(fleet, node))).toEqual(["long/0 running"]);
    expect(warnings(node)).toEqual([
      `WARNING dag d: run ${fleet.run("d").runKey}: z was not let in by its pool: queue timeout`,
    ]);
    await fleet.until(180);
    expect(fleet.states("d")).toBe("success: long success, z success");
    expect(fleet.task("d", "z").attempt).toBe(1);
  });

  test("that an operator cancels is one too (D-POL-4)", async () => {
    const { fleet, node } = await oneRun(held("retries: 0"), long);
    await fleet.until(5);
    const id = (await pool(fleet, node)).entries.find(({ name }) => name === "d.z")?.id ?? "";
    void node.pools.cancel("p", id, "alice");
    await fleet.until(120);
    expect(fleet.task("d", "z")).toMatchObject({
      state: "failed",
      exitCode: null,
      failReason: "cancelled by operator",
    });
    expect(fleet.launched.map(({ taskKey }) => taskKey)).toEqual(["long"]);
    expect((await pool(fleet, node)).recent.map(({ name, reason }) => `${name} ${reason}`)).toContain(
      "d.z cancelled by operator",
    );
  });

  test("stays as it ended until some node has taken note of it (D-POL-4)", async () => {
    const { fleet, node } = await oneRun(held("queueTimeout: 20, retries: 0"), long);
    await fleet.until(10);
    node.crash("live");
    const other = fleet.start("b");
    await fleet.until(25);
    expect(entries(await pool(fleet, other))).toContain("z/0 expired");
    await fleet.until(200);
    expect(fleet.task("d", "z")).toMatchObject({ state: "failed", failReason: "queue timeout" });
    expect((await pool(fleet, other)).entries).toEqual([]);
  });

  test("has no room in a full pool: one warning, and it gets in within 5 s of there being some (D-POL-5)", async () => {
    const { fleet, node } = await oneRun(
      pooled(
        "slots: 1, maxQueued: 1",
        "      - {id: a, command: work, pool: p, queuePriority: 2}\n      - {id: b, command: work, pool: p}\n      - {id: c, command: work, pool: p}\n",
      ),
      { work: () => ({ seconds: 40 }) },
    );
    await fleet.until(30);
    expect(fleet.states("d")).toBe("running: a running, b pending, c pending");
    expect(warnings(node)).toEqual([
      `WARNING Job d.b could not enter pool p: its queue is full (1 entries); run ${fleet.run("d").runKey} of dag d asks again`,
      `WARNING Job d.c could not enter pool p: its queue is full (1 entries); run ${fleet.run("d").runKey} of dag d asks again`,
    ]);
    await fleet.until(120);
    expect(fleet.states("d")).toBe("success: a success, b success, c success");
    expect(fleet.launched.at(-1)?.at ?? 0).toBeLessThan(Date.parse(at) + 92_000);
    expect(fleet.task("d", "c").attempt).toBe(0);
  });

  test("is retired when its sensor's time is over (D-POL-6)", async () => {
    const { fleet, node } = await oneRun(
      held("type: sensor, pokeIntervalSeconds: 5, pokeTimeoutSeconds: 30").replace(
        "long, pool: p, queuePriority: 1}",
        "long, pool: p, queuePriority: 1, dependsOn: [go]}\n      - {id: go, command: go}",
      ),
      { ...long, work: () => ({ exitCode: 1 }), go: () => ({ seconds: 3 }) },
    );
    await fleet.until(50);
    expect(fleet.task("d", "z")).toMatchObject({ state: "failed", failReason: "sensor timed out", pokeCount: 1 });
    const view = await pool(fleet, node);
    expect(entries(view)).toEqual(["long/0 running"]);
    expect(view.recent.at(-1)).toMatchObject({
      name: "d.z",
      state: "cancelled",
      reason: "task is no longer waiting",
      dag: { poke: 1 },
    });
  });

  test("of a task that a reload moved to another pool, or out of it, is retired there (D-POL-6)", async () => {
    const { fleet, node } = await oneRun(held("retries: 0"), long);
    await fleet.until(5);
    expect(entries(await pool(fleet, node))).toEqual(["long/0 running", "z/0 waiting"]);
    node.apply(held("retries: 0").replace("work, pool: p", "work"));
    await fleet.until(5);
    expect(fleet.states("d")).toBe("running: long running, z success");
    expect(entries(await pool(fleet, node))).toEqual(["long/0 running"]);
  });

  test("of a run whose DAG is gone is retired, and asked for anew when it is back (13.3)", async () => {
    const { fleet, node } = await oneRun(held("retries: 0"), long);
    await fleet.until(5);
    node.apply("pools: {p: {slots: 1}}\ndags:\n  - {name: other, tasks: [{id: x, command: x}]}\n");
    await fleet.until(10);
    expect(entries(await pool(fleet, node))).toEqual(["long/0 running"]);
    node.apply(held("retries: 0"));
    await fleet.until(200);
    expect(fleet.task("d", "z")).toMatchObject({ state: "success", attempt: 0 });
  });

  test("waits on when its node is stopped, and serves the next owner of the run", async () => {
    const { fleet, node } = await oneRun(held("retries: 0"), long);
    await fleet.until(5);
    const before = (await pool(fleet, node)).entries.find(({ name }) => name === "d.z");
    node.pools.stop();
    const stopping = node.engine.stop();
    const next = fleet.start("b");
    await fleet.until(120);
    await stopping;
    expect(fleet.states("d")).toBe("success: long success, z success");
    expect(fleet.launched.map(({ node: name, taskKey }) => `${name} ${taskKey}`)).toEqual(["a long", "b z"]);
    const after = (await pool(fleet, next)).recent.find(({ name }) => name === "d.z");
    expect(after).toMatchObject({ id: before?.id, enqueuedAt: before?.enqueuedAt });
    expect(warnings(node)).toEqual([]);
  });

  test("that nobody waits for does not block the queue: any node sees that and retires it (D-POL-6)", async () => {
    const { fleet, node } = await oneRun(pooled("slots: 1", "      - {id: a, command: work, pool: p}\n"));
    await fleet.until(5);
    const { runKey, runId } = fleet.run("d");
    void node.pools.enqueue("p", {
      id: "dag-of-a-claim-that-died",
      kind: "task",
      name: "d.a",
      source: "dag",
      slots: 1,
      priority: 9,
      timeoutMs: 3600_000,
      jobDigest: "",
      pinnedTo: null,
      attempt: 0,
      retryEpoch: null,
      dag: { name: "d", runKey, runId, taskkey: "a", poke: null },
    });
    await fleet.until(2);
    await trigger(node);
    await fleet.until(5);
    expect(fleet.launched).toHaveLength(2);
    expect((await pool(fleet, node)).entries).toEqual([]);
  });
});
