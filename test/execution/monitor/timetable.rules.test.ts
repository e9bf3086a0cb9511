import { expect, test } from "vitest";
import { isServed, nextDueAt, nextWalkAt } from "../../../src/execution/monitor/timetable.rules.ts";

test.each([
  { intervalMs: 1000, now: 0, due: 1000 },
  { intervalMs: 1000, now: 340, due: 1000 },
  { intervalMs: 1000, now: 499, due: 1000 },
  { intervalMs: 1000, now: 500, due: 2000 }, // half an interval must lie between two samples
  { intervalMs: 1000, now: 1003, due: 2000 },
  { intervalMs: 100, now: 1003, due: 1100 },
])("every $intervalMs ms, sampled at $now: due again at $due", ({ intervalMs, now, due }) => {
  expect(nextDueAt(intervalMs, now)).toBe(due);
});

test("runs of one interval come to share their walks, whenever they started", () => {
  const dues = [3, 250, 480, 999].map((startedAt) => nextDueAt(1000, nextDueAt(1000, startedAt)));
  expect(new Set(dues)).toEqual(new Set([2000, 3000]));
});

test("a walk is made for the earliest run and takes along those due right after", () => {
  expect(nextWalkAt([300, 200], { lastEndedAt: 0, lastTookMs: 0 })).toBe(200);
  expect(isServed(200, 199.9)).toBe(true);
  expect(isServed(215, 200)).toBe(true);
  expect(isServed(300, 200)).toBe(false);
});

test("walks take at most a tenth of the time: after one of 200 ms there are 1800 ms of rest", () => {
  expect(nextWalkAt([1000], { lastEndedAt: 900, lastTookMs: 200 })).toBe(2700);
});

test("with nobody watched there is no walk", () => {
  expect(nextWalkAt([], { lastEndedAt: 5, lastTookMs: 5 })).toBe(Number.POSITIVE_INFINITY);
});
