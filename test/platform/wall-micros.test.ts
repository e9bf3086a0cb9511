import { expect, test } from "vitest";
import { wallMicros } from "../../src/platform/wall-micros.ts";

test("the wall clock in microseconds stands between two looks at it in milliseconds", () => {
  for (let look = 0; look < 1000; look++) {
    const before = Date.now();
    const micros = wallMicros();
    const after = Date.now();
    expect(Number.isSafeInteger(micros)).toBe(true);
    expect(Math.floor(micros / 1000)).toBeGreaterThanOrEqual(before);
    expect(Math.floor(micros / 1000)).toBeLessThanOrEqual(after);
  }
});

test("it tells more than milliseconds apart", () => {
  const below = new Set(Array.from({ length: 1000 }, () => wallMicros() % 1000));
  expect(below.size).toBeGreaterThan(10);
});
