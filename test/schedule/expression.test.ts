import { describe, expect, test } from "vitest";
import { parseSchedule, type Schedule, sameSchedule } from "../../src/schedule/expression.ts";
import { ScheduleError } from "../../src/schedule/schedule-error.ts";
import { members } from "../../src/schedule/value-set.ts";
import { cases, golden } from "./cases.ts";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

function partsOf(schedule: Schedule) {
  const { monthDays, weekDays, years } = schedule;
  return {
    s: members(schedule.seconds),
    m: members(schedule.minutes),
    h: members(schedule.hours),
    dom: members(monthDays.plain),
    mon: members(schedule.months),
    dow: members(weekDays.plain),
    lastOff: members(monthDays.beforeLast),
    near: members(monthDays.nearestWeekdayTo),
    lw: monthDays.lastWeekday,
    lastDow: members(weekDays.last),
    nth: members(weekDays.nth).map((number) => [Math.floor(number / 5), (number % 5) + 1]),
    years: years === null || years.length < 20 ? (years ?? []) : [Math.min(...years), Math.max(...years), years.length],
  };
}

const unrestricted = {
  s: [0],
  m: range(0, 59),
  h: range(0, 23),
  dom: range(1, 31),
  mon: range(1, 12),
  dow: range(0, 6),
  lastOff: [],
  near: [],
  lw: false,
  lastDow: [],
  nth: [],
  years: [],
};

test.each(cases.parse)("$e (key $key) selects what it should", ({ e, key, norm, resolved, desc: _, ...parts }) => {
  const schedule = parseSchedule(e, key);
  expect(schedule.source).toBe(norm);
  expect(schedule.resolved).toBe(resolved ?? norm);
  expect(partsOf(schedule)).toEqual({ ...unrestricted, ...parts });
});

test("what H resolved to is plain dialect and means the same", () => {
  for (const { e, key } of cases.parse.filter((row) => row.resolved !== undefined)) {
    const hashed = parseSchedule(e, key);
    expect(sameSchedule(hashed, parseSchedule(hashed.resolved)), e).toBe(true);
  }
});

function refusal(expression: string, key?: string): string {
  try {
    return `accepted: ${parseSchedule(expression, key).source}`;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

test.each(cases.errors)("$e (key $key) is refused: $error", ({ e, key, error }) => {
  expect(refusal(e, key)).toBe(error);
});

describe("a refusal", () => {
  test.each([
    // F20: an oversized step is never silently an hourly job.
    ["*/60 * * * *", "minute step 60 too large (max 59)"],
    ["0/120 * * * *", "minute step 120 too large (max 59)"],
    ["*/90 * * * *", "minute step 90 too large (max 59)"],
    ["0 */24 * * *", "hour step 24 too large (max 23)"],
    // F21: only plain decimal digits are numbers.
    ["0.5 * * * *", "invalid minute field '0.5'"],
    ["1e1 * * * *", "invalid minute field '1e1'"],
    ["0x10 * * * *", "invalid minute field '0x10'"],
    ["+5 * * * *", "invalid minute field '+5'"],
    ["1_0 * * * *", "invalid minute field '1_0'"],
    ["5,,6 * * * *", "invalid minute field ''"],
    ["\u0663 * * * *", "invalid minute field '\u0663'"],
    ["\uff15 * * * *", "invalid minute field '\uff15'"],
    ["*/+5 * * * *", "invalid minute step '*/+5'"],
    ["*/1_0 * * * *", "invalid minute step '*/1_0'"],
    [
      "0 0 L-+3 * *",
      "an 'L-' day-of-month item takes a plain offset 1..30 counted back from the month's final day (got 'l-+3')",
    ],
    [
      "0 0 * * 5#+3",
      "a '#' day-of-week item is <weekday>#<n>, the month's n-th such weekday (5#3 = third Friday), got '5#+3'",
    ],
    // Ranges never wrap around.
    ["0 22-2 * * *", "hour range start 22 > end 2"],
    ["0 0 * nov-feb *", "month range start 11 > end 2"],
    // Quoting follows the text.
    ["it's * * * *", 'invalid minute field "it\'s"'],
    [`'" * * * *`, `invalid minute field '\\'"'`],
    ["a\\b * * * *", "invalid minute field 'a\\\\b'"],
    ["5\u0000 * * * *", "invalid minute field '5\\x00'"],
    ["\u200b5 * * * *", "invalid minute field '\\u200b5'"],
    ["\u{e0001} * * * *", "invalid minute field '\\U000e0001'"],
    // Numbers that no column can hold keep their digits.
    ["1-2000000000 * * * *", "minute value 2000000000 out of range [0, 59]"],
    [`${"9".repeat(400)} * * * *`, `minute value ${"9".repeat(400)} out of range [0, 59]`],
    [`*/${"9".repeat(400)} * * * *`, `minute step ${"9".repeat(400)} too large (max 59)`],
    [
      "0 0 L-0099 * *",
      "day-of-month 'L-' offset 99 out of range [1, 30] (L-1 is the day before the month's final day; for the final day itself write L)",
    ],
  ])("of %j says %j", (expression, message) => {
    expect(refusal(expression)).toBe(message);
  });

  test("names the first thing wrong: H items before all else, then field by field, item by item", () => {
    expect(refusal("61 H/99 32 * *", "k")).toBe(
      "hour step 99 exceeds the H range's span of 24 (the hashed offset could fall past the range's end)",
    );
    expect(refusal("0 0 32 13 8")).toBe("day-of-month value 32 out of range [1, 31]");
    expect(refusal("70,71 24 * * *")).toBe("minute value 70 out of range [0, 59]");
    expect(refusal("60 61 * * * * *")).toBe("second value 60 out of range [0, 59]");
    expect(refusal("0 0 * * * Hello", "k")).toContain("'H' is not supported in the year field");
    expect(refusal("Hello * * * *")).toContain("an 'H' item takes the forms");
  });

  test("comes for expressions of any size", () => {
    expect(refusal(`${"1,".repeat(50_000)}x * * * *`)).toBe("invalid minute field 'x'");
    expect(refusal("*".repeat(10_000))).toContain("got 1");
    expect(refusal("* ".repeat(100_000))).toContain("got 100000");
  });
});

describe("H", () => {
  const key = "report-gen";
  test.each([
    ["report-gen", "43 9 21 8 6", "13,28,43,58 * * * *", "13 3 13 * 4", "43 3,9,15,21 9,19 2,5,8,11 0,2,4,6"],
    ["backup-db", "43 22 12 11 6", "13,28,43,58 * * * *", "13 6 4 * 4", "43 4,10,16,22 8,18,28 2,5,8,11 1,3,5"],
    ["x", "16 13 22 8 5", "1,16,31,46 * * * *", "16 3 8 * 5", "16 1,7,13,19 4,14,24 2,5,8,11 1,3,5"],
    ["dag:etl", "46 23 18 11 0", "1,16,31,46 * * * *", "16 4 17 * 4", "46 5,11,17,23 8,18,28 2,5,8,11 1,3,5"],
    ["legacy.crontab:7", "8 9 16 10 5", "8,23,38,53 * * * *", "8 3 25 * 1", "8 3,9,15,21 4,14,24 1,4,7,10 0,2,4,6"],
    ["é-job", "49 12 21 10 3", "4,19,34,49 * * * *", "19 2 15 * 3", "49 0,6,12,18 7,17,27 1,4,7,10 0,2,4,6"],
    ["", "40 6 27 11 3", null, null, null],
  ])("gives job %j the slots it has everywhere", (job, ...expected) => {
    const expressions = ["H H H H H", "H/15 * * * *", "H(0-29) H(2-6) H(1-31) * H(1-5)", "H H/6 H/10 H/3 H/2"];
    expect(expressions.map((e, index) => (expected[index] === null ? null : parseSchedule(e, job).resolved))).toEqual(
      expected,
    );
  });

  test("reads every field's own hash", () => {
    expect(parseSchedule("H H H H H H *", key).resolved).toBe("9 43 9 21 8 6 *");
  });

  test("keeps the spelling around it", () => {
    const schedule = parseSchedule("h,30  H * JAN,dec  Mon", key);
    expect(schedule.source).toBe("h,30 H * JAN,dec Mon");
    expect(schedule.resolved).toBe("43,30 9 * JAN,dec Mon");
  });

  test("may take a step as large as its range, unlike a plain step", () => {
    expect(parseSchedule("H/60 * * * *", key).resolved).toBe("43 * * * *");
    expect(refusal("*/60 * * * *")).toBe("minute step 60 too large (max 59)");
  });
});

describe("two schedules", () => {
  test.each([...cases.equal, ...(golden?.equality ?? [])])("$a and $b are the same: $equal", ({ a, b, equal }) => {
    expect(sameSchedule(parseSchedule(a), parseSchedule(b))).toBe(equal);
    expect(sameSchedule(parseSchedule(b), parseSchedule(a))).toBe(equal);
  });
  test.each([
    ["*/5 * * * *", "0-59/5 * * * *", true],
    ["@hourly", "0 * * * *", true],
    ["@Hourly", " @hourly\n", true],
    ["0 0 * * fri#3", "0 0 * * 5#3", true],
    ["0 0 0 * * * *", "0 0 * * *", true],
    ["0 0 1 1 * *", "0 0 1 1 *", true],
    ["0 0 1 1 * 1970-2099", "0 0 1 1 *", false],
    ["0 0 *,L * *", "0 0 * * *", false],
    ["0 0 L * *", "0 0 L-1 * *", false],
    ["0 0 15W * *", "0 0 15 * *", false],
    ["0 0 * * L5", "0 0 * * 5", false],
    ["0 0 * * 5#1", "0 0 * * 5#2", false],
    ["0 0 1 1 * 2030", "0 0 1 1 * 2031", false],
  ])("%s and %s are the same: %s", (a, b, equal) => {
    expect(sameSchedule(parseSchedule(a), parseSchedule(b))).toBe(equal);
  });
});

test("only seven columns make a schedule second-level, whatever the seconds say", () => {
  expect(parseSchedule("0 0 3 * * * *").secondLevel).toBe(true);
  expect(parseSchedule("0 3 * * *").secondLevel).toBe(false);
  expect(parseSchedule("0 3 * * * 2030").secondLevel).toBe(false);
  expect(parseSchedule("@daily").columns).toBe(5);
});

test("columns spelled alike are held once", () => {
  const a = parseSchedule("5,10 2-4 1,L * mon#1");
  const b = parseSchedule("5,10 2-4 1,l * MON#1");
  expect(b.minutes).toBe(a.minutes);
  expect(b.monthDays).toBe(a.monthDays);
  expect(b.weekDays).toBe(a.weekDays);
});
