import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { PENDING_WRITES_MAX } from "../../../src/store/limits.ts";
import type { Store } from "../../../src/store/store.ts";
import { openedStore, openStore, writtenLog } from "../support/filesystem.ts";
import { watchTurns } from "../support/loop-watch.ts";
import { done, failure } from "../support/outcome.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { trouble, troubledLanes } from "../support/trouble.ts";

const oldestFirst = { order: "oldest first", limit: 100_000, reading: "strict" } as const;
const soon = { deadlineMs: 100 };

async function numbers(store: Store, stream: string): Promise<unknown[]> {
  return (await done(store.records.list(stream, oldestFirst))).map(({ data }) => data.n);
}

describe("a disk that hangs", () => {
  async function troubledStore() {
    const path = join(temporaryDirectory(), "store");
    const store = await openedStore(path, { spawn: troubledLanes() });
    await done(store.records.append("runs/a", { n: 0 }));
    return { path, store };
  }

  test("leaves writes unknown at their deadline, and they land when it comes back (THR-2)", async () => {
    const { path, store } = await troubledStore();
    const hang = trouble(path, "hang");
    const waiting = [1, 2, 3].map((n) => store.records.append("runs/a", { n }, soon));
    expect(await Promise.all(waiting)).toEqual(Array(3).fill({ kind: "unknown", because: "no answer within 0.1 s" }));
    expect(store.pendingWrites()).toBe(3);
    expect(await numbers(store, "runs/a")).toEqual([0]); // reads go on
    hang.over();
    await vi.waitFor(() => expect(store.pendingWrites()).toBe(0));
    expect(await numbers(store, "runs/a")).toEqual([0, 1, 2, 3]);
  });

  test("does not let a claim land that nobody waits for any more", async () => {
    const { path, store } = await troubledStore();
    await done(store.leases.acquire("slots/before", "a#1", 60_000));
    const hang = trouble(path, "hang");
    const first = store.leases.acquire("slots/first", "a#1", 60_000, soon);
    const second = store.leases.acquire("slots/second", "a#1", 60_000, soon);
    const document = store.documents.swap("kv/a", "k", null, { v: 1 }, soon);
    const blob = store.blobs.put(Buffer.from("x"), soon);
    for (const outcome of await Promise.all([first, second, document, blob])) expect(outcome.kind).toBe("unknown");
    hang.over();
    await done(store.leases.acquire("slots/third", "a#1", 60_000));
    await done(store.records.append("runs/a", { n: 1 }));
    expect(await done(store.leases.read("slots/second"))).toBeNull();
    expect(await done(store.leases.read("slots/first"))).toMatchObject({ holder: "a#1" }); // it had begun
  });

  test("is no reason for the event loop to stand still, and a full queue sheds and counts (WRT-3, THR-1, LCK-6)", {
    timeout: 60_000,
  }, async () => {
    const { path, store } = await troubledStore();
    const hang = trouble(path, "hang");
    const writes: Promise<unknown>[] = [];
    const turns = watchTurns();
    for (let n = 1; n <= PENDING_WRITES_MAX; n++) {
      writes.push(store.records.append("runs/a", { n }, { deadlineMs: 50_000 }));
      if (n % 200 === 0) await new Promise(setImmediate);
    }
    expect(await failure(store.records.append("runs/a", { n: -1 }), "overflow")).toBe(
      "8192 operations are waiting already",
    );
    expect(store.counters()).toMatchObject({ shedWrites: 1 });
    hang.over();
    const outcomes = await Promise.all(writes);
    expect(turns.stop().busiestMs).toBeLessThan(50);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: "done" });
    expect(await numbers(store, "runs/a")).toEqual(Array.from({ length: PENDING_WRITES_MAX + 1 }, (_, n) => n));
  });

  test("cannot keep the store from closing, nor the process from ending (THR-3)", async () => {
    const { path, store } = await troubledStore();
    const stuck = trouble(path, "stuck");
    const write = await store.records.append("runs/a", { n: 1 }, { deadlineMs: 100 });
    expect(write.kind).toBe("unknown");
    const later = store.records.append("runs/a", { n: 2 });
    expect(await store.close(50)).toEqual({ unfinished: 2, threads: "hung" });
    expect(await later).toEqual({ kind: "unknown", because: "the store was closed" });
    stuck.over();
  });

  test("is not opened again and again", async () => {
    const path = join(temporaryDirectory(), "store");
    mkdirSync(path);
    const stuck = trouble(path, "stuck");
    const over = { path, deploymentId: null, spawn: troubledLanes() };
    await vi.waitFor(
      () =>
        expect(openStore(path, { ...over, startDeadlineMs: 1000 })).rejects.toThrow(
          /an earlier start of the store at .* still hangs/,
        ),
      { timeout: 20_000 },
    );
    stuck.over();
    await vi.waitFor(async () => (await openStore(path, over)).close(1000), { timeout: 10_000 });
  });
});

test("a thread that dies is replaced, and what it had is unknown", async () => {
  const path = join(temporaryDirectory(), "store");
  const { lines, log } = writtenLog();
  const store = await openedStore(path, { spawn: troubledLanes(), log });
  const dies = trouble(path, "die");
  expect(await store.records.append("runs/a", { n: 1 })).toEqual({
    kind: "unknown",
    because: "the store thread ended",
  });
  dies.over();
  await done(store.records.append("runs/a", { n: 2 }));
  expect(await numbers(store, "runs/a")).toEqual([2]);
  expect(lines).toContain("WARNING state: a store thread ended (no reason given); starting another");
});

describe("a lock somebody else keeps", () => {
  /** Another process that holds the flock of a file until it is told to go. */
  async function holder(lock: string): Promise<{ release(): Promise<void> }> {
    const child = spawn("flock", [lock, "sh", "-c", "echo held; read go"], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill());
    await once(child.stdout, "data");
    return {
      async release() {
        const gone = once(child, "exit");
        child.stdin.end("\n");
        await gone;
      },
    };
  }

  test("delays what needs it and nothing else; a change given up is not made later", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await done(store.documents.swap("kv/a", "held", null, { v: 1 }));
    await done(store.documents.swap("kv/a", "free", null, { v: 1 }));
    const { version } = await done(store.documents.read("kv/a", "held"));
    const lock = await holder(join(path, "default/docs/kv%2Fa/held.lock"));

    const given = store.documents.swap("kv/a", "held", version, { v: "given up" }, { deadlineMs: 300 });
    const waiting = store.documents.swap("kv/a", "held", version, { v: 2 });
    await done(store.documents.mutate("kv/a", "free", () => ({ kind: "put", body: { v: 2 }, answer: 0 })));
    for (let n = 0; n < 50; n++) await done(store.records.append("runs/a", { n }));
    expect((await given).kind).toBe("unknown");

    await lock.release();
    expect((await done(waiting)).kind).toBe("swapped");
    expect(await done(store.documents.peek("kv/a", "held"))).toEqual({ v: 2 });
    expect(store.counters().lockWaitSeconds).toBeGreaterThan(0.2);
  });

  test("keeps one lease from being taken, and no other", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await done(store.leases.acquire("slots/held", "a#1", 60_000));
    const lock = await holder(join(path, "default/leases/slots%2Fheld.lock"));
    const held = store.leases.acquire("slots/held", "a#1", 60_000, { deadlineMs: 200 });
    const free = await done(store.leases.acquire("slots/free", "a#1", 60_000));
    if (free.kind !== "held") throw new Error(free.kind);
    for (let n = 0; n < 20; n++) expect((await done(store.leases.renew(free.lease, 60_000))).kind).toBe("held");
    expect((await held).kind).toBe("unknown");
    expect(await done(store.leases.read("slots/held"))).toMatchObject({ fence: 1 });
    await lock.release();
    expect((await done(store.leases.acquire("slots/held", "a#1", 60_000))).kind).toBe("held");
  });

  test("of a process that was killed is free", async () => {
    const path = temporaryDirectory();
    const store = await openedStore(path);
    await done(store.leases.acquire("slots/a", "a#1", 60_000));
    const child = spawn(
      "flock",
      ["-o", join(path, "default/leases/slots%2Fa.lock"), "sh", "-c", "echo held; read go"],
      {
        stdio: ["pipe", "pipe", "inherit"],
        detached: true,
      },
    );
    await once(child.stdout, "data");
    const acquiring = store.leases.acquire("slots/a", "a#1", 60_000);
    process.kill(-(child.pid ?? 0), "SIGKILL");
    expect((await done(acquiring)).kind).toBe("held");
  });
});

describe("the rate limit", () => {
  test("makes records wait and is counted; leases never wait (RAT-1, RAT-2)", { timeout: 60_000 }, async () => {
    const store = await openedStore(temporaryDirectory(), { maxOpsPerSecond: 1 });
    const acquired = await done(store.leases.acquire("slots/a", "a#1", 60_000));
    if (acquired.kind !== "held") throw new Error(acquired.kind);
    await done(store.records.append("runs/a", { n: 0 }));
    const queued = Array.from({ length: 1000 }, (_, n) =>
      store.records.append("runs/a", { n }, { deadlineMs: 30_000 }),
    );
    expect(store.pendingWrites()).toBe(1000);
    const renewed = await store.leases.renew(acquired.lease, 60_000, { deadlineMs: 5000 });
    expect(renewed).toMatchObject({ kind: "done", value: { kind: "held" } });
    await queued[0];
    expect(store.counters().throttledOperations).toBeGreaterThanOrEqual(1);
    expect(store.counters().throttleWaitSeconds).toBeGreaterThan(0.5);
    expect(store.pendingWrites()).toBeGreaterThan(900);
    expect(await store.close(0)).toMatchObject({ threads: "ended" });
  });

  test("does not stretch the deadline of a read", async () => {
    const store = await openedStore(temporaryDirectory(), { maxOpsPerSecond: 0.1 });
    await done(store.records.append("runs/a", { n: 0 }));
    const read = await store.records.list("runs/a", { ...oldestFirst, deadlineMs: 100 });
    expect(read).toEqual({ kind: "unknown", because: "no answer within 0.1 s" });
  });
});
