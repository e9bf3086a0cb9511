import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { lint } from "../../src/schedule/lint.ts";
import { localZone, utcZone } from "../../src/schedule/zone.ts";
import { cases } from "./cases.ts";
import { zone } from "./moments.ts";

const findings = (e: string, tz: string, now: string, key?: string) =>
  lint(parseSchedule(e, key), zone(tz), Date.parse(now)).map(({ code, level, message }) => [code, level, message]);

/** The data's one expression that does not parse, so that there is nothing to lint. */
const refused = "0 0 * * 3-1";

describe.each([...new Set(cases.lint.map(({ tz }) => tz))])("in %s", (tz) => {
  test("the findings are those of the data", () => {
    for (const { e, key, now, findings: expected } of cases.lint.filter((row) => row.tz === tz && row.e !== refused))
      expect(findings(e, tz ?? "UTC", now, key), e).toEqual(expected);
  });
});

test("nothing is said of clock changes where the user named no zone", () => {
  const schedule = parseSchedule("30 2 * * *");
  const now = Date.parse("2026-01-01T00:00Z");
  const local = localZone("America/New_York");
  expect(local && lint(schedule, local, now)).toEqual([]);
  expect(lint(schedule, utcZone, now)).toEqual([]);
  expect(lint(schedule, zone("America/New_York"), now)).toHaveLength(1);
});

test("an unusual change is told like any other, and a later day looks at its own year", () => {
  expect(findings("10 2 * * *", "Australia/Lord_Howe", "2024-07-01T00:00Z")).toEqual([
    [
      "dst-skipped-time",
      "note",
      "on 2024-10-06 the wall time 02:10 does not exist in Australia/Lord_Howe (clocks jump forward); that run fires at the shifted wall time instead of being skipped",
    ],
  ]);
  expect(findings("0 12 * * *", "Pacific/Apia", "2011-12-01T00:00Z")).toEqual([
    [
      "dst-skipped-time",
      "note",
      "on 2011-12-30 the wall time 12:00 does not exist in Pacific/Apia (clocks jump forward); that run fires at the shifted wall time instead of being skipped",
    ],
  ]);
  expect(findings("0 12 * * *", "Pacific/Apia", "2011-12-31T00:00Z")).toEqual([]);
});

test("a schedule due in every hour has nothing shifted and nothing left out", () => {
  for (const e of ["30 * * * *", "30 */1 * * *", "30 0-23 * * *"])
    expect(findings(e, "America/New_York", "2026-01-01T00:00Z")).toEqual([]);
});

test("both restricted day fields are warned of (F22)", () => {
  const codes = (e: string) => findings(e, "UTC", "2026-01-01T00:00Z").map(([code]) => code);
  expect(codes("0 0 13 * 5")).toEqual(["day-fields-both-restricted"]);
  expect(codes("0 0 */2 * 1")).toEqual(["day-fields-both-restricted", "uneven-step"]);
  expect(codes("0 0 1,15 * *")).toEqual([]);
});

test("a pinned date in a gap is no dead schedule before its day, and is one after (F16)", () => {
  const [e, tz] = ["30 2 8 3 * 2026", "America/New_York"];
  expect(findings(e, tz, "2026-01-01T00:00Z").map(([code]) => code)).toEqual(["dst-skipped-time"]);
  expect(findings(e, tz, "2026-03-08T07:30Z")).toEqual([
    [
      "never-fires",
      "warning",
      "no future occurrence: the year column ends at 2026, so this schedule will never fire again",
    ],
  ]);
});

test("the smallest of several steps is judged item by item", () => {
  expect(findings("*/7,H/7 * * * *", "UTC", "2026-01-01T00:00Z", "k").map(([code]) => code)).toEqual([
    "hashed-slot",
    "uneven-step",
    "uneven-step",
  ]);
});
