import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { nextFire } from "../../src/schedule/fires.ts";
import { verdict, type Why, type WhyJob, whyNoRun } from "../../src/schedule/why.ts";
import { localZone } from "../../src/schedule/zone.ts";
import { cases } from "./cases.ts";
import { zone } from "./moments.ts";

function job(expression: string, tz = "UTC", more: Partial<WhyJob> = {}): WhyJob {
  const timetable = expression === "@reboot" ? expression : parseSchedule(expression, "report-gen");
  return { name: "report-gen", enabled: true, zone: zone(tz), timetable, paused: null, ...more };
}

const ask = (asked: WhyJob, at: string, name = asked.name) =>
  whyNoRun({ job: name, at }, (wanted) => (wanted === asked.name ? asked : null));

function why(asked: WhyJob, at: string): Why {
  const answer = ask(asked, at);
  if (answer.kind !== "answer") throw new Error(answer.error);
  return answer.payload;
}

test.each(cases.why)("$e in $tz at $civil", ({ e, tz, civil, matches, failed, values, labels, allowed, notes }) => {
  const answer = why(job(e, tz), civil);
  expect(answer.matches).toBe(matches);
  expect(answer.failed).toEqual(failed);
  expect(answer.checks.map(({ field }) => field)).toEqual([
    "second",
    "minute",
    "hour",
    "day-of-month",
    "month",
    "day-of-week",
    "year",
  ]);
  expect(answer.checks.map(({ value }) => value)).toEqual(values);
  expect(answer.checks.map(({ label }) => label)).toEqual(labels);
  expect(answer.checks.map((check) => check.allowed)).toEqual(allowed);
  expect(answer.checks.filter(({ matched }) => !matched).map(({ field }) => field)).toEqual(failed);
  expect(answer.notes.map(({ code, level, message }) => [code, level, message])).toEqual(notes);
});

test("the answer is whole", () => {
  expect(why(job("30 9 * * mon-fri", "America/New_York"), " 2026-07-14T13:31:00Z ")).toEqual({
    job: "report-gen",
    enabled: true,
    timezone: "America/New_York",
    at: "2026-07-14T13:31:00Z",
    expression: "30 9 * * mon-fri",
    reboot: false,
    description: "At 09:30, on Monday, Tuesday, Wednesday, Thursday and Friday",
    at_in_zone: "2026-07-14T09:31:00-04:00",
    matches: false,
    checks: expect.arrayContaining([
      { field: "day-of-week", value: 2, label: "Tuesday", allowed: "Monday-Friday", matched: true },
    ]),
    failed: ["minute"],
    notes: [],
    previous_fire: "2026-07-14T09:30:00-04:00",
    next_fire: "2026-07-15T09:30:00-04:00",
  });
  expect(why(job("H H * * *"), "2026-07-14")).toMatchObject({ expression: "H H * * *", resolved: "43 9 * * *" });
});

test("@reboot has no moment to match, whatever the timestamp", () => {
  const paused = { until: "2026-11-30T10:47:43+00:00", by: "alice", note: "upstream migration" };
  expect(why(job("@reboot", "UTC", { paused }), "nonsense")).toEqual({
    job: "report-gen",
    enabled: true,
    timezone: "UTC",
    at: "nonsense",
    expression: "@reboot",
    reboot: true,
    description: "Once, when cronstable starts (@reboot)",
    matches: false,
    checks: [],
    failed: [],
    notes: [
      {
        code: "reboot",
        level: "note",
        message: "@reboot runs once when the daemon starts; it never fires on a timetable, so no timestamp can match",
      },
      {
        code: "paused",
        level: "note",
        message: "job is paused until 2026-11-30T10:47:43+00:00 (by alice): upstream migration",
      },
    ],
    previous_fire: null,
    next_fire: null,
  });
});

describe("what is asked", () => {
  test("must be a job and a moment, and a known job before all", () => {
    const asked = job("* * * * *");
    const missing = { kind: "bad request", error: "missing ?job= or ?at= query parameter" };
    expect(whyNoRun({ job: "report-gen" }, () => asked)).toEqual(missing);
    expect(whyNoRun({ job: " ", at: "2026-07-14" }, () => asked)).toEqual(missing);
    expect(ask(asked, "nonsense", "x/y")).toEqual({
      kind: "not found",
      error: "no job or DAG schedule named 'x/y'",
    });
    expect(ask(asked, "nonsense")).toEqual({
      kind: "bad request",
      error:
        "invalid timestamp 'nonsense': pass ISO 8601, e.g. 2026-07-14T09:00, 2026-07-14T09:00:00+02:00 or 2026-07-14T09:00:00Z",
    });
  });

  test.each([
    ["2026-07-14", "2026-07-14T00:00:00+02:00"],
    ["2026-07-14T09", "2026-07-14T09:00:00+02:00"],
    ["2026-07-14 09:30", "2026-07-14T09:30:00+02:00"],
    ["2026-07-14T09:30:15.25", "2026-07-14T09:30:15.250+02:00"],
    ["2026-07-14T09:30z", "2026-07-14T11:30:00+02:00"],
    ["2026-07-14T09:30:00+0900", "2026-07-14T02:30:00+02:00"],
    ["2026-07-14T09:30-10", "2026-07-14T21:30:00+02:00"],
    ["20260714T0930", "2026-07-14T09:30:00+02:00"],
    ["20260714T093015Z", "2026-07-14T11:30:15+02:00"],
    ["2026-W29-2T09:00", "2026-07-14T09:00:00+02:00"],
    ["2020-W53-7", "2021-01-03T00:00:00+01:00"],
    ["2024-02-29", "2024-02-29T00:00:00+01:00"],
  ])("may be written %s, which is %s in Paris", (at, inZone) => {
    expect(why(job("* * * * *", "Europe/Paris"), at).at_in_zone).toBe(inZone);
  });

  test.each([
    "2026-07-14T24:00",
    "2026-7-14",
    "2026-07-32",
    "2026-02-29",
    "2026-13-01",
    "0000-01-01",
    "10000-01-01",
    "1752483600",
    "2026-07-14T09:60",
    "2026-07-14T09:00:60",
    "2026-07-14T09:00 02:00",
    "2026-07-14T09:00+24:00",
    "2026-07-14T",
    "2026-07-14T09:00:00+02:00x",
    "2025-W53-1",
    "2026-W29-8",
  ])("may not be written %s", (at) => {
    expect(ask(job("* * * * *", "Europe/Paris"), at).kind).toBe("bad request");
  });

  test("may lie at the ends of what can be written, and not beyond", () => {
    const kinds = (tz: string) =>
      ["0001-01-01T00:00", "0001-01-01T00:00Z", "9999-12-31T23:59:59", "9999-12-31T23:59:59Z"].map(
        (at) => ask(job("0 3 L * fri", tz), at).kind,
      );
    expect(kinds("UTC")).toEqual(["answer", "answer", "answer", "answer"]);
    expect(kinds("America/New_York")).toEqual(["answer", "bad request", "answer", "answer"]);
    expect(kinds("Asia/Tokyo")).toEqual(["answer", "answer", "answer", "bad request"]);
    expect(why(job("0 0 1 1 *"), "9999-12-31T23:59:59")).toMatchObject({
      previous_fire: "2099-01-01T00:00:00+00:00",
      next_fire: null,
    });
  });
});

describe("around a change of the clocks", () => {
  const tz = "America/New_York";
  test("a skipped moment is shown as asked", () => {
    expect(why(job("30 2 * * *", tz), "2026-03-08T02:30")).toMatchObject({
      at_in_zone: "2026-03-08T02:30:00-05:00",
      matches: true,
      previous_fire: "2026-03-07T02:30:00-05:00",
      next_fire: "2026-03-09T02:30:00-04:00",
    });
  });

  test("a repeated moment is the first of the two, or the one that is meant", () => {
    expect(why(job("30 1 * * *", tz), "2026-11-01T01:30").at_in_zone).toBe("2026-11-01T01:30:00-04:00");
    expect(why(job("30 1 * * *", tz), "2026-11-01T01:30-05:00")).toMatchObject({
      at_in_zone: "2026-11-01T01:30:00-05:00",
      previous_fire: "2026-11-01T01:30:00-04:00",
      notes: [{ code: "dst-repeated-time", message: expect.stringContaining("on the first occurrence only") }],
    });
  });

  test("a schedule due in every hour is told to have fired both times, which it did", () => {
    expect(why(job("30 * * * *", tz), "2026-11-01T01:30").notes).toEqual([
      {
        code: "dst-repeated-time",
        level: "note",
        message:
          "the wall time 01:30:00 occurred twice on 2026-11-01 in America/New_York (clocks fall back); " +
          "the schedule is due in every hour of the day and fired on both occurrences",
      },
    ]);
    expect(nextFire(parseSchedule("30 * * * *"), zone(tz), Date.parse("2026-11-01T05:30Z"))).toBe(
      Date.parse("2026-11-01T06:30Z"),
    );
  });

  test("the local zone has the same notes under the host's zone name", () => {
    const local = localZone(tz);
    expect(local).not.toBeNull();
    if (local === null) return;
    expect(why(job("30 2 * * *", tz, { zone: local }), "2026-03-08T02:30")).toMatchObject({
      timezone: "local",
      notes: [{ code: "dst-skipped-time", message: expect.stringContaining("in America/New_York (clocks") }],
    });
  });
});

describe("the verdict", () => {
  test.each([
    [
      job("0 9 * * mon,fri"),
      "2026-07-13T09:00",
      "YES: the schedule of job 'report-gen' selects 2026-07-13T09:00:00+00:00; if no run is on record (cron_list_runs), look at execution, not the schedule: daemon downtime, concurrencyPolicy, or cluster leadership",
    ],
    [
      job("0 9 * * mon,fri", "UTC", { enabled: false }),
      "2026-07-13T09:00",
      "YES: the schedule of job 'report-gen' selects 2026-07-13T09:00:00+00:00, but the job is disabled, so it did not launch",
    ],
    [
      job("30 2 * * *", "America/New_York"),
      "2026-03-08T02:30",
      "YES: the schedule of job 'report-gen' selects 2026-03-08T02:30:00-05:00; BUT the wall time 02:30:00 did not exist on 2026-03-08 in America/New_York (clocks jump forward); the scheduler fired once at the shifted wall time 03:30:00 instead; if no run is on record (cron_list_runs), look at execution, not the schedule: daemon downtime, concurrencyPolicy, or cluster leadership",
    ],
    [
      job("0 9 * * mon,fri", "UTC", { enabled: false }),
      "2026-07-14T09:05",
      "NO: second, hour, day-of-month, month and year matched; minute 5 is not in 0; day-of-week Tuesday is not in Monday and Friday (the job is also disabled)",
    ],
    [
      job("@reboot"),
      "2026-07-14",
      "job 'report-gen' is @reboot: it runs once when the daemon starts and never fires on a timetable",
    ],
  ])("%#", (asked, at, text) => {
    expect(verdict(why(asked, at))).toBe(text);
  });
});
