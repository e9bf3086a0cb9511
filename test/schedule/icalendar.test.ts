import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { type CalendarEntry, type CalendarQuery, calendar } from "../../src/schedule/icalendar.ts";
import { cases } from "./cases.ts";
import { upcoming, zone } from "./moments.ts";

const entry = (name: string, expression: string, tz = "UTC", meanSeconds: number | null = null): CalendarEntry => ({
  name,
  schedule: parseSchedule(expression, name),
  zone: zone(tz),
  meanSeconds,
});

const feed = (entries: readonly CalendarEntry[], more: Partial<CalendarQuery> = {}) =>
  [
    ...calendar({
      entries,
      job: null,
      version: "1.0.0",
      nowMs: Date.parse("2026-07-18T12:00:00Z"),
      days: 14,
      eventsPerEntryMax: 100,
      ...more,
    }),
  ].join("");

const linesOf = (text: string, key: string) =>
  text
    .replaceAll("\r\n ", "")
    .split("\r\n")
    .filter((line) => line.startsWith(key));

test.each(cases.ical)("the feed $name is that of the data to the byte", (row) => {
  const entries = row.jobs.map(([name, expression, tz, mean]) => entry(name, expression, tz, mean));
  const job = row.calname.startsWith("cronstable: ") ? row.calname.slice("cronstable: ".length) : null;
  const text = feed(entries, {
    job,
    version: row.version,
    startMs: Date.parse(row.start),
    nowMs: Date.parse(row.now),
    days: row.days,
    eventsPerEntryMax: row.cap,
  });
  expect(text).toBe(row.text);
});

test("no line is longer than 75 octets, and none is cut inside a character", () => {
  const names = ["日本".repeat(40), "é".repeat(60), "😀".repeat(30), `a${"é".repeat(60)}`, "x".repeat(300)];
  const text = feed(
    names.map((name) => entry(name, "0 3 * * *")),
    { job: names[0] ?? null },
  );
  for (const line of text.split("\r\n")) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line).not.toContain("\ufffd");
  }
  expect(linesOf(text, "SUMMARY:").map((line) => line.slice("SUMMARY:".length))).toEqual(expect.arrayContaining(names));
});

test("names are escaped and their events known again by them", () => {
  const text = feed([entry("a\\b;c,d\r\ne\nf", "0 3 * * *")], { days: 1 });
  expect(linesOf(text, "SUMMARY:")).toEqual(["SUMMARY:a\\\\b\\;c\\,d\\ne\\nf"]);
  const uid = linesOf(feed([entry("lw", "30 1 LW * *")], { days: 60 }), "UID:");
  expect(uid).toEqual(["UID:cbd27e9b76c7-20260731T013000Z@cronstable", "UID:cbd27e9b76c7-20260831T013000Z@cronstable"]);
  const later = { days: 60, nowMs: Date.parse("2026-07-18T12:00:00.900Z") };
  expect(linesOf(feed([entry("lw", "30 1 LW * *")], later), "UID:")).toEqual(uid);
});

test("a frequent job yields its events up to the cap, and says when more were left out", () => {
  const text = feed([entry("busy", "* * * * *")], { eventsPerEntryMax: 2 });
  expect(linesOf(text, "BEGIN:VEVENT")).toHaveLength(2);
  expect(linesOf(text, "X-CRONSTABLE-TRUNCATED")).toEqual(["X-CRONSTABLE-TRUNCATED;CAP=2:busy"]);
  const exact = feed([entry("daily", "0 3 * * *")], { days: 2, eventsPerEntryMax: 2 });
  expect(linesOf(exact, "BEGIN:VEVENT")).toHaveLength(2);
  expect(linesOf(exact, "X-CRONSTABLE-TRUNCATED")).toEqual([]);
});

test("events are the fires strictly inside the window, sorted by entry name", () => {
  const text = feed([entry("b", "0 12 * * *"), entry("a", "0 12 * * *")], { days: 2 });
  expect(linesOf(text, "DTSTART:")).toEqual(["DTSTART:20260719T120000Z", "DTSTART:20260719T120000Z"]);
  expect(linesOf(text, "SUMMARY:")).toEqual(["SUMMARY:a", "SUMMARY:b"]);
});

test("the calendar agrees with the fires around a gap (F14)", () => {
  const from = "2026-03-08T06:30:00Z";
  for (const expression of ["30 2 * * *", "0,30 2 * * *"]) {
    const text = feed([entry("gap", expression, "America/New_York")], {
      nowMs: Date.parse(from),
      eventsPerEntryMax: 5,
    });
    const starts = linesOf(text, "DTSTART:").map((line) => line.slice("DTSTART:".length));
    expect(starts).toEqual(upcoming(5, expression, "America/New_York", from).map((fire) => fire.replace(/[-:]/g, "")));
  }
});

describe("an event", () => {
  test.each([
    [null, "PT5M", null],
    [0, "PT5M", null],
    [0.003, "PT5M", "0s"],
    [59.4, "PT5M", "59s"],
    [301, "PT6M", "5m"],
    [3600, "PT1H", "1.0h"],
    [5400, "PT1H30M", "1.5h"],
    [86_400, "PT24H", "24.0h"],
    [1e9, "PT24H", "277777.8h"],
  ])("of a job that takes %s s lasts %s and tells %s", (mean, block, runtime) => {
    const text = feed([entry("job", "0 3 * * *", "UTC", mean)], { days: 1 });
    expect(linesOf(text, "DURATION:")).toEqual([`DURATION:${block}`]);
    const [description = ""] = linesOf(text, "DESCRIPTION:");
    expect(description.split("\\nTypical runtime: ")[1] ?? null).toBe(runtime);
  });
});

test("a dead schedule gives a calendar without events", () => {
  expect(feed([entry("dead", "0 0 30 2 *")], { job: "dead" })).not.toContain("BEGIN:VEVENT");
});
