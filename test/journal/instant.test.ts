import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isoInstant, readInstant } from "../../src/journal/instant.ts";

describe("FMT-6: instants in records", () => {
  test("are written in UTC with six digits, without any on a whole second, never with Z", () => {
    expect(isoInstant(Date.UTC(2026, 10, 30, 8, 49, 0, 32))).toBe("2026-11-30T08:49:00.032000+00:00");
    expect(isoInstant(Date.UTC(2026, 10, 30, 8, 49))).toBe("2026-11-30T08:49:00+00:00");
    expect(isoInstant(Date.UTC(2026, 10, 30, 8, 49) + 0.813)).toBe("2026-11-30T08:49:00.000813+00:00");
  });

  test.each([
    ["2026-11-30T08:49:00.032813+00:00", Date.UTC(2026, 10, 30, 8, 49, 0, 32) + 0.813],
    ["2026-11-30T08:49:00Z", Date.UTC(2026, 10, 30, 8, 49)],
    ["2026-11-30T09:49:00.5+01:00", Date.UTC(2026, 10, 30, 8, 49, 0, 500)],
    ["2026-11-30T04:19:00-0430", Date.UTC(2026, 10, 30, 8, 49)],
    ["2026-11-30T08:49:00", Date.UTC(2026, 10, 30, 8, 49)],
    ["2026-11-30 08:49", Date.UTC(2026, 10, 30, 8, 49)],
    ["0099-01-01T00:00:00Z", null],
    ["2026-02-30T00:00:00Z", null],
    ["2026-11-30T25:00:00Z", null],
    ["2026-11-30T08:60:00Z", null],
    ["yesterday", null],
    ["", null],
    [17, null],
    [null, null],
  ])("%j is read as %j", (text, at) => expect(readInstant(text)).toBe(at));

  test("what is written is read as the same microsecond, and texts order as their instants", () => {
    const micros = fc.integer({ min: 0, max: 4_102_444_800_000_000 });
    fc.assert(
      fc.property(micros, micros, (a, b) => {
        expect(Math.round((readInstant(isoInstant(a / 1000)) ?? 0) * 1000)).toBe(a);
        expect(isoInstant(a / 1000) < isoInstant(b / 1000)).toBe(a < b);
      }),
    );
  });
});
