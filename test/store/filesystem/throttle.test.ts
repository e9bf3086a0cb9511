import { expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { throttle } from "../../../src/store/filesystem/throttle.ts";

function line(perSecond: number) {
  const clock = simulatedClock(0);
  const limiter = throttle(perSecond, clock);
  const went: string[] = [];
  const admit = (name: string, wanted = () => true): void =>
    limiter.admit({ wanted, go: (waited) => went.push(`${name} at ${clock.elapsedNow() / 1000} after ${waited}`) });
  return { clock, limiter, went, admit };
}

test("one second's worth goes at once, the rest in line at the rate (RAT-1)", () => {
  const { clock, went, admit } = line(2);
  for (const name of ["a", "b", "c", "d", "e"]) admit(name);
  expect(went).toEqual(["a at 0 after 0", "b at 0 after 0"]);
  clock.runUntil(1000);
  expect(went.slice(2)).toEqual(["c at 0.5 after 0.5", "d at 1 after 1"]);
  clock.runUntil(60_000);
  expect(went.slice(4)).toEqual(["e at 1.5 after 1.5"]);
  for (const name of ["f", "g", "h"]) admit(name);
  expect(went.slice(5)).toEqual(["f at 60 after 0", "g at 60 after 0"]);
});

test("a rate below one per second still lets one go at once", () => {
  const { clock, went, admit } = line(0.5);
  admit("a");
  admit("b");
  expect(went).toEqual(["a at 0 after 0"]);
  clock.runUntil(2000);
  expect(went.slice(1)).toEqual(["b at 2 after 2"]);
});

test("what nobody wants any more costs no token (RAT-3)", () => {
  const { clock, went, admit } = line(1);
  admit("a");
  admit("gone", () => false);
  admit("b");
  clock.runUntil(1000);
  expect(went).toEqual(["a at 0 after 0", "b at 1 after 1"]);
});

test("no limit holds nothing back, and a stopped line lets nothing go", () => {
  const free = line(0);
  for (let i = 0; i < 100; i++) free.admit("x");
  expect(free.went).toHaveLength(100);
  const stopped = line(1);
  stopped.admit("a");
  stopped.admit("b");
  stopped.limiter.stop();
  stopped.clock.runUntil(10_000);
  expect(stopped.went).toEqual(["a at 0 after 0"]);
  expect(stopped.clock.pending).toBe(0);
});
