import { expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { judgeDue } from "../../src/schedule/lateness.ts";
import { iso, zone } from "./moments.ts";

function due(e: string, tz: string, at: string, now: string) {
  const judged = judgeDue(parseSchedule(e), zone(tz), Date.parse(at), Date.parse(now));
  const next = judged.nextMs === null ? null : iso(judged.nextMs);
  if (judged.kind === "replay") return { replay: judged.slots.map(iso), next };
  const skipped = judged.skipped && [iso(judged.skipped.fromMs), iso(judged.skipped.beforeMs)];
  return { resume: judged.slot === null ? null : iso(judged.slot), lateMs: judged.lateMs, skipped, next };
}

test("three seconds late, a per-second job gets each of its slots", () => {
  expect(due("* * * * * * *", "UTC", "2026-07-14T09:00:00Z", "2026-07-14T09:00:02.900Z")).toEqual({
    replay: ["2026-07-14T09:00:00Z", "2026-07-14T09:00:01Z", "2026-07-14T09:00:02Z"],
    next: "2026-07-14T09:00:03Z",
  });
});

test("ten seconds late exactly, it gets one, and a window of what was passed over", () => {
  expect(due("* * * * * * *", "UTC", "2026-07-14T09:00:00Z", "2026-07-14T09:00:09.999Z").replay).toHaveLength(10);
  expect(due("* * * * * * *", "UTC", "2026-07-14T09:00:00Z", "2026-07-14T09:00:10.250Z")).toEqual({
    resume: "2026-07-14T09:00:10Z",
    lateMs: 10_250,
    skipped: ["2026-07-14T09:00:00Z", "2026-07-14T09:00:10Z"],
    next: "2026-07-14T09:00:11Z",
  });
});

test("a frozen quarter-hourly job runs when the current minute is its own, and not otherwise", () => {
  const resumed = (now: string) => due("*/15 * * * *", "UTC", "2026-07-14T00:15:00Z", now).resume;
  expect(resumed("2026-07-14T00:37:00Z")).toBeNull();
  expect(resumed("2026-07-14T00:45:00Z")).toBe("2026-07-14T00:45:00Z");
  expect(resumed("2026-07-14T00:45:30Z")).toBe("2026-07-14T00:45:00Z");
});

test("forty seconds late, a daily job still runs unless its seconds are written", () => {
  const [at, now] = ["2026-07-14T03:00:00Z", "2026-07-14T03:00:40Z"];
  expect(due("0 3 * * *", "UTC", at, now)).toMatchObject({ resume: at, skipped: null });
  expect(due("0 0 3 * * * *", "UTC", at, now)).toMatchObject({ resume: null, skipped: [at, now] });
  expect(due("0 3 * * *", "UTC", at, "2026-07-14T03:00:09Z").replay).toEqual([at]);
  expect(due("0 0 3 * * * *", "UTC", at, "2026-07-14T03:00:09Z").replay).toEqual([at]);
});

test("the current slot is asked of the fire set, not of the wall clock", () => {
  const [tz, due1] = ["America/New_York", "2026-10-31T05:30:00Z"];
  expect(due("30 1 * * *", tz, due1, "2026-11-01T05:30:20Z").resume).toBe("2026-11-01T05:30:00Z");
  expect(due("30 1 * * *", tz, due1, "2026-11-01T06:30:20Z").resume).toBeNull();
  expect(due("30 * * * *", tz, due1, "2026-11-01T06:30:20Z").resume).toBe("2026-11-01T06:30:00Z");
  expect(due("30 2 * * *", tz, "2026-03-07T07:30:00Z", "2026-03-08T07:30:20Z").resume).toBe("2026-03-08T07:30:00Z");
});

test("the last slot of a schedule leaves nothing to wait for", () => {
  const at = "2026-12-31T23:59:00Z";
  expect(due("59 23 31 12 * 2026", "UTC", at, "2026-12-31T23:59:00.010Z")).toEqual({ replay: [at], next: null });
});
