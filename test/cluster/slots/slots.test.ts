import { expect, test } from "vitest";
import {
  nodeOf,
  notYieldedMessage,
  slotHeldMessage,
  slotUndecidedMessage,
} from "../../../src/cluster/slots/messages.ts";
import { type ClusterSlots, createClusterSlots } from "../../../src/cluster/slots/slots.ts";
import type { Backend } from "../../../src/journal/backend.ts";
import { createLockTrust } from "../../../src/journal/lock-trust.ts";
import { settled } from "../../../src/platform/simulated-clock.ts";
import type { Operation } from "../../../src/store/engine.ts";
import { failing, hanging, type JournalBench, journalBench } from "../../journal/support/journal-bench.ts";

const TTL = 30_000;

interface SlotNode {
  readonly bench: JournalBench;
  readonly slots: ClusterSlots;
  /** Jobs whose slot somebody asked for, once per telling. */
  readonly yields: string[];
  /** As if the process was killed: it asks the store for nothing any more. */
  kill(): void;
}

let processes = 0;

function nodeOn(shared: JournalBench, host: string, ttlSeconds = 30): SlotNode {
  const bench = journalBench({ clock: shared.clock, medium: shared.medium });
  let alive = true;
  const backend: Backend = () => (alive ? bench.backend() : null);
  const yields: string[] = [];
  const slots = createClusterSlots({
    self: { host, proc: (++processes).toString(16).padStart(12, "0") },
    backend,
    locks: createLockTrust({ backend, log: bench.log }),
    ttlSeconds: () => ttlSeconds,
    clock: bench.clock,
    log: bench.log,
    onYield: (job) => yields.push(job),
  });
  return {
    bench,
    slots,
    yields,
    kill() {
      alive = false;
      slots.forget();
    },
  };
}

/** Two nodes on one store. */
function pair(ttlSeconds = 30): { readonly a: SlotNode; readonly b: SlotNode; pass(ms: number): Promise<void> } {
  const shared = journalBench();
  return { a: nodeOn(shared, "host-a", ttlSeconds), b: nodeOn(shared, "host-b", ttlSeconds), pass: shared.pass };
}

/** What a promise has come to after this much time; null while it is open. */
async function within<T>(bench: JournalBench, milliseconds: number, asked: Promise<T>): Promise<T | null> {
  let answer: T | null = null;
  void asked.then((value) => {
    answer = value;
  });
  await bench.pass(milliseconds);
  return answer;
}

const leaseOf = (bench: JournalBench, job: string) => bench.medium.leases.get(`slots/${job}`)?.lease;

test("a slot is one node's until its last run has ended (running 7.1, 7.6)", async () => {
  const { a, b, pass } = pair();
  expect(await a.slots.claim("load")).toEqual({ kind: "held", fresh: true });
  expect(await a.slots.claim("load")).toEqual({ kind: "held", fresh: false });
  const { holder } = leaseOf(a.bench, "load") ?? { holder: "" };
  expect(holder).toMatch(/^host-a#[0-9a-f]{12}$/);
  expect(await b.slots.claim("load")).toEqual({ kind: "taken", holder });
  expect(a.slots.state("load")).toEqual({ held: true, holder, refs: 2 });
  expect(b.slots.state("load")).toEqual({ held: false, holder, refs: 0 });

  a.slots.release("load");
  await settled();
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  a.slots.release("load");
  await pass(0);
  expect(a.slots.state("load")).toEqual({ held: false, holder: null, refs: 0 });
  expect(await b.slots.claim("load")).toEqual({ kind: "held", fresh: true });
  expect(leaseOf(b.bench, "load")?.fence).toBe(2);
});

test("two processes of one host exclude each other: the holder is more than the host (running 7.1)", async () => {
  const shared = journalBench();
  const [one, other] = [nodeOn(shared, "host-a"), nodeOn(shared, "host-a")];
  expect(await one.slots.claim("load")).toMatchObject({ kind: "held" });
  expect(await other.slots.claim("load")).toMatchObject({ kind: "taken" });
});

test("of many claims at once on many nodes one wins", async () => {
  const shared = journalBench();
  const nodes = ["a", "b", "c", "d"].map((host) => nodeOn(shared, host));
  const answers = await Promise.all(nodes.map(({ slots }) => slots.claim("load")));
  expect(answers.filter(({ kind }) => kind === "held")).toHaveLength(1);
  expect(answers.filter(({ kind }) => kind === "taken")).toHaveLength(3);
});

test("it is renewed for as long as a run lasts (running 7.4)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  await pass(10 * TTL);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  expect(leaseOf(a.bench, "load")).toMatchObject({ fence: 1 });
});

test("the slot of a node that was killed is free after one TTL, with the next fence (acceptance 19)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  await pass(15_000); // renewed at 10 s
  a.kill();
  await pass(24_900);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  await pass(200);
  expect(await b.slots.claim("load")).toEqual({ kind: "held", fresh: true });
  expect(leaseOf(b.bench, "load")?.fence).toBe(2);
});

test("a store that fails decides nothing (running 7.3)", async () => {
  const { a } = pair();
  a.bench.behave(failing());
  expect(await a.slots.claim("load")).toEqual({ kind: "unavailable", because: "the disk is full" });
  a.bench.unplug();
  expect(await a.slots.claim("load")).toEqual({ kind: "unavailable", because: "the state backend is not running" });
  expect(a.slots.state("load")).toEqual({ held: false, holder: null, refs: 0 });
});

test("a store that is silent decides nothing, ten seconds an operation", async () => {
  const { a } = pair();
  a.bench.behave(hanging("acquireLease", "readLease"));
  const claim = a.slots.claim("load");
  expect(await within(a.bench, 10_000, claim)).toBe(null);
  expect(await within(a.bench, 10_000, claim)).toEqual({ kind: "unavailable", because: "no answer within 10 s" });
});

test("a claim that landed without an answer is found to be ours (running 7.2)", async () => {
  const { a } = pair();
  a.bench.behave((operation) => (operation === "acquireLease" ? { kind: "silent", lands: true } : { kind: "answer" }));
  expect(await within(a.bench, 10_000, a.slots.claim("load"))).toEqual({ kind: "held", fresh: true });
  a.bench.behave(null);
  a.slots.release("load");
  await a.bench.pass(0);
  expect(leaseOf(a.bench, "load")?.expiresAtSeconds).toBe(0);
});

test("a lease that lapsed before the store answered is renewed before a run is built on it", async () => {
  const { a, b } = pair(6);
  a.bench.behave((operation) => (operation === "acquireLease" ? { kind: "silent", lands: true } : { kind: "answer" }));
  expect(await within(a.bench, 10_000, a.slots.claim("load"))).toEqual({ kind: "held", fresh: true });
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
});

test("and where another node came in between, it is that node's", async () => {
  const { a, b, pass } = pair(6);
  a.bench.behave((operation) => (operation === "acquireLease" ? { kind: "silent", lands: true } : { kind: "answer" }));
  const claim = a.slots.claim("load");
  await pass(7_000);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "held" });
  expect(await within(a.bench, 3_000, claim)).toMatchObject({
    kind: "taken",
    holder: leaseOf(b.bench, "load")?.holder,
  });
});

test("a claim without an answer finds whose it is, a live holder's or an expired one's (running 7.2)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  b.bench.behave(failing("acquireLease"));
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  a.kill();
  await pass(TTL + 1);
  expect(await b.slots.claim("load")).toEqual({ kind: "unavailable", because: "the disk is full" });
});

test("renewals that fail or hang are tried again, and lose nothing by themselves (running 7.4)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  a.bench.behave(failing("renewLease"));
  await pass(2 * TTL);
  a.bench.behave(null);
  await pass(10_000);
  expect(a.slots.state("load")).toMatchObject({ held: true, refs: 1 });
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  expect(a.bench.logged).toEqual([]);
});

test("a slot that another node has taken meanwhile is lost with a warning, and the run goes on (S3)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  a.bench.behave(failing("renewLease"));
  await pass(TTL + 1);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "held" });
  a.bench.behave(null);
  await pass(10_000);
  expect(a.bench.logged).toEqual([
    "WARNING Job load: its cluster concurrency slot was lost, host-b has it now; the run goes on",
  ]);
  expect(a.slots.state("load")).toMatchObject({ held: false, holder: leaseOf(b.bench, "load")?.holder, refs: 1 });
  expect(a.yields).toEqual([]);

  a.slots.release("load"); // its own run, not b's slot
  await pass(5 * TTL);
  expect(await a.slots.claim("load")).toMatchObject({ kind: "taken" });
});

test("a slot that was freed behind our back is taken again while nobody else came", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  const lease = leaseOf(a.bench, "load");
  if (lease === undefined) throw new Error("the slot is not there");
  await b.bench.store.leases.release(lease);
  await pass(10_000);
  expect(a.slots.state("load")).toMatchObject({ held: true, refs: 1 });
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  expect(a.bench.logged).toEqual([]);
});

test("a claim that comes while the slot is being given back waits its turn (S2)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  a.bench.behave((operation) => (operation === "releaseLease" ? { kind: "slow", delayMs: 3_000 } : { kind: "answer" }));
  a.slots.release("load");
  const again = a.slots.claim("load");
  expect(await within(a.bench, 5_000, again)).toEqual({ kind: "held", fresh: true });
  await pass(2 * TTL);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
  expect(a.slots.state("load").refs).toBe(1);
});

test("a release that fails is said, and the slot frees itself (running 7.6)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  a.bench.behave(failing("releaseLease"));
  a.slots.release("load");
  await pass(0);
  expect(a.bench.logged).toEqual([
    "WARNING Job load: its cluster concurrency slot could not be released (the disk is full); it frees itself within 30 s",
  ]);
  await pass(TTL + 1);
  expect(await b.slots.claim("load")).toEqual({ kind: "held", fresh: true });
});

test("a release too many frees nobody's slot (S1)", async () => {
  const { a, b, pass } = pair();
  a.slots.release("load");
  await a.slots.claim("load");
  a.slots.release("nothing");
  await pass(0);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
});

test("Replace: the holder is asked by its fence, told so, and makes way within 2×TTL (running 7.5, acceptance 19)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  await b.slots.claim("load");
  const pursuit = b.slots.pursue("load");
  await pass(0);
  expect(await b.bench.bodies("slots/load")).toEqual([
    { kind: "cancel", fence: 1, by: "host-b", at: "2026-11-30T12:00:00+00:00" },
  ]);
  await pass(10_000); // the holder's next renewal
  expect(a.yields).toEqual(["load"]);
  a.slots.release("load");
  expect(await within(b.bench, 5_000, pursuit)).toBe("free");
  expect(await b.slots.claim("load")).toEqual({ kind: "held", fresh: true });
  await pass(2 * TTL);
  expect([a.yields, b.yields]).toEqual([["load"], []]); // the request was for fence 1; b has 2
});

test("a request is obeyed by its fence alone (LSE-6)", async () => {
  const { a, pass } = pair();
  await a.slots.claim("load");
  for (const fence of [0, 2]) await a.bench.put("slots/load", { kind: "cancel", fence, by: "host-b", at: "x" });
  await a.bench.put("slots/load", { kind: "dance", fence: 1 });
  await pass(TTL);
  expect(a.yields).toEqual([]);
  await a.bench.put("slots/load", { kind: "cancel", fence: 1, by: "host-b", at: "x" });
  await a.bench.put("slots/load", { kind: "cancel", fence: 0, by: "host-c", at: "x" });
  await pass(10_000);
  expect(a.yields).toEqual(["load"]);
});

test("a holder that does not make way is left alone after 2×TTL (running 7.5)", async () => {
  const { a, b } = pair();
  await a.slots.claim("load");
  const pursuit = b.slots.pursue("load");
  expect(await within(b.bench, 2 * TTL - 1, pursuit)).toBe(null);
  expect(await within(b.bench, 1, pursuit)).toBe("gave up");
  expect(b.bench.logged).toEqual([
    "WARNING Job load: host-a did not yield its cluster concurrency slot within 60s; skipping this launch (no-run over double-run)",
  ]);
});

test("a pursuit of a holder that was killed ends when the lease has run out", async () => {
  const { a, b } = pair();
  await a.slots.claim("load");
  a.kill();
  const pursuit = b.slots.pursue("load");
  expect(await within(b.bench, TTL - 1, pursuit)).toBe(null);
  expect(await within(b.bench, 5_001, pursuit)).toBe("free");
});

test("one pursuit at a time per job, and a request that does not land is written again (running 7.5)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  b.bench.behave(failing("append"));
  const pursuits = [b.slots.pursue("load"), b.slots.pursue("load")];
  await pass(5_000);
  b.bench.behave(null);
  await pass(5_000);
  expect(await b.bench.bodies("slots/load")).toHaveLength(1);
  await pass(10_000);
  a.slots.release("load");
  await pass(5_000);
  expect(await Promise.all(pursuits)).toEqual(["free", "free"]);
  await a.slots.claim("load");
  const next = b.slots.pursue("load");
  await pass(0);
  expect(await b.bench.bodies("slots/load")).toHaveLength(2);
  b.slots.stop();
  expect(await next).toBe("gave up");
});

test("a request that is found after the last run has ended is told nobody", async () => {
  const { a, pass } = pair();
  await a.slots.claim("load");
  await a.bench.put("slots/load", { kind: "cancel", fence: 1, by: "host-b", at: "x" });
  a.bench.behave((operation) => (operation === "listRecords" ? { kind: "slow", delayMs: 3_000 } : { kind: "answer" }));
  await pass(11_000);
  a.slots.release("load");
  await pass(5_000);
  expect(a.yields).toEqual([]);
});

test("a read of requests that hangs never delays a renewal (RAT-2)", async () => {
  const { a, b, pass } = pair(6);
  await a.slots.claim("load");
  const asked: Operation[] = [];
  a.bench.behave((operation) => {
    asked.push(operation);
    return hanging("listRecords")(operation);
  });
  await pass(60_000);
  expect(asked.filter((operation) => operation === "renewLease")).toHaveLength(30); // every TTL/3
  expect(asked.indexOf("renewLease")).toBeLessThan(asked.indexOf("listRecords"));
  expect(await b.slots.claim("load")).toMatchObject({ kind: "taken" });
});

test("a short TTL is renewed each second and no more often (running 7.4)", async () => {
  const { a, pass } = pair(1);
  await a.slots.claim("load");
  let renewals = 0;
  a.bench.behave((operation) => {
    if (operation === "renewLease") renewals++;
    return { kind: "answer" };
  });
  await pass(10_000);
  expect(renewals).toBe(10);
});

test("locks that do not exclude are no locks: ERROR once, and nothing is claimed (TOP-6, running 7.3)", async () => {
  const { a, b } = pair();
  let verdict = "unreliable";
  const { store } = a.bench;
  const backend: Backend = () => ({
    ...store,
    leases: {
      ...store.leases,
      fidelity: async () => ({ kind: "done", value: { kind: "unreliable", because: `mounted nolock (${verdict})` } }),
    },
  });
  const one = backend();
  const slots = createClusterSlots({
    self: { host: "host-c", proc: "cccccccccccc" },
    backend: () => one,
    locks: createLockTrust({ backend: () => one, log: a.bench.log }),
    ttlSeconds: () => 30,
    clock: a.bench.clock,
    log: a.bench.log,
    onYield: () => undefined,
  });
  const because = "locks of the store do not exclude: mounted nolock (unreliable)";
  expect(await slots.claim("load")).toEqual({ kind: "unavailable", because });
  verdict = "not asked again";
  expect(await slots.claim("other")).toEqual({ kind: "unavailable", because });
  expect(a.bench.logged).toEqual([expect.stringMatching(/^ERROR state: the locks of .* do not keep nodes apart/)]);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "held" });
});

test("a probe that cannot run proves nothing, and is tried again (TOP-6)", async () => {
  const { a } = pair();
  a.bench.behave(failing("probeLocks"));
  expect(await a.slots.claim("load")).toMatchObject({ kind: "held" });
  let probes = 0;
  a.bench.behave((operation) => {
    if (operation === "probeLocks") probes++;
    return { kind: "answer" };
  });
  await a.slots.claim("other");
  await a.slots.claim("third");
  expect(probes).toBe(1);
});

test("another backend: what was held lapses, and late releases free nothing on the new one (S4)", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  a.slots.forget();
  expect(a.slots.state("load")).toEqual({ held: false, holder: null, refs: 0 });
  await pass(TTL + 1);
  expect(await b.slots.claim("load")).toMatchObject({ kind: "held" });
  b.slots.release("load");
  await pass(0);

  await a.slots.claim("load");
  a.slots.release("load"); // of the run before
  await pass(TTL);
  expect(a.slots.state("load")).toMatchObject({ held: true, refs: 1 });
  a.slots.release("load");
  await pass(0);
  expect(a.slots.state("load")).toEqual({ held: false, holder: null, refs: 0 });
});

test("a backend that is swapped during a claim decides nothing, and what was won there is handed back", async () => {
  const { a } = pair();
  a.bench.behave((operation) => (operation === "acquireLease" ? { kind: "slow", delayMs: 2_000 } : { kind: "answer" }));
  const claim = a.slots.claim("load");
  await a.bench.pass(1_000);
  a.slots.forget();
  expect(await within(a.bench, 2_000, claim)).toEqual({
    kind: "unavailable",
    because: "the state backend has been replaced",
  });
  expect(leaseOf(a.bench, "load")?.expiresAtSeconds).toBe(0);
});

test("shutdown ends pursuits; what runs keeps its slot until it has ended", async () => {
  const { a, b, pass } = pair();
  await a.slots.claim("load");
  await b.slots.claim("other");
  const pursuit = b.slots.pursue("load");
  b.slots.stop();
  expect(await pursuit).toBe("gave up");
  expect(b.bench.logged).toEqual([]);
  await pass(3 * TTL);
  expect(b.slots.held().map(({ lease, refs }) => [lease.name, refs])).toEqual([["slots/other", 1]]);
  expect(await a.slots.claim("other")).toMatchObject({ kind: "taken" });
  for (const [node, job] of [
    [a, "load"],
    [b, "other"],
  ] as const)
    node.slots.release(job);
  await pass(0);
  expect(a.bench.clock.pending).toBe(0); // nothing waits any more
});

test("what a launch that did not get its slot says", () => {
  expect(nodeOf("host-a#82bb45906a54")).toBe("host-a");
  expect([
    slotHeldMessage("load", "host-a#82bb45906a54"),
    slotUndecidedMessage("load", "no answer within 10 s", "degrade"),
    slotUndecidedMessage("load", "no answer within 10 s", "fail-closed"),
    notYieldedMessage("load", null, 60),
  ]).toMatchInlineSnapshot(`
    [
      "Job load skipped: its cluster concurrency slot is held by host-a (concurrencyPolicy: Forbid, concurrencyScope: cluster)",
      "Job load: its cluster concurrency slot cannot be claimed (no answer within 10 s); enforcing concurrencyPolicy on this node only for this run (onStoreUnavailable: degrade)",
      "Job load skipped: its cluster concurrency slot cannot be claimed (no answer within 10 s) (onStoreUnavailable: fail-closed)",
      "Job load: the holder did not yield its cluster concurrency slot within 60s; skipping this launch (no-run over double-run)",
    ]
  `);
});
