import { expect, test } from "vitest";
import { instantSeconds } from "../../src/store/instant.ts";

test.each([
  ["2026-11-30T08:49:00.032813+00:00", 1796028540.032813],
  ["2026-11-30T08:49:00+00:00", 1796028540],
  ["2026-11-30T08:49:00Z", 1796028540],
  ["2026-11-30T08:49:00.5", 1796028540.5],
  ["2026-11-30 08:49:00", 1796028540],
  ["2026-11-30T09:49:00+0100", 1796028540],
  ["2026-11-30T03:19:00-05:30", 1796028540],
  ["2026-11-30T08:49", 1796028540],
  ["1970-01-01T00:00:00.000001999Z", 0.000001],
])("%s is understood (FMT-6)", (text, seconds) => {
  expect(instantSeconds(text)).toBeCloseTo(seconds, 6);
});

test.each(["", "today", "2026-13-01T00:00:00Z", "2026-11-30", "1796028540", "2026-11-30T25:00:00Z"])(
  "%j is no instant",
  (text) => {
    expect(instantSeconds(text)).toBeNull();
  },
);
