import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { isFire, nextFire, previousFire } from "../../src/schedule/fires.ts";
import { matches } from "../../src/schedule/labels.ts";
import { resolve } from "../../src/schedule/zone.ts";
import { cases, golden, overrides } from "./cases.ts";
import { iso, label, upcoming, zone } from "./moments.ts";

/** The rows of the data file, with those that our one exception changes in place of the ones they replace. */
function withOverrides<Row extends { e: string; key?: string | undefined; tz: string }>(
  rows: readonly Row[],
  changed: readonly Row[],
  moment: (row: Row) => string,
): Row[] {
  const identity = (row: Row) => JSON.stringify([row.e, row.key ?? null, row.tz, moment(row)]);
  const replacing = new Map(changed.map((row) => [identity(row), row]));
  const merged = rows.map((row) => replacing.get(identity(row)) ?? row);
  expect(merged.filter((row) => changed.includes(row)).length, "rows replaced").toBeGreaterThanOrEqual(changed.length);
  return merged;
}

const fireRows = withOverrides([...cases.fires, ...cases.divergent], overrides.fires, ({ from }) => from);
const zones = [...new Set(fireRows.map(({ tz }) => tz))];

describe.each(zones)("in %s", (tz) => {
  const rows = fireRows.filter((row) => row.tz === tz);

  test("the fires after an instant are those of the data", () => {
    for (const { e, key, from, fires: expected, end } of rows)
      expect(upcoming(expected.length + (end ? 1 : 0), e, tz, from, key), `${e} from ${from}`).toEqual(expected);
  });

  test("every fire is the next after the one before, the last before the one after, and a member", () => {
    for (const { e, key, from, fires: expected } of rows) {
      const schedule = parseSchedule(e, key);
      for (const [index, fire] of expected.entries()) {
        const at = Date.parse(fire);
        const before = expected[index - 1];
        const told = `${e} from ${from}: ${fire}`;
        expect(nextFire(schedule, zone(tz), Date.parse(before ?? from)), told).toBe(at);
        expect(isFire(schedule, zone(tz), at), told).toBe(true);
        if (before !== undefined) expect(previousFire(schedule, zone(tz), at), told).toBe(Date.parse(before));
      }
    }
  });
});

test("the last fire before an instant is that of the data", () => {
  for (const { e, key, tz, at, prev } of withOverrides(cases.prev, overrides.prev, (row) => row.at)) {
    const fire = previousFire(parseSchedule(e, key), zone(tz), Date.parse(at));
    expect(fire === null ? null : iso(fire), `${e} in ${tz} before ${at}`).toBe(prev);
  }
});

const noVectors: NonNullable<typeof golden> = {
  naive_next_nows: [],
  aware_next_nows: [],
  test_dts: [],
  exprs: {},
  equality: [],
};

describe.skipIf(golden === null)("the golden vectors (skipped where they do not lie beside the repository)", () => {
  const { exprs, naive_next_nows, aware_next_nows, test_dts } = golden ?? noVectors;
  const accepted = Object.entries(exprs).flatMap(([e, vector]) => (vector.ok ? [{ e, ...vector }] : []));
  const refused = Object.entries(exprs).flatMap(([e, vector]) => (vector.ok ? [] : [e]));

  test("are all there", () => {
    expect([accepted.length, refused.length]).toEqual([156, 81]);
  });

  test.each(refused)("%j is refused", (e) => {
    expect(() => parseSchedule(e)).toThrow();
  });

  test.each(accepted)("$e matches the labels it should", ({ e, test: verdicts }) => {
    const schedule = parseSchedule(e);
    expect(test_dts.map((dt) => matches(schedule, Math.floor(label(dt))))).toEqual(verdicts);
  });

  test.each(accepted)("$e fires when it should", ({ e, next, aware_next }) => {
    const schedule = parseSchedule(e);
    const delay = (zoneName: string, now: number) => {
      const fire = nextFire(schedule, zone(zoneName), now * 1000);
      return fire === null ? null : fire / 1000 - now;
    };
    for (const [index, now] of naive_next_nows.entries())
      expectDelay(delay("UTC", microseconds(now)), next[index] ?? null, `${e} from ${now}`);
    for (const [index, now] of aware_next_nows.entries()) {
      const changed = overrides.golden.find((row) => row.e === e && row.now === index);
      const expected = changed === undefined ? (aware_next[index] ?? null) : changed.delta;
      const shown = resolve(zone(now.tz), label(now.dt));
      const instant = now.fold === 1 && shown.kind === "twice" ? shown.second : shown.instant;
      expectDelay(delay(now.tz, instant), expected, `${e} from ${now.dt} ${now.tz} fold ${now.fold}`);
    }
  });
});

/** Seconds since 1970 of a label in UTC, to the microsecond, which a Date cannot hold. */
function microseconds(text: string): number {
  const [whole = "", fraction = "0"] = text.split(".");
  return label(whole) + Number(`0.${fraction}`);
}

function expectDelay(actual: number | null, expected: number | null, told: string): void {
  if (actual === null || expected === null) expect(actual, told).toBe(expected);
  else expect(Math.abs(actual - expected), `${told}: ${actual} for ${expected}`).toBeLessThan(1e-6);
}

describe("around a change of the clocks", () => {
  test.each([
    // schedule, zone, from, fires (6.2)
    ["*/30 * * * *", "America/New_York", "2026-03-08T05:50Z", "06:00 06:30 07:00 07:30"],
    ["0,30 2 * * *", "America/New_York", "2026-03-08T05:50Z", "07:00 07:30 2026-03-09T06:00 06:30"],
    ["30 2 * * *", "America/New_York", "2026-03-08T05:50Z", "07:30 2026-03-09T06:30"],
    ["30 2,3 * * *", "America/New_York", "2026-03-08T05:50Z", "07:30 2026-03-09T06:30 07:30"],
    ["30 1 * * *", "America/New_York", "2026-11-01T04:10Z", "05:30 2026-11-02T06:30"],
    ["30 1,2 * * *", "Europe/London", "2024-10-26T23:50Z", "2024-10-27T00:30 02:30"],
    ["10 2 * * *", "Australia/Lord_Howe", "2024-10-05T12:00Z", "15:40 2024-10-06T15:10"],
    ["*/20 * * * *", "Australia/Lord_Howe", "2024-10-05T15:10Z", "15:30 15:40 15:50 16:00"],
    ["10,35 2 * * *", "Australia/Lord_Howe", "2024-10-05T15:00Z", "15:35 15:40 2024-10-06T15:10"],
    ["30 2,3 * * *", "Antarctica/Troll", "2024-03-30T23:50Z", "2024-03-31T01:30 02:30"],
    ["0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-04T03:00 2018-11-05T02:00"],
    ["30 23 * * *", "America/Sao_Paulo", "2019-02-16T12:00Z", "2019-02-17T01:30 2019-02-18T02:30"],
    ["0 0 * * *", "America/Sao_Paulo", "2019-02-16T12:00Z", "2019-02-17T03:00 2019-02-18T03:00"],
    ["30 2 * * *", "Africa/Casablanca", "2022-03-26T12:00Z", "2022-03-27T01:30 2022-03-28T02:30"],
    ["0 12 * * 5", "Pacific/Apia", "2011-12-29T12:00Z", "2011-12-30T22:00 2012-01-05T22:00"],
    ["0 12 * * 5,6", "Pacific/Apia", "2011-12-29T12:00Z", "2011-12-30T22:00 2012-01-05T22:00"],
    ["10 0 * * *", "Asia/Kathmandu", "1985-12-31T12:00Z", "18:40 1986-01-01T18:25"],
    // The rhythm goes on through the repeated hour when every hour is due.
    ["*/30 * * * *", "America/New_York", "2026-11-01T04:10Z", "04:30 05:00 05:30 06:00 06:30 07:00"],
    ["*/30 * * * *", "Antarctica/Troll", "2024-10-26T23:50Z", "2024-10-27T00:00 00:30 01:00 01:30 02:00 02:30 03:00"],
    ["0 0-23 * * *", "America/New_York", "2026-11-01T04:10Z", "05:00 06:00 07:00"],
    ["0 0-22 * * *", "America/New_York", "2026-11-01T04:10Z", "05:00 07:00"],
    // F09, F10: once in the skipped hour, and once where it meets the hour after.
    ["30 2 * * *", "America/New_York", "2026-03-07T12:00Z", "2026-03-08T07:30 2026-03-09T06:30"],
    ["0 2,3 * * *", "America/New_York", "2026-03-08T00:00Z", "07:00 2026-03-09T06:00 07:00"],
    // F13: a weekly job on the day of the change.
    ["0 12 * * 0", "Europe/Berlin", "2022-03-24T12:00Z", "2022-03-27T10:00"],
    ["0 8 * * 0", "America/Chicago", "2026-03-08T05:45Z", "13:00"],
    // F14: what the loop, the preview and the calendar all ask.
    ["30 2 * * *", "America/New_York", "2026-03-08T06:30Z", "07:30 2026-03-09T06:30 2026-03-10T06:30"],
    ["0,30 2 * * *", "America/New_York", "2026-03-08T06:30Z", "07:00 07:30 2026-03-09T06:00"],
    // F15: half an hour of daylight saving.
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "15:45 2026-10-04T15:15"],
    ["45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00Z", "14:45 2026-04-05T15:15"],
    // F19: short months, and the leap day that 2100 lacks.
    ["0 0 31 2,3,4,5 *", "UTC", "2027-02-01T00:00Z", "2027-03-31T00:00 2027-05-31T00:00 2028-03-31T00:00"],
    // F22: both day fields always.
    ["0 0 13 * 5", "UTC", "2026-01-14T00:00Z", "2026-02-13T00:00 2026-03-13T00:00 2026-11-13T00:00"],
    ["0 0 1-31 * 1", "UTC", "2026-01-14T00:00Z", "2026-01-19T00:00 2026-01-26T00:00 2026-02-02T00:00"],
    ["0 0 */2 * 1", "UTC", "2026-01-14T00:00Z", "2026-01-19T00:00 2026-02-09T00:00 2026-02-23T00:00"],
    ["0 0 1,15 * *", "UTC", "2026-01-14T00:00Z", "2026-01-15T00:00 2026-02-01T00:00 2026-02-15T00:00"],
  ])("%s in %s from %s fires at %s", (e, tz, from, expected) => {
    let date = from.slice(0, 10);
    const instants = expected.split(" ").map((text) => {
      if (text.includes("T")) date = text.slice(0, 10);
      return `${date}T${text.slice(-5)}:00Z`;
    });
    expect(upcoming(instants.length, e, tz, from)).toEqual(instants);
  });

  test("a minute and an hour rhythm miss nothing and repeat nothing in the repeated hour (F11)", () => {
    const between = (e: string) =>
      upcoming(500, e, "America/New_York", "2026-11-01T03:59:59Z").filter((fire) => fire < "2026-11-01T08:00:00Z");
    expect(between("* * * * *")).toHaveLength(240);
    expect(between("0 * * * *")).toEqual(["04", "05", "06", "07"].map((hour) => `2026-11-01T${hour}:00:00Z`));
  });

  test("a daemon started inside the repeated hour finds only future fires (F12)", () => {
    const from = "2026-11-01T06:20:00Z";
    expect(upcoming(1, "*/15 1 * * *", "America/New_York", from)).toEqual(["2026-11-02T06:00:00Z"]);
    expect(upcoming(1, "* * * * *", "America/New_York", from)).toEqual(["2026-11-01T06:21:00Z"]);
    expect(upcoming(1, "30 1 * * *", "America/New_York", from)).toEqual(["2026-11-02T06:30:00Z"]);
  });

  test("a date pinned to the skipped hour fires once and is then dead (F16)", () => {
    const [e, tz] = ["30 2 8 3 * 2026", "America/New_York"];
    expect(upcoming(2, e, tz, "2026-01-01T00:00:00Z")).toEqual(["2026-03-08T07:30:00Z"]);
    expect(nextFire(parseSchedule(e), zone(tz), Date.parse("2026-03-08T07:30:00Z"))).toBeNull();
  });
});

describe("the ends of time", () => {
  const utc = zone("UTC");
  test("nothing fires after civil year 2099, in the zone's own clock", () => {
    const lastMinute = parseSchedule("59 23 31 12 * 2099");
    expect(nextFire(lastMinute, zone("America/New_York"), Date.parse("2099-01-01T00:00Z"))).toBe(
      Date.parse("2100-01-01T04:59:00Z"),
    );
    expect(nextFire(parseSchedule("* * * * *"), utc, Date.parse("2099-12-31T23:59:00Z"))).toBeNull();
    expect(upcoming(2, "0 0 29 2 *", "UTC", "2096-03-01T00:00Z")).toEqual([]);
    for (const far of ["2100-06-01T00:00Z", "9999-12-31T23:59:59Z"]) {
      for (const tz of [utc, zone("Europe/London")]) {
        expect(nextFire(parseSchedule("* * * * *"), tz, Date.parse(far))).toBeNull();
        expect(isFire(parseSchedule("* * * * *"), tz, Date.parse("2100-06-01T00:00Z"))).toBe(false);
      }
    }
  });

  test("past fires are looked for from the end of 2099 back to the start of 1970, in the zone's own clock", () => {
    const everyMinute = parseSchedule("* * * * *");
    expect(previousFire(everyMinute, utc, Date.parse("9999-12-31T23:59:59Z"))).toBe(Date.parse("2099-12-31T23:59Z"));
    expect(previousFire(everyMinute, zone("Asia/Tokyo"), Date.parse("9999-01-01T00:00Z"))).toBe(
      Date.parse("2099-12-31T14:59Z"),
    );
    expect(previousFire(everyMinute, utc, Date.parse("1970-01-01T00:00Z"))).toBeNull();
    expect(previousFire(everyMinute, zone("Asia/Tokyo"), Date.parse("1970-01-01T00:00Z"))).toBe(
      Date.parse("1969-12-31T23:59Z"),
    );
    for (const tz of [utc, zone("Europe/London")])
      expect(previousFire(everyMinute, tz, Date.parse("0001-01-01T00:00Z"))).toBeNull();
  });

  test("before 1970 the next fire is found all the same", () => {
    expect(nextFire(parseSchedule("0 0 1 1 *"), utc, Date.parse("1900-06-01T00:00Z"))).toBe(
      Date.parse("1901-01-01T00:00Z"),
    );
    expect(nextFire(parseSchedule("0 0 1 1 * 2000"), utc, -62_135_596_800_000)).toBe(Date.parse("2000-01-01T00:00Z"));
  });

  test.each(["0 0 30 2 *", "0 0 31W 4 *", "0 0 * * L3-1", "0 0 L-30 2 *", "0 0 1 1 * 2020", "0 0 13 * L5"])(
    "%s is dead, in every direction of a zone",
    (e) => {
      for (const tz of [utc, zone("America/New_York")])
        expect(nextFire(parseSchedule(e), tz, Date.parse("2026-01-01T00:00Z"))).toBeNull();
    },
  );
});

test("fractions of a second count: a fire lies strictly after or before", () => {
  const schedule = parseSchedule("* * * * * * *");
  const utc = zone("UTC");
  expect(nextFire(schedule, utc, 999.999)).toBe(1000);
  expect(nextFire(schedule, utc, 1000)).toBe(2000);
  expect(nextFire(schedule, utc, 1000.001)).toBe(2000);
  expect(previousFire(schedule, utc, 2000.001)).toBe(2000);
  expect(previousFire(schedule, utc, 2000)).toBe(1000);
  expect(isFire(schedule, utc, 2000)).toBe(true);
  expect(isFire(schedule, utc, 2000.5)).toBe(false);
});
