import { expect, test } from "vitest";
import { calendarDays, calendarEventsPerEntry, pressureHours } from "../../src/schedule/limits.ts";
import { askedZone, boundedCount } from "../../src/schedule/query.ts";

test("a count is never an error: what is no whole number is the default, what is out of bounds the bound", () => {
  const bounds = { otherwise: 12, min: 1, max: 60 };
  const counts = [
    undefined,
    null,
    "",
    "abc",
    "1.5",
    "1e1",
    "0x10",
    "0",
    "-5",
    "7",
    " 8 ",
    "+9",
    "60",
    "61",
    "9".repeat(400),
  ];
  expect(counts.map((text) => boundedCount(text, bounds))).toEqual([
    12, 12, 12, 12, 12, 12, 12, 1, 1, 7, 8, 9, 60, 60, 60,
  ]);
});

test("pressure and calendars are bounded too", () => {
  const bounds = [pressureHours, calendarDays, calendarEventsPerEntry];
  expect(bounds.map((bound) => boundedCount(undefined, bound))).toEqual([24, 14, 100]);
  expect(bounds.map((bound) => boundedCount("0", bound))).toEqual([1, 1, 1]);
  expect(bounds.map((bound) => boundedCount("9999", bound))).toEqual([168, 60, 1000]);
});

test("a zone that is not asked for is UTC, and an unknown one is named", () => {
  for (const none of [undefined, null, ""]) expect(askedZone(none)).toMatchObject({ payload: { label: "UTC" } });
  expect(askedZone("US/Eastern")).toMatchObject({ payload: { label: "US/Eastern" } });
  expect(askedZone("us/eastern")).toEqual({ kind: "bad request", error: "unknown timezone: us/eastern" });
});
