import { expect, test } from "vitest";
import { readingPace } from "../../../src/execution/capture/pace.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";

const turn = () => new Promise(setImmediate);

test("within a turn's time all may read on", async () => {
  const clock = simulatedClock(0);
  const pace = readingPace(clock);
  for (let read = 0; read < 1000; read++) expect(pace.afterRead(() => {})).toBe("more");
  clock.runUntil(4);
  expect(pace.afterRead(() => {})).toBe("more");
});

test("beyond it streams wait, and resume a few per turn in their order", async () => {
  const clock = simulatedClock(0);
  const pace = readingPace(clock);
  const resumed: number[] = [];
  pace.afterRead(() => {});
  clock.runUntil(5);
  for (let stream = 0; stream < 20; stream++) expect(pace.afterRead(() => resumed.push(stream))).toBe("wait");
  expect(resumed).toEqual([]);
  await turn();
  expect(resumed).toEqual(Array.from({ length: 16 }, (_, stream) => stream));
  await turn();
  expect(resumed).toHaveLength(20);
  expect(pace.afterRead(() => {})).toBe("more");
});
