import { describe, expect, test } from "vitest";
import { createLatch } from "../../src/jobapi/latch.ts";
import { createLockKeeper, type LockAnswer, type LockWish } from "../../src/jobapi/lock-keeper.ts";
import { createRunSessions } from "../../src/jobapi/run-sessions.ts";
import { storeTrouble } from "../../src/jobapi/store-trouble.ts";
import { type SimulatedClock, settled, simulatedClock } from "../../src/platform/simulated-clock.ts";
import type { Conduct } from "../../src/store/front/in-thread.ts";
import { type MemoryMedium, memoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";
import { logLines } from "../support/log-lines.ts";

const START = Date.UTC(2026, 10, 30, 8);

/** A daemon's locks on a store in memory and virtual time. Stores on one medium are one store to their daemons. */
function daemon(clock: SimulatedClock, medium: MemoryMedium, host: string) {
  const { log, lines } = logLines();
  const stopped = createLatch();
  const conduct: { now: (operation: string) => Conduct } = { now: () => ({ kind: "answer" }) };
  const writer = host.padEnd(12, "0");
  const store = openMemoryStore({ medium, clock, writer, conduct: (operation) => conduct.now(operation) });
  const trouble = storeTrouble(clock, log);
  const sessions = createRunSessions();
  const keeper = createLockKeeper({
    leases: store.leases,
    clock,
    log,
    stopped,
    trouble,
    host,
    procId: "abcdefabcdef",
    pollMs: 1000,
  });
  let runs = 0;
  const run = (job = "job") => {
    const { session } = sessions.open({
      runId: `${host}-${++runs}`,
      job,
      attempt: 0,
      scheduledAt: null,
      defaultScope: job,
      allowedScopes: new Set(),
    });
    return {
      ...session,
      acquire: (wish: Partial<LockWish> = {}, hungUp = createLatch()) =>
        keeper.acquire(session, { scope: "global", name: "m", permits: 1, ttlMs: 30_000, blockMs: 0, ...wish }, hungUp),
      release: (token: string) => keeper.release(session.runId, token),
      end: () => {
        sessions.end(session.runId);
        return keeper.releaseRun(session.runId);
      },
    };
  };
  return { run, lines, conduct };
}

function tokenOf(answer: LockAnswer): string {
  if (answer.kind !== "acquired") throw new Error(`not acquired: ${answer.kind}`);
  return answer.token;
}

/** The answer once virtual time has passed, or that there is none yet. */
async function within<T>(clock: SimulatedClock, ms: number, promise: Promise<T>): Promise<T | "still waiting"> {
  await clock.runUntilSettled(clock.wallNow() + ms);
  return Promise.race([promise, settled().then(() => "still waiting" as const)]);
}

const taken = { kind: "taken" };

describe("a lock", () => {
  test("has one holder, also among runs of one daemon (LOK-4)", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    const first = run();
    const token = tokenOf(await first.acquire());
    expect(await first.acquire()).toEqual(taken);
    expect(await run().acquire()).toEqual(taken);
    await first.release(token);
    expect(await run().acquire()).toMatchObject({ kind: "acquired", permit: 0, fence: 2 });
  });

  test("has one holder among the daemons of one store", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a").run();
    const b = daemon(clock, medium, "b").run();
    const token = tokenOf(await a.acquire());
    expect(await b.acquire()).toEqual(taken);
    await a.release(token);
    expect(await b.acquire()).toMatchObject({ kind: "acquired", fence: 2 });
  });

  test("of N permits has N holders (LOK-2)", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    const runs = [run(), run(), run(), run()];
    const answers = await Promise.all(runs.map((one) => one.acquire({ permits: 3 })));
    expect(answers.map((answer) => (answer.kind === "acquired" ? answer.permit : answer.kind)).sort()).toEqual([
      0,
      1,
      2,
      "taken",
    ]);
  });

  test("stays held for as long as its run lives, far beyond its time to live (LOK-1)", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    await run().acquire({ ttlMs: 5000 });
    const other = run();
    for (let hour = 0; hour < 3; hour++) {
      await clock.runUntilSettled(clock.wallNow() + 3_600_000);
      expect(await other.acquire()).toEqual(taken);
    }
  });

  test("is free the moment its run ends, and waits for nobody's time to live (LOK-1, JAP-2)", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a").run();
    const b = daemon(clock, medium, "b").run();
    await a.acquire();
    await a.acquire({ name: "other" });
    await a.end();
    expect(await b.acquire()).toMatchObject({ kind: "acquired" });
    expect(await b.acquire({ name: "other" })).toMatchObject({ kind: "acquired" });
  });

  test("of a daemon that is gone frees itself after its time to live, with a higher fence", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const gone = daemon(clock, medium, "a");
    await gone.run().acquire({ ttlMs: 6000 });
    gone.conduct.now = () => ({ kind: "silent", lands: false });
    const b = daemon(clock, medium, "b").run();
    const waiting = b.acquire({ blockMs: 60_000 });
    expect(await within(clock, 5500, waiting)).toBe("still waiting");
    expect(await within(clock, 1500, waiting)).toMatchObject({ kind: "acquired", fence: 2 });
  });

  test("that is lost to another is said once, and the run is left alone (LOK-3)", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    const run = a.run("nightly");
    const token = tokenOf(await run.acquire({ ttlMs: 6000 }));
    a.conduct.now = () => ({ kind: "fail", message: "the mount is gone" });
    await clock.runUntilSettled(clock.wallNow() + 7000);
    const b = daemon(clock, medium, "b").run();
    expect(await b.acquire({ ttlMs: 60_000 })).toMatchObject({ kind: "acquired", fence: 2 });
    a.conduct.now = () => ({ kind: "answer" });
    await clock.runUntilSettled(clock.wallNow() + 10_000);
    expect(a.lines).toEqual([
      "WARNING job nightly: lock 'm' in scope 'global' (fence 1) was lost, b#abcdefabcdef has it now; the run goes on",
    ]);
    expect(await run.release(token)).toBe(false);
    expect(run.ended.tripped).toBe(false);
    expect(medium.leases.get("lock/global/m#0")?.lease).toMatchObject({ fence: 2 });
  });

  test("survives a store that fails for less than its time to live", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    await a.run().acquire();
    a.conduct.now = () => ({ kind: "fail", message: "the mount is gone" });
    await clock.runUntilSettled(clock.wallNow() + 25_000);
    a.conduct.now = () => ({ kind: "answer" });
    await clock.runUntilSettled(clock.wallNow() + 20_000);
    expect(await daemon(clock, medium, "b").run().acquire()).toEqual(taken);
    expect(a.lines).toEqual([]);
  });
});

describe("an acquire that waits", () => {
  test("gets the lock as soon as it is released here", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    const first = run();
    const token = tokenOf(await first.acquire());
    const waiting = run().acquire({ blockMs: 60_000 });
    await clock.runUntilSettled(clock.wallNow() + 100);
    await first.release(token);
    expect(await within(clock, 0, waiting)).toMatchObject({ kind: "acquired", fence: 2 });
  });

  test("gets a lock that another daemon released within a second", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a").run();
    const token = tokenOf(await a.acquire());
    const waiting = daemon(clock, medium, "b").run().acquire({ blockMs: 60_000 });
    await clock.runUntilSettled(clock.wallNow() + 100);
    await a.release(token);
    expect(await within(clock, 1000, waiting)).toMatchObject({ kind: "acquired", fence: 2 });
  });

  test("is served in the order of the waits", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    const first = run();
    let token = tokenOf(await first.acquire());
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (place) => {
      const one = run();
      const answer = await one.acquire({ blockMs: 60_000 });
      order.push(place);
      await clock.runUntilSettled(clock.wallNow());
      await one.release(tokenOf(answer));
    });
    await clock.runUntilSettled(clock.wallNow() + 10);
    await first.release(token);
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    token = tokenOf(await first.acquire());
    expect(await first.release(token)).toBe(true);
  });

  test("ends when its time is over", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    await run().acquire();
    const waiting = run().acquire({ blockMs: 2500 });
    expect(await within(clock, 2400, waiting)).toBe("still waiting");
    expect(await within(clock, 100, waiting)).toEqual(taken);
  });

  test("is answered when its run ends, and holds nothing then", async () => {
    const clock = simulatedClock(START);
    const { run } = daemon(clock, memoryMedium(), "a");
    const holder = run();
    const token = tokenOf(await holder.acquire());
    const ending = run();
    const waiting = ending.acquire({ blockMs: 60_000 });
    await clock.runUntilSettled(clock.wallNow() + 100);
    await ending.end();
    expect(await within(clock, 0, waiting)).toEqual({ kind: "run ended" });
    await holder.release(token);
    expect(await run().acquire()).toMatchObject({ kind: "acquired" });
  });

  test.each(["the run ends", "the client hangs up"])("hands back what it wins in the moment that %s", async (what) => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    a.conduct.now = () => ({ kind: "slow", delayMs: 500 });
    const run = a.run();
    const hungUp = createLatch();
    const waiting = run.acquire({}, hungUp);
    await clock.runUntilSettled(clock.wallNow() + 250);
    if (what === "the run ends") void run.end();
    else hungUp.trip();
    expect(await within(clock, 5000, waiting)).toEqual({ kind: "run ended" });
    expect(await daemon(clock, medium, "b").run().acquire()).toMatchObject({ kind: "acquired", fence: 2 });
  });
});

describe("a store in trouble", () => {
  test("that answers nothing is no taken lock", async () => {
    const clock = simulatedClock(START);
    const { run, conduct, lines } = daemon(clock, memoryMedium(), "a");
    conduct.now = () => ({ kind: "fail", message: "/secret/place: input/output error" });
    await expect(run().acquire({ permits: 3 })).rejects.toMatchObject({
      status: 503,
      message: "state backend unavailable; the reason is in the cronstable log",
    });
    expect(lines).toHaveLength(1);
  });

  test("a lease that took the store half its life to grant is handed back", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    a.conduct.now = () => ({ kind: "slow", delayMs: 2500 });
    const slow = a.run().acquire({ ttlMs: 5000 });
    slow.catch(() => undefined);
    await clock.runUntilSettled(clock.wallNow() + 20_000);
    await expect(slow).rejects.toMatchObject({ status: 503 });
    expect(medium.leases.get("lock/global/m#0")?.lease.expiresAtSeconds).toBe(0);
    a.conduct.now = () => ({ kind: "slow", delayMs: 2400 });
    expect(await within(clock, 20_000, a.run().acquire({ ttlMs: 5000 }))).toMatchObject({ kind: "acquired" });
    const other = daemon(clock, medium, "b").run();
    for (let second = 0; second < 60; second++) {
      await clock.runUntilSettled(clock.wallNow() + 1000);
      expect(await other.acquire()).toEqual(taken);
    }
  });

  test("a lease that landed without an answer is freed", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    a.conduct.now = (operation) =>
      operation === "acquireLease" ? { kind: "silent", lands: true } : { kind: "answer" };
    const refused = a.run().acquire();
    refused.catch(() => undefined);
    await clock.runUntilSettled(clock.wallNow() + 60_000);
    await expect(refused).rejects.toMatchObject({ status: 503 });
    expect(medium.leases.get("lock/global/m#0")?.lease.expiresAtSeconds).toBe(0);
  });

  test("a release it does not take is repeated until it does", async () => {
    const clock = simulatedClock(START);
    const medium = memoryMedium();
    const a = daemon(clock, medium, "a");
    const run = a.run();
    const token = tokenOf(await run.acquire({ ttlMs: 3_600_000 }));
    a.conduct.now = () => ({ kind: "fail", message: "the mount is gone" });
    expect(await run.release(token)).toBe(true);
    await clock.runUntilSettled(clock.wallNow() + 10_000);
    a.conduct.now = () => ({ kind: "answer" });
    await clock.runUntilSettled(clock.wallNow() + 60_000);
    expect(await daemon(clock, medium, "b").run().acquire()).toMatchObject({ kind: "acquired", fence: 2 });
  });
});

/** Jobs that take a lock, work, and let go, for a minute; answers the most holders there ever were at once. */
async function contend(seed: number, permits: number): Promise<{ most: number; turns: number }> {
  const clock = simulatedClock(START);
  const medium = memoryMedium();
  const daemons = ["a", "b"].map((host) => daemon(clock, medium, host));
  const until = START + 60_000;
  let state = seed;
  const upTo = (ms: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % ms;
  };
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  for (const { conduct } of daemons)
    conduct.now = () => {
      const luck = upTo(100);
      if (luck < 2) return { kind: "fail", message: "for a moment" };
      return luck < 10 ? { kind: "slow", delayMs: upTo(300) } : { kind: "answer" };
    };
  let holders = 0;
  let most = 0;
  let turns = 0;
  const contender = async (index: number): Promise<void> => {
    const node = daemons[index % 2];
    while (node !== undefined && clock.wallNow() < until) {
      const run = node.run();
      const answer = await run.acquire({ permits, blockMs: upTo(20_000) }).catch(() => null);
      if (answer?.kind === "acquired") {
        holders++;
        turns++;
        most = Math.max(most, holders);
        await sleep(upTo(200));
        holders--;
      }
      await run.end();
      await sleep(upTo(500));
    }
  };
  const all = Promise.all(Array.from({ length: 50 }, (_, index) => contender(index)));
  await clock.runUntilSettled(until + 90_000);
  await all;
  return { most, turns };
}

test.each([
  [1, 1],
  [2, 1],
  [3, 3],
  [4, 3],
])("50 jobs of two daemons contend for a minute over a shaky store (seed %i, %i permits)", async (seed, permits) => {
  const { most, turns } = await contend(seed, permits);
  expect(most).toBe(permits);
  expect(turns).toBeGreaterThan(50);
});
