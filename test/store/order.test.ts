import { expect, test } from "vitest";
import { type JsonValue, jsonFloat } from "../../src/store/json.ts";
import { compareValues } from "../../src/store/order.ts";

test.each<[JsonValue, JsonValue, number | null]>([
  [9, 10, -1],
  [10, jsonFloat(10), 0],
  [9007199254740993n, jsonFloat(9007199254740992), 1],
  [true, 0, 1],
  ["9", "10", 1],
  ["2026-06", "2026-07", -1],
  ["😀", "\uffee", 1],
  [[1, "b"], [1, "a"], 1],
  [[1], [1, 0], -1],
  [[1, "a"], [1, 2], null],
  [1, "1", null],
  [null, null, null],
  [{}, {}, null],
])("%s against %s is %s (DRV-1)", (a, b, expected) => {
  const found = compareValues(a, b);
  expect(found === null ? null : Math.sign(found)).toBe(expected);
});
