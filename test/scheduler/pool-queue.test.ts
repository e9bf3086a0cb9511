import { describe, expect, test } from "vitest";
import { settled } from "../../src/platform/simulated-clock.ts";
import type { Operation } from "../../src/store/engine.ts";
import { failing, hanging } from "../journal/support/journal-bench.ts";
import { type PoolNode, poolNode, states, stored, task, twoNodes, warehouse, work } from "./support/pool-node.ts";

const SECOND = 1000;
const MINUTE = 60_000;

const queue = (node: PoolNode, ...ids: string[]) =>
  Promise.all(ids.map((id) => node.queues.enqueue("warehouse", work(id))));

/** Store operations of a node while this time passes. */
async function traffic(node: PoolNode, milliseconds: number): Promise<readonly Operation[]> {
  const before = node.asked.length;
  await node.bench.pass(milliseconds);
  return node.asked.slice(before);
}

describe("admission", () => {
  test("never more than its slots run, and what waits follows as they come free (acceptance 46)", async () => {
    const node = poolNode();
    await queue(node, "a", "b", "c", "d", "e");
    await node.bench.pass(0);
    expect(node.told).toEqual(["admitted a", "admitted b"]);
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    expect(node.told.slice(2)).toEqual(["admitted c"]);
    node.queues.completed("warehouse", "c");
    node.queues.completed("warehouse", "b");
    await node.bench.pass(0);
    expect(node.told.slice(3)).toEqual(["admitted d", "admitted e"]);
    expect(states(stored(node).recent)).toEqual(["a done", "c done", "b done"]);
  });

  test("nor over all nodes of the store (acceptance 46)", async () => {
    const { a, b, pass } = twoNodes();
    await Promise.all([queue(a, "a1", "a2", "a3"), queue(b, "b1", "b2")]);
    const ended = new Set<string>();
    const started = (): string[] => [...a.told, ...b.told].map((line) => line.replace("admitted ", ""));
    for (let round = 0; round < 8; round++) {
      await pass(SECOND);
      const live = started().filter((id) => !ended.has(id) && !id.startsWith("left"));
      expect(live.length).toBeLessThanOrEqual(2);
      expect(stored(a).entries.filter(({ state }) => state === "running")).toHaveLength(live.length);
      for (const id of live) {
        ended.add(id);
        for (const node of [a, b]) node.queues.completed("warehouse", id);
      }
    }
    expect([...ended].sort()).toEqual(["a1", "a2", "a3", "b1", "b2"]);
  });

  test("priority goes first, then time, then id (19.4.2)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "first");
    await node.bench.pass(0);
    await node.queues.enqueue("warehouse", work("late"));
    await node.bench.pass(10);
    await node.queues.enqueue("warehouse", work("later"));
    await node.queues.enqueue("warehouse", work("urgent", { priority: 10 }));
    for (const id of ["first", "urgent", "late"]) {
      node.queues.completed("warehouse", id);
      await node.bench.pass(0);
    }
    expect(node.told).toEqual(["admitted first", "admitted urgent", "admitted late", "admitted later"]);
  });

  test("a wide head blocks narrow followers on every node (19.4.2, acceptance 46)", async () => {
    const { a, b, pass } = twoNodes();
    await queue(a, "narrow");
    await pass(0);
    await a.queues.enqueue("warehouse", work("wide", { slots: 2 }));
    await pass(1);
    await b.queues.enqueue("warehouse", work("follower"));
    await pass(MINUTE);
    expect([a.told, b.told]).toEqual([["admitted narrow"], []]);
    a.queues.completed("warehouse", "narrow");
    await pass(SECOND);
    expect([...a.told.slice(1), ...b.told]).toContain("admitted wide");
    expect(states(stored(a).entries)).toContain("follower waiting");
  });

  test.each([
    ["paused", { isPaused: true }],
    ["another node's", { isOwner: false }],
    ["held by Forbid", { isForbidden: true }],
  ])("a head that is %s waits, and nothing overtakes it (19.4.2, 19.4.3)", async (_, facts) => {
    const node = poolNode();
    node.facts.set("head", facts);
    await queue(node, "head", "next");
    await node.bench.pass(MINUTE);
    expect(node.told).toEqual([]);
    node.facts.delete("head");
    node.queues.kick();
    await node.bench.pass(0);
    expect(node.told).toEqual(["admitted head", "admitted next"]);
  });

  test("what another node may run is left to it (19.4.4)", async () => {
    const { a, b, pass } = twoNodes();
    a.facts.set("job", { isOwner: false });
    await a.queues.enqueue("warehouse", work("job"));
    await pass(10 * SECOND);
    expect([a.told, b.told]).toEqual([[], ["admitted job"]]);
    b.queues.completed("warehouse", "job");
    await pass(10 * SECOND);
    expect(a.told).toEqual(["left job done"]);
  });

  test("what is pinned waits for its node, until its deadline (19.4.4, 19.4.6)", async () => {
    const { a, b, pass } = twoNodes();
    await b.queues.enqueue("warehouse", work("here", { source: "manual", pinnedTo: "host-b" }));
    await a.queues.enqueue("warehouse", work("gone", { pinnedTo: "host-z", timeoutMs: MINUTE }));
    await pass(30 * SECOND);
    expect([a.told, b.told]).toEqual([[], ["admitted here"]]);
    await pass(31 * SECOND);
    expect(a.told).toEqual(["left gone expired: queue timeout"]);
  });

  test("of one job the next instance is judged when the one before runs", async () => {
    const node = poolNode();
    node.facts.set("job", {
      get isForbidden() {
        return node.told.includes("admitted one") && !node.told.includes("ended");
      },
    });
    for (const id of ["one", "two"]) void node.queues.enqueue("warehouse", work(id, { name: "job", source: "manual" }));
    await node.bench.pass(MINUTE);
    expect(node.told).toEqual(["admitted one"]);
    node.told.push("ended");
    node.queues.kick();
    await node.bench.pass(0);
    expect(node.told).toEqual(["admitted one", "ended", "admitted two"]);
  });

  test.each([
    ["gone from the configuration", { job: null }, "the job is gone from the configuration"],
    ["changed", { job: { digest: "e", isEnabled: true } }, "the job has been changed"],
    ["disabled", { job: { digest: "d", isEnabled: false } }, "the job has been disabled"],
  ])("an entry whose job is %s is cancelled (19.4.6)", async (_, facts, reason) => {
    const node = poolNode();
    node.facts.set("job", facts);
    await queue(node, "job", "next");
    await node.bench.pass(0);
    expect(node.told.sort()).toEqual(["admitted next", `left job cancelled: ${reason}`]);
  });

  test("a start that the host cannot make goes back to its place and is tried at the next pass", async () => {
    const node = poolNode({ pool: warehouse(3) });
    node.refuses = true;
    for (const id of ["one", "two"]) void node.queues.enqueue("warehouse", work(id, { name: "job", source: "manual" }));
    await node.bench.pass(5 * SECOND);
    expect(node.told.length).toBeGreaterThan(2);
    expect(node.told.length).toBeLessThan(20);
    const tries = node.told.length;
    node.refuses = false;
    await node.bench.pass(2 * SECOND);
    expect(node.told.slice(tries)).toEqual(["admitted one", "admitted two"]);
  });
});

describe("what does not get in", () => {
  test("a full queue refuses a fire with a warning, and the daemon goes on (19.4.5, acceptance 46)", async () => {
    const node = poolNode({ pool: warehouse(1, 1) });
    await queue(node, "a");
    await node.bench.pass(0);
    const [kept, dropped] = await queue(node, "b", "c");
    expect(kept).toMatchObject({ kind: "queued" });
    expect(dropped).toEqual({ kind: "refused", why: "its queue is full (1 entries)" });
    expect(node.bench.logged).toEqual(["WARNING Job c could not enter pool warehouse: its queue is full (1 entries)"]);
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    expect(await queue(node, "d")).toMatchObject([{ kind: "queued" }]);
  });

  test("a new capacity waits for the drain, and is then in force (19.4.5)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a");
    await node.bench.pass(0);
    node.configure(warehouse(3));
    const [refused] = await queue(node, "b");
    expect(refused).toMatchObject({ kind: "refused", why: expect.stringContaining("from 1 to 3 slots") });
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    await queue(node, "b", "c", "d");
    await node.bench.pass(0);
    expect(node.told).toEqual(["admitted a", "admitted b", "admitted c", "admitted d"]);
  });

  test("asked twice by one id it is queued once (D-POL-3)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    const answers = await queue(node, "a", "a", "b");
    await node.bench.pass(0);
    expect(answers.map(({ kind }) => kind)).toEqual(["queued", "queued", "queued"]);
    expect(states(stored(node).entries)).toEqual(["a running", "b waiting"]);
  });

  test("an entry waits no longer than its time (19.4.6, acceptance 46)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a");
    await node.queues.enqueue("warehouse", work("b", { timeoutMs: 30 * SECOND }));
    await node.bench.pass(30 * SECOND);
    expect(node.told).toEqual(["admitted a", "left b expired: queue timeout"]);
    expect(states(stored(node).recent)).toEqual(["b expired"]);
  });

  test("a task that came to nothing stays until the engine took note of it (19.4.6, D-POL-4)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a");
    await node.queues.enqueue("warehouse", task("t", { timeoutMs: SECOND }));
    await node.bench.pass(2 * SECOND);
    expect(node.told).toContain("left t expired: queue timeout");
    expect(await node.queues.enqueue("warehouse", task("t"))).toMatchObject({
      kind: "queued",
      entry: { state: "expired" },
    });
    node.queues.retire("warehouse", "t");
    await node.bench.pass(0);
    expect(states(stored(node).entries)).toEqual(["a running"]);
  });

  test("locks that do not exclude: everything is refused, and nothing written (19.4.9)", async () => {
    const node = poolNode({ fidelity: { kind: "unreliable", because: "mounted with nolock" } });
    const why = "pool state requires reliable exclusive locks";
    expect(await queue(node, "a")).toEqual([{ kind: "refused", why }]);
    expect(await node.queues.cancel("warehouse", "a", null)).toEqual({ kind: "refused", why });
    await node.bench.pass(MINUTE);
    expect(node.asked).not.toContain("swapDocument");
    expect(node.bench.logged.filter((line) => line.startsWith("ERROR"))).toHaveLength(1);
    expect(node.bench.logged).toContain(`WARNING Job a could not enter pool warehouse: ${why}`);
  });

  test("a pool that is not configured takes nothing in", async () => {
    const node = poolNode();
    expect(await node.queues.enqueue("nowhere", work("a"))).toEqual({ kind: "refused", why: "it is not configured" });
    expect(await node.queues.cancel("nowhere", "a", null)).toEqual({ kind: "unknown pool" });
  });

  test("what was queued in a pool that goes is cancelled; what runs in it keeps its claim", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a", "b");
    await node.bench.pass(0);
    node.configure();
    await node.bench.pass(5 * MINUTE);
    expect(node.told).toEqual(["admitted a", "left b cancelled: the pool is gone from the configuration"]);
    expect(states(stored(node).entries)).toEqual(["a running"]);
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    expect(states(stored(node).entries)).toEqual([]);
    expect(await traffic(node, MINUTE)).toEqual([]);
  });
});

describe("claims", () => {
  test("are renewed every ten seconds for as long as the run takes (19.4.8)", async () => {
    const node = poolNode({ topology: "single-node" });
    await queue(node, "a");
    await node.bench.pass(0);
    expect(await traffic(node, MINUTE)).toEqual(Array(6).fill(["readDocument", "swapDocument"]).flat());
    expect(stored(node).entries).toMatchObject([{ id: "a", leaseUntil: node.bench.clock.wallNow() + 30 * SECOND }]);
  });

  test("a node that was killed loses them after 30 s, and they run elsewhere (19.4.8, acceptance 46)", async () => {
    const { a, b, pass } = twoNodes();
    await queue(a, "a1", "a2", "a3");
    await pass(25 * SECOND); // renewed at 20 s
    a.kill();
    await pass(24 * SECOND);
    expect(b.told).toEqual([]);
    await pass(2 * SECOND);
    expect(b.told).toEqual(["admitted a1", "admitted a2"]);
    b.queues.completed("warehouse", "a1");
    await pass(0);
    expect(b.told).toEqual(["admitted a1", "admitted a2", "admitted a3"]);
  });

  test("a queue outlives the daemon (acceptance 46)", async () => {
    const before = poolNode({ pool: warehouse(1) });
    await queue(before, "a", "b", "c");
    await before.bench.pass(0);
    before.queues.completed("warehouse", "a");
    before.queues.stop();
    await before.queues.close();
    expect(states(stored(before).entries)).toEqual(["b waiting", "c waiting"]);
    before.kill();

    const after = poolNode({ on: before.bench, pool: warehouse(1) });
    await after.bench.pass(0);
    expect(after.told).toEqual(["admitted b"]);
    after.queues.completed("warehouse", "b");
    await after.bench.pass(0);
    expect(after.told).toEqual(["admitted b", "admitted c"]);
  });

  test("one that another node has meanwhile is lost, and its process to be stopped (19.4.8)", async () => {
    const { a, b, pass } = twoNodes();
    await queue(a, "job");
    await pass(0);
    a.bench.behave(failing());
    await pass(35 * SECOND);
    expect(b.told).toEqual(["admitted job"]);
    expect(a.told).toEqual(["admitted job"]);
    a.bench.behave(null);
    await pass(2 * SECOND);
    expect(a.told).toEqual(["admitted job", "lost job"]);
    a.queues.completed("warehouse", "job"); // of what was stopped: not b's claim
    await pass(MINUTE);
    expect(states(stored(b).entries)).toEqual(["job running"]);
  });

  test("a machine that slept for an hour finds its claims its own where nobody else came (P4)", async () => {
    const node = poolNode();
    await queue(node, "a", "b", "c");
    await node.bench.pass(5 * SECOND);
    node.bench.clock.step(3600_000 - MINUTE);
    await queue(node, "d");
    await node.bench.pass(MINUTE / 2);
    expect(node.told).toEqual(["admitted a", "admitted b"]);
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    expect(node.told.slice(2)).toEqual(["admitted c"]);
  });

  test("a completion that cannot be written is told again each pass, not renewed meanwhile, and its slot kept (19.4.8)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a", "b");
    await node.bench.pass(0);
    const { leaseUntil } = stored(node).entries[0] ?? {};
    node.bench.behave(failing("swapDocument"));
    node.queues.completed("warehouse", "a");
    await node.bench.pass(12 * SECOND);
    expect(stored(node).entries[0]).toMatchObject({ id: "a", state: "running", leaseUntil });
    expect(node.told).toEqual(["admitted a"]);
    node.bench.behave(null);
    await node.bench.pass(SECOND);
    expect(node.told).toEqual(["admitted a", "admitted b"]);
    expect(states(stored(node).recent)).toEqual(["a done"]);
  });

  test("a completion counts however late it is written, while nobody else came (P4)", async () => {
    const node = poolNode();
    await queue(node, "a", "b");
    await node.bench.pass(0);
    node.bench.behave(failing("swapDocument"));
    node.queues.completed("warehouse", "a");
    await node.bench.pass(2 * MINUTE);
    node.bench.behave(null);
    await node.bench.pass(2 * SECOND);
    expect(node.told).toEqual(["admitted a", "admitted b"]);
    expect([states(stored(node).entries), states(stored(node).recent)]).toEqual([["b running"], ["a done"]]);
    expect(node.bench.logged).toEqual([]);
  });

  test("a completion that comes after another node took the claim is given up, and said", async () => {
    const { a, b, pass } = twoNodes();
    await queue(a, "job");
    await pass(0);
    a.bench.behave(failing("swapDocument"));
    a.queues.completed("warehouse", "job");
    await pass(35 * SECOND);
    expect(b.told).toEqual(["admitted job"]); // at least once
    a.bench.behave(null);
    await pass(2 * SECOND);
    expect(a.bench.logged).toEqual([
      "WARNING pool warehouse: the claim of job job ran out before its completion could be written; it may run again",
    ]);
    expect(states(stored(b).entries)).toEqual(["job running"]);
    expect(await traffic(a, 9 * SECOND)).not.toContain("swapDocument");
  });

  test("a claim whose answer never came starts nothing, goes back, and is claimed again (Q4)", async () => {
    const node = poolNode();
    let lost = 0;
    node.facts.set("a", { isPaused: true });
    await queue(node, "a");
    await node.bench.pass(0);
    node.facts.delete("a");
    node.bench.behave((operation) =>
      operation === "swapDocument" && lost++ === 0 ? { kind: "silent", lands: true } : { kind: "answer" },
    );
    await node.bench.pass(3 * SECOND);
    expect(states(stored(node).entries)).toEqual(["a running"]);
    expect(node.told).toEqual([]);
    await node.bench.pass(10 * SECOND);
    expect(node.told).toEqual(["admitted a"]);
    await node.bench.pass(MINUTE);
    expect(states(stored(node).entries)).toEqual(["a running"]);
    expect(node.told).toEqual(["admitted a"]);
  });
});

describe("retries (F-21, F-26, F-31, acceptance 47)", () => {
  const retry = (epoch: number) => work("retry", { name: "job", source: "retry", attempt: 3, retryEpoch: epoch });

  async function epochOf(node: PoolNode): Promise<number> {
    await node.bench.pass(0);
    return stored(node).retryScopes.job?.epoch ?? 0;
  }

  test("a waiting retry keeps its attempt number", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "other");
    await node.queues.enqueue("warehouse", retry(0));
    await node.bench.pass(10 * MINUTE);
    expect(stored(node).entries[1]).toMatchObject({ id: "retry", state: "waiting", attempt: 3 });
    node.queues.completed("warehouse", "other");
    await node.bench.pass(0);
    expect(stored(node).entries).toMatchObject([{ id: "retry", state: "running", attempt: 3 }]);
  });

  test("a newer fire ends it, on whichever node (19.4.7)", async () => {
    const { a, b, pass } = twoNodes(warehouse(1));
    await queue(a, "other");
    await a.queues.enqueue("warehouse", retry(0));
    await pass(0);
    await b.queues.enqueue("warehouse", work("fire", { name: "job" }));
    await pass(SECOND);
    expect(a.told).toEqual(["admitted other", "left retry cancelled: its retry sequence has ended"]);
    expect(await a.queues.ladderStands("warehouse", "job", 0)).toBe(false);
    expect(await a.queues.ladderStands("warehouse", "job", 1)).toBe(true);
    expect(await a.queues.enqueue("warehouse", { ...retry(0), id: "again" })).toEqual({ kind: "superseded" });
  });

  test("a success on another node ends it, and a fire that waits runs without retries (F-26)", async () => {
    const { a, b, pass } = twoNodes(warehouse(1));
    await queue(a, "other");
    await a.queues.enqueue("warehouse", work("fire", { name: "job" }));
    await pass(0);
    b.queues.endLadder("warehouse", "job");
    a.queues.completed("warehouse", "other");
    await pass(SECOND);
    expect([...a.told, ...b.told]).toContain("admitted fire without retries");
  });

  test("a fire that finds an earlier entry of its job in the queue leaves that one without, and has its own (F-21)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "other");
    await node.queues.enqueue("warehouse", work("early", { name: "job" }));
    await node.queues.enqueue("warehouse", work("fire", { name: "job" }));
    for (const id of ["other", "early"]) {
      node.queues.completed("warehouse", id);
      await node.bench.pass(0);
    }
    expect(node.told).toEqual(["admitted other", "admitted early without retries", "admitted fire"]);
  });

  test("under a store fault the end of a sequence is said, kept, and written before anything else (19.4.9)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "other");
    await node.queues.enqueue("warehouse", retry(0));
    await node.bench.pass(0);
    node.bench.behave(failing());
    node.queues.endLadder("warehouse", "job");
    await node.bench.pass(10 * SECOND);
    expect(node.bench.logged).toEqual(["WARNING pool warehouse: retry settlement deferred"]);
    expect(await node.queues.ladderStands("warehouse", "job", 0)).toBe("unknown");
    node.bench.behave(null);
    expect(await node.queues.ladderStands("warehouse", "job", 0)).toBe(false);
    expect(node.told).toContain("left retry cancelled: its retry sequence has ended");
    expect(await epochOf(node)).toBe(1);
  });

  test("a fire that the store keeps out has ended the sequence all the same, with both warnings (19.4.9)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "other");
    node.bench.behave(failing());
    expect(await node.queues.enqueue("warehouse", work("fire", { name: "job" }))).toEqual({
      kind: "unavailable",
      why: "its state is unavailable (the disk is full)",
    });
    expect(node.bench.logged).toEqual([
      "WARNING pool warehouse: retry settlement deferred",
      "WARNING Job job could not enter pool warehouse: its state is unavailable (the disk is full)",
    ]);
    node.bench.behave(null);
    await node.bench.pass(SECOND);
    expect(await epochOf(node)).toBe(1);
    expect(states(stored(node).entries)).toEqual(["other running"]);
  });

  test("an end that landed without an answer ends no later sequence", async () => {
    const { a, b, pass } = twoNodes(warehouse(1));
    await queue(a, "other");
    await pass(0);
    let swaps = 0;
    a.bench.behave((operation) =>
      operation === "swapDocument" && swaps++ === 0 ? { kind: "silent", lands: true } : { kind: "answer" },
    );
    a.queues.endLadder("warehouse", "job");
    await pass(SECOND);
    expect(await epochOf(b)).toBe(1);
    await b.queues.enqueue("warehouse", work("fire", { name: "job" }));
    expect(await epochOf(b)).toBe(2);
    await pass(MINUTE);
    expect(await epochOf(b)).toBe(2);
    expect(await b.queues.ladderStands("warehouse", "job", 2)).toBe(true);
  });

  test("a retry that is kept out is not said here: its first deferral is the caller's to tell (F-31)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await node.bench.pass(0);
    node.bench.behave(failing());
    expect(await node.queues.enqueue("warehouse", retry(0))).toMatchObject({ kind: "unavailable" });
    expect(node.bench.logged).toEqual([]);
    node.bench.behave(null);
    expect(await node.queues.enqueue("warehouse", retry(0))).toMatchObject({ kind: "queued", entry: { attempt: 3 } });
  });
});

describe("a store that does not answer", () => {
  test("keeps nobody waiting longer than 5 s, however many ask (19.3)", async () => {
    const node = poolNode();
    await node.bench.pass(0);
    node.bench.behave(hanging());
    const answers: string[] = [];
    for (let index = 0; index < 50; index++) {
      await node.bench.pass(100);
      void node.queues.enqueue("warehouse", work(`job-${index}`)).then(({ kind }) => answers.push(kind));
    }
    await node.bench.pass(5 * SECOND);
    expect(answers).toEqual(Array(50).fill("unavailable"));
  });

  test("an entry that landed after its asker was told otherwise is taken back (Q3)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "other");
    await node.bench.pass(0);
    let swaps = 0;
    node.bench.behave((operation) =>
      operation === "swapDocument" && swaps++ === 0 ? { kind: "silent", lands: true } : { kind: "answer" },
    );
    const asked = node.queues.enqueue("warehouse", work("manual", { source: "manual" }));
    await node.bench.pass(4 * SECOND);
    expect(states(stored(node).entries)).toEqual(["other running", "manual waiting"]);
    await node.bench.pass(2 * SECOND);
    expect(await asked).toMatchObject({ kind: "unavailable" });
    expect(states(stored(node).entries)).toEqual(["other running"]);
    expect(await node.queues.enqueue("warehouse", work("manual", { source: "manual" }))).toMatchObject({
      kind: "queued",
      entry: { state: "waiting" },
    });
    await node.bench.pass(MINUTE);
    expect(states(stored(node).entries)).toEqual(["other running", "manual waiting"]);
  });

  test("a backend that is not running is unavailable, and waited for", async () => {
    const node = poolNode();
    node.bench.unplug();
    expect(await queue(node, "a")).toMatchObject([{ kind: "unavailable" }]);
    expect(await node.queues.list()).toBe("unavailable");
    expect(await node.queues.cancel("warehouse", "a", null)).toEqual({ kind: "unavailable" });
    node.bench.plugIn();
    expect(await queue(node, "b")).toMatchObject([{ kind: "queued" }]);
    await node.bench.pass(0);
    expect(node.told).toEqual(["admitted b"]);
  });

  test("a document that cannot be understood is never written over (19.4.9)", async () => {
    const node = poolNode();
    const foreign = { slots: 4, entries: {} };
    await node.bench.store.documents.mutate("pool", "warehouse", () => ({ kind: "put", body: foreign, answer: null }));
    expect(await queue(node, "a")).toEqual([
      { kind: "unavailable", why: "its state is unavailable (its document is unreadable)" },
    ]);
    expect(await node.queues.list()).toBe("unavailable");
    await node.bench.pass(MINUTE);
    expect(stored(node)).toEqual(foreign);
  });
});

describe("looking and steering", () => {
  test("the list shows each pool as it stands", async () => {
    const node = poolNode({ pool: warehouse(1, 7) });
    await queue(node, "a", "b");
    await node.bench.pass(0);
    node.configure(warehouse(1, 7), { name: "attic", slots: 3, maxQueued: 5 });
    const list = await node.queues.list();
    expect(list).toMatchObject([
      { name: "attic", slots: 3, used: 0, queued: 0, maxQueued: 5, entries: [], recent: [] },
      { name: "warehouse", slots: 1, used: 1, queued: 1, maxQueued: 7, entries: [{ id: "a" }, { id: "b" }] },
    ]);
  });

  test("an operator cancels what waits, once or twice, and not what runs (running 19)", async () => {
    const { a, b, pass } = twoNodes(warehouse(1));
    await queue(a, "a", "b");
    await pass(0);
    const cancelled = { kind: "cancelled", entry: { id: "b", state: "cancelled", reason: "cancelled by operator" } };
    expect(await b.queues.cancel("warehouse", "b", "ops")).toMatchObject(cancelled);
    expect(await b.queues.cancel("warehouse", "b", "ops")).toMatchObject(cancelled);
    expect(await b.queues.cancel("warehouse", "a", "ops")).toEqual({
      kind: "refused",
      why: "queue entry a is already running; cancel job a instead",
    });
    expect(await b.queues.cancel("warehouse", "z", "ops")).toEqual({ kind: "unknown entry" });
    await pass(10 * SECOND);
    expect(a.told).toEqual(["admitted a", "left b cancelled: cancelled by operator"]);
    expect(b.bench.logged[0]).toBe("INFO pool warehouse: job b (b) was cancelled in the queue by ops");
  });

  test("nothing waits, runs or has to be told: no traffic at all on a store of one's own (19.4.10)", async () => {
    const node = poolNode({ topology: "single-node" });
    await queue(node, "a");
    await node.bench.pass(0);
    node.queues.completed("warehouse", "a");
    await node.bench.pass(0);
    node.queues.kick();
    expect(await traffic(node, 10 * MINUTE)).toEqual([]);
    expect(node.bench.clock.pending).toBe(0);
  });

  test("on a shared store an idle node looks every ten seconds, and finds what a dead one left (Q5)", async () => {
    const { a, b, pass } = twoNodes();
    a.facts.set("job", { isOwner: false });
    await pass(0);
    expect(await traffic(b, MINUTE)).toEqual(Array(6).fill("readDocument"));
    await queue(a, "job");
    a.kill();
    await pass(10 * SECOND);
    expect(b.told).toEqual(["admitted job"]);
  });

  test("while something waits the head is looked at each second, by reading alone (19.4.10)", async () => {
    const node = poolNode({ topology: "single-node" });
    node.facts.set("a", { isPaused: true });
    await queue(node, "a");
    await node.bench.pass(0);
    expect(await traffic(node, 10 * SECOND)).toEqual(Array(10).fill("readDocument"));
  });
});

describe("shutdown and another store", () => {
  test("nothing is admitted or queued after the stop; what runs is renewed until it ends (19.4.10)", async () => {
    const node = poolNode({ pool: warehouse(1) });
    await queue(node, "a", "b");
    await node.bench.pass(0);
    node.queues.stop();
    expect(await queue(node, "c")).toEqual([{ kind: "refused", why: "the daemon is shutting down" }]);
    await node.bench.pass(5 * MINUTE);
    expect(stored(node).entries[0]).toMatchObject({
      id: "a",
      state: "running",
      holder: expect.stringContaining("host-a#"),
    });
    node.queues.completed("warehouse", "a");
    await node.bench.pass(MINUTE);
    expect(node.told).toEqual(["admitted a"]);
    expect(states(stored(node).entries)).toEqual(["b waiting"]);
    await node.queues.close();
    expect(node.bench.clock.pending).toBe(0);
  });

  test("a claim that is won while the daemon stops goes back unused (Q6)", async () => {
    const node = poolNode();
    node.facts.set("a", { isPaused: true });
    await queue(node, "a");
    await node.bench.pass(0);
    node.facts.delete("a");
    node.bench.behave((operation) =>
      operation === "swapDocument" ? { kind: "slow", delayMs: 500 } : { kind: "answer" },
    );
    node.queues.kick();
    await node.bench.pass(100);
    node.queues.stop();
    await node.bench.pass(5 * SECOND);
    expect(node.told).toEqual([]);
    expect(states(stored(node).entries)).toEqual(["a waiting"]);
  });

  test("the last step tells what is still to be told, once more", async () => {
    const node = poolNode();
    await queue(node, "a");
    await node.bench.pass(0);
    node.bench.behave(failing("swapDocument"));
    node.queues.completed("warehouse", "a");
    await node.bench.pass(10 * SECOND);
    node.queues.stop();
    node.bench.behave(null);
    const closing = node.queues.close();
    await settled();
    await closing;
    expect(states(stored(node).recent)).toEqual(["a done"]);
    expect(node.bench.clock.pending).toBe(0);
  });

  test("on another store nothing of the old one is renewed, told or lost", async () => {
    const node = poolNode();
    await queue(node, "a", "b", "c");
    await node.bench.pass(0);
    node.bench.medium.documents.clear(); // the other store
    node.queues.forget();
    node.queues.completed("warehouse", "a");
    await node.bench.pass(MINUTE);
    expect(node.told).toEqual(["admitted a", "admitted b"]);
    expect(node.bench.medium.documents.size).toBe(0);
  });
});
