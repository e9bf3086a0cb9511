import fc from "fast-check";
import { expect, test } from "vitest";
import { settled, simulatedClock } from "../../src/platform/simulated-clock.ts";

test("timers run in the order of their instants, those of one instant in the order they were set, cancelled ones never", () => {
  const timers = fc.array(fc.record({ delayMs: fc.integer({ min: -3, max: 40 }), isCancelled: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(timers, fc.integer({ min: 0, max: 50 }), (wanted, until) => {
      const clock = simulatedClock(1_000);
      const ran: { readonly id: number; readonly at: number }[] = [];
      const set = wanted.map(({ delayMs }, id) => clock.after(delayMs, () => ran.push({ id, at: clock.wallNow() })));
      wanted.forEach(({ isCancelled }, id) => {
        if (isCancelled) set[id]?.();
      });
      clock.runUntil(1_000 + until);
      const expected = wanted
        .map(({ delayMs, isCancelled }, id) => ({ id, at: 1_000 + Math.max(0, delayMs), isCancelled }))
        .filter(({ at, isCancelled }) => !isCancelled && at <= 1_000 + until)
        .sort((a, b) => a.at - b.at || a.id - b.id)
        .map(({ id, at }) => ({ id, at }));
      expect(ran).toEqual(expected);
      expect(clock.wallNow()).toBe(1_000 + until);
      expect(clock.pending).toBe(wanted.filter(({ isCancelled }) => !isCancelled).length - expected.length);
    }),
  );
});

test("cancelled timers are let go of, and those that wait among them still run", () => {
  const clock = simulatedClock(0);
  const ran: number[] = [];
  for (let id = 0; id < 5_000; id++) {
    const cancel = clock.after(1_000_000 - id, () => ran.push(id));
    if (id % 1_000 !== 0) cancel();
  }
  expect(clock.pending).toBe(5);
  clock.runUntil(1_000_000);
  expect(ran).toEqual([4_000, 3_000, 2_000, 1_000, 0]);
});

test("one timer at a time: the clock stands at its instant, and at the end when there is none", async () => {
  const clock = simulatedClock(0);
  const ran: string[] = [];
  clock.after(10, () => void Promise.resolve().then(() => ran.push("promised")));
  clock.after(20, () => ran.push("second"));
  expect(clock.runNext(15)).toBe(true);
  expect(clock.wallNow()).toBe(10);
  await settled();
  expect(ran).toEqual(["promised"]);
  expect(clock.runNext(15)).toBe(false);
  expect(clock.wallNow()).toBe(15);
});

test("cancelling a timer that has run changes nothing", () => {
  const clock = simulatedClock(0);
  const cancel = clock.after(1, () => {});
  clock.after(2, () => {});
  clock.runUntil(1);
  cancel();
  expect(clock.pending).toBe(1);
});
