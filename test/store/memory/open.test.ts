import { expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import type { Operation } from "../../../src/store/engine.ts";
import type { Conduct } from "../../../src/store/front/in-thread.ts";
import { PENDING_WRITES_MAX } from "../../../src/store/limits.ts";
import { memoryMedium } from "../../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../../src/store/memory/open.ts";
import { done, failure } from "../support/outcome.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

function badStore(conduct: (operation: Operation) => Conduct) {
  const clock = simulatedClock(start);
  const medium = memoryMedium();
  const store = openMemoryStore({ medium, clock, writer: "aaaaaaaaaaaa", conduct });
  const sound = openMemoryStore({ medium, clock, writer: "bbbbbbbbbbbb" });
  return { clock, store, sound };
}

test("a store that fails has done nothing", async () => {
  const { store, sound } = badStore(() => ({ kind: "fail", message: "EIO" }));
  expect(await failure(store.records.append("runs/a", {}), "io")).toBe("EIO");
  expect(await done(sound.records.streams(""))).toEqual({ names: [], complete: true });
  expect(store.counters().operations.append).toMatchObject({ finished: 1, errors: 1 });
});

test("a silent store answers unknown at the deadline, whether it did it or not (THR-2)", async () => {
  for (const lands of [true, false]) {
    const { clock, store, sound } = badStore(() => ({ kind: "silent", lands }));
    const acquiring = store.leases.acquire("slots/a", "a#1", 60_000);
    await clock.runUntilSettled(start + 10_000);
    expect(await acquiring).toEqual({ kind: "unknown", because: "no answer within 10 s" });
    expect((await done(sound.leases.read("slots/a"))) !== null).toBe(lands);
  }
});

test("a slow store answers late or too late, in order, and its lanes do not wait for each other", async () => {
  const { clock, store, sound } = badStore((operation) =>
    operation === "append" ? { kind: "slow", delayMs: 6000 } : { kind: "answer" },
  );
  const first = store.records.append("runs/a", { n: 1 });
  const second = store.records.append("runs/a", { n: 2 });
  expect((await done(store.leases.acquire("slots/a", "a#1", 60_000))).kind).toBe("held");
  await clock.runUntilSettled(start + 10_000);
  expect((await first).kind).toBe("done");
  expect((await second).kind).toBe("unknown");
  await clock.runUntilSettled(start + 12_000);
  const query = { order: "oldest first", limit: 9, reading: "strict" } as const;
  expect((await done(sound.records.list("runs/a", query))).map(({ data }) => data.n)).toEqual([1, 2]);
});

test("a hanging store sheds what comes too much, and closes after its patience", async () => {
  const { clock, store } = badStore(() => ({ kind: "slow", delayMs: Number.POSITIVE_INFINITY }));
  for (let n = 0; n < PENDING_WRITES_MAX; n++) void store.records.append("runs/a", { n });
  await failure(store.records.append("runs/a", {}), "overflow");
  expect(store.counters().shedWrites).toBe(1);
  const closing = store.close(5000);
  await clock.runUntilSettled(start + 5000);
  expect(await closing).toEqual({ unfinished: PENDING_WRITES_MAX, threads: "ended" });
});
