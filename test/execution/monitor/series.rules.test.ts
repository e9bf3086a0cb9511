import fc from "fast-check";
import { expect, test } from "vitest";
import { emptySeries, type Point, shownPoints, withSample } from "../../../src/execution/monitor/series.rules.ts";

function shown(pointsMax: number, samples: readonly Point[]): readonly Point[] {
  return shownPoints(samples.reduce(withSample, emptySeries(pointsMax)));
}

/** Sample k: at second k, k percent, alternating memory. */
const samples = (count: number): Point[] => Array.from({ length: count }, (_, k) => [k, k, k % 2 === 0 ? 100 : 300]);

test("few samples are shown as they are", () => {
  expect(shown(4, samples(3))).toEqual(samples(3));
});

test("full points merge in pairs: last time, mean CPU, peak memory", () => {
  expect(shown(4, samples(4))).toEqual([
    [1, 0.5, 300],
    [3, 2.5, 300],
  ]);
});

test("what is not yet a whole point is shown as a provisional last one", () => {
  expect(shown(4, samples(5)).at(-1)).toEqual([4, 4, 100]);
  expect(shown(4, samples(6)).at(-1)).toEqual([5, 4.5, 300]);
});

test("an odd number of points leaves the last one open, with its weight", () => {
  expect(shown(3, samples(3))).toEqual([
    [1, 0.5, 300],
    [2, 2, 100],
  ]);
  expect(shown(3, samples(4)).at(-1)).toEqual([3, 2.5, 300]);
});

test("no points are kept where none are wanted", () => {
  expect(shown(0, samples(50))).toEqual([]);
});

test("any number of samples: never more points than allowed, all samples covered, peak and mean kept", () => {
  const run = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.nat(1e9)), { minLength: 1, maxLength: 700 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), run, (pointsMax, values) => {
      const taken = values.map(([cpu, rss], k): Point => [k, cpu, rss]);
      const points = shown(pointsMax, taken);
      expect(points.length).toBeLessThanOrEqual(pointsMax);
      expect(points.at(-1)?.[0]).toBe(values.length - 1);
      expect(Math.max(...points.map((point) => point[2]))).toBe(Math.max(...values.map(([, rss]) => rss)));
      let start = 0;
      for (const [last, cpu] of points) {
        const covered = taken.slice(start, last + 1);
        expect(cpu).toBeCloseTo(covered.reduce((sum, point) => sum + point[1], 0) / covered.length, 6);
        start = last + 1;
      }
    }),
  );
});
