import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PoolConfig } from "../../src/config/model.ts";
import { type PoolDocument, poolDocument } from "../../src/contract/pool.ts";
import {
  emptyPool,
  headOf,
  ladderStands,
  nextChangeAt,
  poolView,
  RECENT_MAX,
  retryScope,
} from "../../src/scheduler/pool-document.rules.ts";
import {
  admit,
  CLAIM_MS,
  CLAIM_RENEWAL_MS,
  cancelEntry,
  complete,
  endLadder,
  enqueue,
  forgetScopes,
  type HeadFacts,
  judgeHead,
  type NewWork,
  release,
  renew,
  retire,
  type Step,
} from "../../src/scheduler/pools.rules.ts";

const MINUTE = 60_000;

function work(id: string, facts: Partial<NewWork> = {}): NewWork {
  return {
    id,
    kind: "job",
    name: id,
    source: "schedule",
    slots: 1,
    priority: 0,
    timeoutMs: 60 * MINUTE,
    jobDigest: "d",
    pinnedTo: null,
    attempt: 0,
    retryEpoch: null,
    dag: null,
    ...facts,
  };
}

const task = (id: string, facts: Partial<NewWork> = {}): NewWork =>
  work(id, {
    kind: "task",
    source: "dag",
    dag: { name: "d", runKey: "r", runId: "i", taskkey: id, poke: null },
    ...facts,
  });

/** A pool in the store, its clock in the test's hand. */
function poolOf(slots: number, maxQueued = 1000) {
  let config: PoolConfig = { name: "warehouse", slots, maxQueued };
  let document = emptyPool(config);
  let now = 0;
  const take = <Answer>({ document: next, answer }: Step<Answer>): Answer => {
    document = poolDocument.parse(JSON.parse(JSON.stringify(next))); // what a store gives back
    return answer;
  };
  const states = (list: PoolDocument["entries"]) => list.map((entry) => `${entry.id} ${entry.state}`);
  return {
    document: () => document,
    waits: (ms: number) => {
      now += ms;
    },
    configure: (change: Partial<PoolConfig>) => {
      config = { ...config, ...change };
    },
    enqueue: (it: NewWork) => take(enqueue(document, config, it, now)),
    admit: (id: string, holder = "a#1") => take(admit(document, config, { id, holder }, now)),
    /** As a dispatcher does it: the head, as often as it goes. */
    admitAll(holder = "a#1"): string[] {
      const admitted: string[] = [];
      for (let head = headOf(document); head !== null; head = headOf(document)) {
        if (this.admit(head.id, holder).kind !== "admitted") break;
        admitted.push(head.id);
      }
      return admitted;
    },
    renew: (ids: readonly string[], holder = "a#1") => take(renew(document, config, { holder, ids }, now)),
    complete: (id: string, holder = "a#1") => take(complete(document, config, { id, holder }, now)),
    release: (id: string, holder = "a#1") => take(release(document, config, { id, holder }, now)),
    cancel: (id: string, because = "cancelled by operator") =>
      take(cancelEntry(document, config, { id, because }, now)),
    retire: (id: string) => take(retire(document, config, id, now)),
    endLadder: (scope: string) => take(endLadder(document, config, scope, now)),
    forgetScopes: (...known: string[]) => take(forgetScopes(document, config, new Set(known), now)),
    view: () => poolView(document, config, now),
    entries: () => states(document.entries),
    recent: () => states(document.recent),
  };
}

describe("order", () => {
  test("two slots, five jobs: never more than two run, the longest waiting goes first", () => {
    const pool = poolOf(2);
    for (const id of ["a", "b", "c", "d", "e"]) {
      pool.enqueue(work(id));
      pool.waits(1);
    }
    expect(pool.admitAll()).toEqual(["a", "b"]);
    pool.complete("b");
    expect(pool.admitAll("b#9")).toEqual(["c"]);
    pool.complete("a");
    pool.complete("c", "b#9");
    expect(pool.admitAll()).toEqual(["d", "e"]);
  });

  test("priority goes before time, and of one instant the first asked for is the first in line", () => {
    const pool = poolOf(1);
    for (const [id, priority] of [
      ["y", 0],
      ["low", -1],
      ["x", 0],
      ["high", 9],
    ] as const)
      pool.enqueue(work(id, { priority }));
    const order: string[] = [];
    for (const id of ["1", "2", "3", "4"]) {
      const [next = ""] = pool.admitAll(id);
      order.push(next);
      pool.complete(next, id);
    }
    expect(order).toEqual(["high", "y", "x", "low"]);
  });

  test("a head that needs two slots holds back those behind it that need one", () => {
    const pool = poolOf(2);
    pool.enqueue(work("running"));
    pool.admitAll();
    pool.enqueue(work("wide", { slots: 2 }));
    pool.waits(1);
    pool.enqueue(work("narrow"));
    expect(pool.admit("wide")).toEqual({ kind: "no room", freeSlots: 1 });
    expect(pool.admit("narrow")).toEqual({ kind: "not its turn" });
    pool.complete("running");
    expect(pool.admitAll()).toEqual(["wide"]);
    pool.complete("wide");
    expect(pool.admitAll()).toEqual(["narrow"]);
  });
});

describe("the head is judged by what the node knows", () => {
  const head = (facts: Partial<NewWork> = {}) => {
    const pool = poolOf(1);
    pool.enqueue(work("j", facts));
    const entry = headOf(pool.document());
    if (entry === null) throw new Error("no head");
    return entry;
  };
  const well: HeadFacts = {
    host: "a",
    job: { digest: "d", isEnabled: true },
    isOwner: true,
    isPaused: false,
    isForbidden: false,
  };
  const gone = { verdict: "cancel", because: "the job is gone from the configuration" };
  const changed = { verdict: "cancel", because: "the job has been changed" };
  const off = { verdict: "cancel", because: "the job has been disabled" };
  const wait = (because: string) => ({ verdict: "wait", because });

  test.each([
    { what: "all well", facts: {}, entry: {}, verdict: { verdict: "admit" } },
    { what: "pinned here", facts: {}, entry: { pinnedTo: "a" }, verdict: { verdict: "admit" } },
    {
      what: "pinned elsewhere, even if gone here",
      facts: { job: null },
      entry: { pinnedTo: "b" },
      verdict: wait("pinned elsewhere"),
    },
    { what: "removed", facts: { job: null, isOwner: false }, entry: {}, verdict: gone },
    { what: "disabled", facts: { job: { digest: "d", isEnabled: false } }, entry: {}, verdict: off },
    { what: "changed", facts: { job: { digest: "e", isEnabled: true } }, entry: {}, verdict: changed },
    { what: "another node's", facts: { isOwner: false, isPaused: true }, entry: {}, verdict: wait("not owner") },
    {
      what: "paused",
      facts: { isPaused: true, isForbidden: true },
      entry: { source: "retry", retryEpoch: 0 },
      verdict: wait("paused"),
    },
    { what: "forbidden", facts: { isForbidden: true }, entry: {}, verdict: wait("forbidden") },
    {
      what: "started by hand",
      facts: { isOwner: false, isPaused: true },
      entry: { source: "manual", pinnedTo: "a" },
      verdict: { verdict: "admit" },
    },
    {
      what: "started by hand beside a run",
      facts: { isForbidden: true },
      entry: { source: "manual", pinnedTo: "a" },
      verdict: wait("forbidden"),
    },
  ] as const)("$what", ({ facts, entry, verdict }) => {
    expect(judgeHead(head(entry), { ...well, ...facts })).toEqual(verdict);
  });
});

describe("refusals", () => {
  test("a full queue, counted without what runs", () => {
    const pool = poolOf(1, 2);
    pool.enqueue(work("running"));
    pool.admitAll();
    pool.enqueue(work("one"));
    pool.enqueue(work("two"));
    expect(pool.enqueue(work("three"))).toEqual({ kind: "refused", why: "its queue is full (2 entries)" });
    pool.cancel("one");
    expect(pool.enqueue(work("three"))).toMatchObject({ kind: "queued" });
  });

  test("asking twice under one id queues once, and tells what became of it", () => {
    const pool = poolOf(1, 1);
    pool.enqueue(work("x"));
    expect(pool.enqueue(work("x"))).toMatchObject({ kind: "queued", entry: { state: "waiting" } });
    pool.admitAll();
    pool.complete("x");
    expect(pool.enqueue(work("x"))).toMatchObject({ kind: "queued", entry: { state: "done" } });
    expect(pool.entries()).toEqual([]);
  });

  test("a changed capacity lets the old queue drain first; what is queued keeps its admission", () => {
    const pool = poolOf(2);
    for (const id of ["a", "b", "c"]) pool.enqueue(work(id));
    pool.admitAll();
    pool.configure({ slots: 1 });
    expect(pool.enqueue(work("d"))).toEqual({
      kind: "refused",
      why: "its capacity changes from 2 to 1 slots when the 3 entries before have drained",
    });
    pool.complete("a");
    expect(pool.admitAll()).toEqual(["c"]); // beside b: the old capacity holds
    pool.complete("b");
    pool.complete("c");
    expect(pool.enqueue(work("d"))).toMatchObject({ kind: "queued" });
    pool.enqueue(work("e"));
    expect(pool.admitAll()).toEqual(["d"]);
  });

  test("more slots than there are", () => {
    expect(poolOf(2).enqueue(work("x", { slots: 3 }))).toEqual({
      kind: "refused",
      why: "3 slots are asked for and it has 2",
    });
  });
});

describe("time", () => {
  test("an entry expires when its time is over, to the millisecond", () => {
    const pool = poolOf(1);
    pool.enqueue(work("x", { timeoutMs: 1000 }));
    expect(nextChangeAt(pool.document())).toBe(1000);
    pool.waits(999);
    expect(pool.view().queued).toBe(1);
    pool.waits(1);
    expect(pool.admit("x")).toEqual({ kind: "not its turn" });
    expect(pool.document().recent).toMatchObject([
      { id: "x", state: "expired", reason: "queue timeout", finishedAt: 1000 },
    ]);
    expect(nextChangeAt(pool.document())).toBe(Number.POSITIVE_INFINITY);
  });

  test("a dead node's claim is admitted elsewhere after 30 s, in its old place", () => {
    const pool = poolOf(1);
    pool.enqueue(work("x"));
    pool.admitAll("dead#1");
    pool.waits(1);
    pool.enqueue(work("later"));
    pool.waits(CLAIM_MS - 2);
    expect(pool.admitAll("b#2")).toEqual([]);
    pool.waits(1);
    pool.enqueue(work("latest"));
    expect(pool.admitAll("b#2")).toEqual(["x"]);
    expect(pool.complete("x", "dead#1")).toBe("lost");
    expect(pool.entries()).toContain("x running");
    expect(pool.complete("x", "b#2")).toBe("done");
  });

  test("a claim whose deadline has passed as well expires", () => {
    const pool = poolOf(1);
    pool.enqueue(work("x", { timeoutMs: 5000 }));
    pool.admitAll();
    pool.waits(CLAIM_MS);
    pool.enqueue(work("y"));
    expect(pool.recent()).toEqual(["x expired"]);
  });

  test("a renewed claim lives on; one that others have taken is lost", () => {
    const pool = poolOf(2);
    pool.enqueue(work("x"));
    pool.enqueue(work("y"));
    pool.admitAll("a#1");
    for (let renewals = 0; renewals < 10; renewals += 1) {
      pool.waits(CLAIM_RENEWAL_MS);
      expect(pool.renew(["x", "y"], "a#1").lost).toEqual([]);
    }
    pool.waits(CLAIM_MS);
    pool.enqueue(work("z")); // somebody sees that the claims have run out
    pool.admitAll("b#2");
    expect(pool.renew(["x", "y"], "a#1").lost).toEqual(["x", "y"]);
  });

  test("a late renewal or completion counts while nobody has noticed", () => {
    const pool = poolOf(2);
    pool.enqueue(work("x"));
    pool.enqueue(work("y"));
    pool.admitAll();
    pool.waits(CLAIM_MS * 2);
    expect(pool.renew(["x"]).lost).toEqual([]);
    expect(pool.entries()).toEqual(["x running", "y waiting"]);
    pool.admitAll();
    pool.waits(CLAIM_MS * 2);
    expect(pool.complete("x")).toBe("done");
    expect(pool.complete("x")).toBe("done");
  });

  test("a claim that is given back waits where it stood, its deadline unchanged", () => {
    const pool = poolOf(1);
    pool.enqueue(work("x", { attempt: 3 }));
    pool.waits(1);
    pool.enqueue(work("y"));
    pool.admitAll();
    pool.waits(5000);
    expect(pool.release("x")).toBe("done");
    expect(pool.release("x")).toBe("lost");
    expect(headOf(pool.document())).toMatchObject({
      id: "x",
      attempt: 3,
      enqueuedAt: 0,
      deadline: 60 * MINUTE,
      holder: null,
    });
  });
});

describe("retry sequences", () => {
  test("a newer fire cancels the queued retry, and an older fire that still waits runs without retries", () => {
    const pool = poolOf(1);
    const first = pool.enqueue(work("fire1", { name: "job" }));
    expect(first).toMatchObject({ entry: { retryEpoch: 1 } });
    pool.enqueue(work("retry1", { name: "job", source: "retry", retryEpoch: 1, attempt: 1 }));
    pool.waits(1);
    pool.enqueue(work("fire2", { name: "job" }));
    expect(pool.recent()).toEqual(["retry1 cancelled"]);
    expect(pool.admit("fire1")).toMatchObject({ ladderEnded: true });
    pool.complete("fire1");
    expect(pool.admit("fire2")).toMatchObject({ ladderEnded: false });
  });

  test("a success or cancel ends the sequence for all nodes: its retry is not queued any more", () => {
    const pool = poolOf(1);
    pool.enqueue(work("fire", { name: "job" }));
    pool.endLadder("job");
    expect(pool.enqueue(work("retry", { name: "job", source: "retry", retryEpoch: 1 }))).toEqual({
      kind: "superseded",
    });
    expect(ladderStands(pool.document(), "job", 1)).toBe(false);
    expect(ladderStands(pool.document(), "job", 2)).toBe(true);
    expect(pool.admit("fire")).toMatchObject({ ladderEnded: true });
  });

  test("a retry that runs is left alone, but does not come back when its claim does", () => {
    const pool = poolOf(1);
    pool.enqueue(work("fire", { name: "job" }));
    pool.admitAll();
    pool.complete("fire");
    pool.enqueue(work("retry", { name: "job", source: "retry", retryEpoch: 1, attempt: 1 }));
    pool.admitAll();
    pool.endLadder("job");
    expect(pool.entries()).toEqual(["retry running"]);
    pool.release("retry");
    expect(pool.document().recent.at(-1)).toMatchObject({
      state: "cancelled",
      reason: "its retry sequence has ended",
      attempt: 1,
    });
  });

  test("a fire ends the sequence before also when it is refused", () => {
    const pool = poolOf(1, 1);
    pool.enqueue(work("blocker"));
    pool.enqueue(work("fire", { name: "job" }));
    expect(ladderStands(pool.document(), "job", 1)).toBe(true);
  });

  test("a job that runs on every node has a sequence for each; starting by hand touches none", () => {
    const pool = poolOf(5);
    pool.enqueue(work("a1", { name: "job", pinnedTo: "a" }));
    pool.enqueue(work("b1", { name: "job", pinnedTo: "b" }));
    pool.enqueue(work("a2", { name: "job", pinnedTo: "a" }));
    pool.enqueue(work("hand", { name: "job", pinnedTo: "b", source: "manual" }));
    expect(pool.document().retryScopes).toEqual({ "job@a": { epoch: 2 }, "job@b": { epoch: 1 } });
    expect(pool.admit("a1")).toMatchObject({ ladderEnded: true });
    expect(pool.admit("b1")).toMatchObject({ ladderEnded: false });
    expect(pool.admit("a2")).toMatchObject({ ladderEnded: false });
    expect(retryScope("job", "a")).toBe("job@a");
  });

  test("names that mean something to JavaScript are names like others", () => {
    const pool = poolOf(1);
    pool.enqueue(work("x", { name: "constructor" }));
    expect(pool.document().retryScopes).toEqual({ constructor: { epoch: 1 } });
    expect(pool.admit("x")).toMatchObject({ ladderEnded: false });
  });

  test("sequences of jobs that are gone are forgotten, unless something of theirs is queued", () => {
    const pool = poolOf(1);
    for (const name of ["kept", "gone", "queued"]) pool.endLadder(name);
    pool.enqueue(work("x", { name: "queued" }));
    pool.forgetScopes("kept");
    expect(Object.keys(pool.document().retryScopes)).toEqual(["kept", "queued"]);
  });
});

describe("cancelling", () => {
  test.each([
    { state: "waiting", prepare: () => undefined, kind: "cancelled", why: undefined },
    {
      state: "running",
      prepare: (pool: ReturnType<typeof poolOf>) => pool.admitAll(),
      kind: "refused",
      why: "queue entry x is already running; cancel job etl instead",
    },
    {
      state: "done",
      prepare: (pool: ReturnType<typeof poolOf>) => [pool.admitAll(), pool.complete("x")],
      kind: "refused",
      why: "queue entry x is already done",
    },
    {
      state: "cancelled",
      prepare: (pool: ReturnType<typeof poolOf>) => pool.cancel("x"),
      kind: "cancelled",
      why: undefined,
    },
    {
      state: "expired",
      prepare: (pool: ReturnType<typeof poolOf>) => pool.waits(61 * MINUTE),
      kind: "refused",
      why: "queue entry x is already expired",
    },
  ])("an entry that is $state: $kind", ({ prepare, kind, why }) => {
    const pool = poolOf(1);
    pool.enqueue(work("x", { name: "etl" }));
    prepare(pool);
    const answer = pool.cancel("x");
    expect(answer).toMatchObject(why === undefined ? { kind, entry: { id: "x", state: "cancelled" } } : { kind, why });
  });

  test("an unknown entry", () => {
    expect(poolOf(1).cancel("nope")).toEqual({ kind: "unknown" });
  });
});

describe("tasks", () => {
  test("an entry that came to nothing stays, and counts, until it was taken note of", () => {
    const pool = poolOf(1, 2);
    pool.enqueue(task("t1", { timeoutMs: 1000 }));
    pool.enqueue(task("t2"));
    pool.cancel("t2");
    pool.waits(1000);
    expect(pool.enqueue(work("job"))).toMatchObject({ kind: "refused" });
    expect(pool.document().entries).toMatchObject([
      { id: "t1", state: "expired", reason: "queue timeout" },
      { id: "t2", state: "cancelled", reason: "cancelled by operator" },
    ]);
    expect(pool.cancel("t2")).toMatchObject({ kind: "cancelled" });
    pool.retire("t1");
    pool.retire("t2");
    expect(pool.recent()).toEqual(["t1 expired", "t2 cancelled"]);
    expect(pool.enqueue(work("job"))).toMatchObject({ kind: "queued" });
  });

  test("a task that waits no longer leaves the queue; one that runs is its holder's to end", () => {
    const pool = poolOf(1);
    pool.enqueue(task("t1"));
    pool.enqueue(task("t2"));
    pool.admitAll();
    pool.retire("t1");
    pool.retire("t2");
    pool.retire("t3");
    expect(pool.entries()).toEqual(["t1 running"]);
    expect(pool.document().recent).toMatchObject([
      { id: "t2", state: "cancelled", reason: "task is no longer waiting" },
    ]);
    pool.complete("t1");
    expect(pool.recent()).toEqual(["t2 cancelled", "t1 done"]);
  });

  test("unobserved ends do not keep a new capacity away", () => {
    const pool = poolOf(1);
    pool.enqueue(task("t1"));
    pool.cancel("t1");
    pool.configure({ slots: 4 });
    expect(pool.enqueue(work("x", { slots: 4 }))).toMatchObject({ kind: "queued" });
  });
});

test("the view counts what runs and what waits, and sees deadlines that nobody has noted yet", () => {
  const pool = poolOf(3);
  pool.enqueue(work("wide", { slots: 2 }));
  pool.admitAll();
  pool.enqueue(work("x", { slots: 2, timeoutMs: 1000 }));
  expect(pool.view()).toMatchObject({ name: "warehouse", slots: 3, used: 2, queued: 1, maxQueued: 1000 });
  pool.waits(1000);
  expect(pool.view()).toMatchObject({ used: 2, queued: 0, recent: [{ id: "x", state: "expired" }] });
});

test("history keeps the newest ended entries", () => {
  const pool = poolOf(1);
  for (let k = 0; k < RECENT_MAX + 10; k += 1) {
    pool.enqueue(work(`x${k}`));
    pool.cancel(`x${k}`);
  }
  expect(pool.document().recent).toHaveLength(RECENT_MAX);
  expect(pool.document().recent.at(-1)?.id).toBe(`x${RECENT_MAX + 9}`);
});

const NODES = ["a#1", "b#2", "c#3"];
const action = fc.oneof(
  fc.record({
    kind: fc.constant("enqueue" as const),
    name: fc.constantFrom("j1", "j2", "j3"),
    source: fc.constantFrom("schedule" as const, "retry" as const, "manual" as const),
    slots: fc.integer({ min: 1, max: 3 }),
    priority: fc.integer({ min: -1, max: 1 }),
    timeoutMs: fc.integer({ min: 1, max: 200_000 }),
    epoch: fc.nat(3),
  }),
  fc.record({ kind: fc.constant("task" as const), timeoutMs: fc.integer({ min: 1, max: 200_000 }) }),
  fc.record({ kind: fc.constant("dispatch" as const), node: fc.nat(2) }),
  fc.record({ kind: fc.constant("renew" as const), node: fc.nat(2) }),
  fc.record({
    kind: fc.constantFrom("complete" as const, "release" as const, "cancel" as const, "retire" as const),
    which: fc.nat(30),
    node: fc.nat(2),
  }),
  fc.record({ kind: fc.constant("end ladder" as const), name: fc.constantFrom("j1", "j2", "j3") }),
  fc.record({ kind: fc.constant("configure" as const), slots: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
);

test("whatever happens: no slot is given twice, nothing overtakes, nothing is lost, no ended retry runs", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const pool = poolOf(3, 10);
      const queued = new Set<string>();
      let next = 0;
      for (const it of actions) {
        const before = pool.document();
        if (it.kind === "enqueue" || it.kind === "task") {
          next += 1;
          const id = `e${next}`;
          const asked =
            it.kind === "task"
              ? task(id, { timeoutMs: it.timeoutMs })
              : work(id, { ...it, kind: "job", retryEpoch: it.source === "retry" ? it.epoch : null });
          if (pool.enqueue(asked).kind === "queued") queued.add(id);
        } else if (it.kind === "dispatch") {
          const head = headOf(before);
          const answer = head === null ? null : pool.admit(head.id, NODES[it.node]);
          if (answer?.kind === "admitted") {
            const { entry } = answer;
            const overtaken = pool
              .document()
              .entries.filter(
                (other) =>
                  other.state === "waiting" &&
                  (other.priority > entry.priority ||
                    (other.priority === entry.priority && other.enqueuedAt < entry.enqueuedAt)),
              );
            expect(overtaken).toEqual([]);
            const scope = pool.document().retryScopes[entry.name]?.epoch ?? 0;
            if (entry.source === "retry") expect(entry.retryEpoch).toBe(scope);
          }
        } else if (it.kind === "renew") {
          const holder = NODES[it.node] ?? "";
          const mine = before.entries.filter((entry) => entry.holder === holder).map((entry) => entry.id);
          expect(pool.renew(mine, holder).lost).toEqual([]); // nobody has noticed, so late or not they are renewed
        } else if (it.kind === "wait") pool.waits(it.ms);
        else if (it.kind === "configure") pool.configure({ slots: it.slots });
        else if (it.kind === "end ladder") pool.endLadder(it.name);
        else if (it.kind === "cancel") pool.cancel(`e${it.which}`);
        else if (it.kind === "retire") pool.retire(`e${it.which}`);
        else pool[it.kind](`e${it.which}`, NODES[it.node]);

        const { entries, recent, slots } = pool.document();
        const running = entries.filter((entry) => entry.state === "running");
        expect(running.reduce((sum, entry) => sum + entry.slots, 0)).toBeLessThanOrEqual(slots);
        expect(
          slots === before.slots || entries.filter((e) => e.state === "running" || e.state === "waiting").length <= 1,
        ).toBe(true);
        const known = [...entries, ...recent].map((entry) => entry.id);
        expect(new Set(known).size).toBe(known.length);
        if (recent.length < RECENT_MAX) expect(new Set(known)).toEqual(queued);
      }
    }),
    { numRuns: 300 },
  );
});
