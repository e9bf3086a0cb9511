import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSchedule, type Schedule } from "../../src/schedule/expression.ts";
import { isFire, nextFire, previousFire } from "../../src/schedule/fires.ts";
import { matches } from "../../src/schedule/labels.ts";
import { zoneNames } from "../../src/schedule/zone-names.ts";
import { cases } from "./cases.ts";
import { iso, label, zone } from "./moments.ts";

/**
 * The search of fires against a scan of every minute. The scan reads offsets from the platform by another way than the
 * code does, and knows nothing of stretches: it writes down which labels were shown when, and applies section 6.1 to each.
 */
const day = 86_400;
const reach = 2 * day;

/** Every minute of an interval with the label it had, and the schedule's fires among them by the letter of the rules. */
function scan(schedule: Schedule, zoneName: string, from: number, to: number): number[] {
  const offsetOf = platformOffsets(zoneName);
  const shown = new Map<number, number[]>();
  for (let instant = from - day; instant <= to + day; instant += 60) {
    const at = instant + offsetOf(instant);
    shown.set(at, [...(shown.get(at) ?? []), instant]);
  }
  const everyHour = /^(\*|\*\/1|0-23)$/.test(schedule.source.split(" ")[1] ?? "");
  const found = new Set<number>();
  for (let at = from - day; at <= to + day; at += 60) {
    if (!matches(schedule, at)) continue;
    const instants = shown.get(at);
    if (instants === undefined) found.add(at - offsetOf(at - 26 * 3600));
    else for (const instant of everyHour ? instants : instants.slice(0, 1)) found.add(instant);
  }
  return [...found].filter((instant) => instant > from && instant <= to).sort((a, b) => a - b);
}

function platformOffsets(zoneName: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone: zoneName, timeZoneName: "longOffset" });
  const read = (instant: number) => {
    const text = format.formatToParts(instant * 1000).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0"] = /GMT(?:([+-])(\d+):(\d+))?/.exec(text) ?? [];
    return (sign === "-" ? -60 : 60) * (Number(hours) * 60 + Number(minutes));
  };
  const hours = new Map<number, number>();
  const atHour = (hour: number) => {
    const offset = hours.get(hour) ?? read(hour * 3600);
    hours.set(hour, offset);
    return offset;
  };
  return (instant) => {
    const hour = Math.floor(instant / 3600);
    return atHour(hour) === atHour(hour + 1) ? atHour(hour) : read(instant);
  };
}

const number = (from: number, to: number) => fc.integer({ min: from, max: to }).map(String);
const list = (from: number, to: number) =>
  fc.uniqueArray(number(from, to), { minLength: 1, maxLength: 4 }).map((values) => values.join(","));
const expression = fc
  .tuple(
    fc.oneof(list(0, 59), fc.constantFrom("*", "*/5", "*/7", "*/20", "0,30", "10-50/9")),
    fc.oneof(list(0, 23), list(0, 4), fc.constantFrom("*", "*/1", "0-23", "0-22", "*/2", "1-3")),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant("*") },
      list(1, 31),
      fc.constantFrom("L", "L-2", "15W", "LW", "1W,31W"),
    ),
    fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, list(1, 12)),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant("*") },
      list(0, 7),
      fc.constantFrom("L0", "0#1", "0#2", "5#5,6", "L5-6"),
    ),
  )
  .map((columns) => columns.join(" "));

/** Days on which the clocks of a zone did something unusual, and any day of any zone. */
const changes: readonly (readonly [string, string])[] = [
  ["Europe/London", "2024-03-31T01:00"],
  ["Europe/London", "2024-10-27T01:00"],
  ["America/New_York", "2026-03-08T07:00"],
  ["America/New_York", "2026-11-01T06:00"],
  ["Australia/Lord_Howe", "2024-10-05T15:30"],
  ["Australia/Lord_Howe", "2024-04-06T15:00"],
  ["Africa/Casablanca", "2022-03-27T02:00"],
  ["Africa/Casablanca", "2022-05-08T02:00"],
  ["America/Sao_Paulo", "2018-11-04T03:00"],
  ["America/Sao_Paulo", "2019-02-17T02:00"],
  ["Asia/Kathmandu", "1985-12-31T18:30"],
  ["Pacific/Apia", "2011-12-30T10:00"],
  ["Pacific/Kwajalein", "1993-08-21T12:00"],
  ["Antarctica/Troll", "2024-03-31T01:00"],
  ["Antarctica/Troll", "2024-10-27T01:00"],
  ["America/St_Johns", "2010-11-07T02:31"],
  ["Asia/Pyongyang", "2018-05-04T15:00"],
  ["America/Caracas", "2007-12-09T07:00"],
];
const moment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -30 * 60, max: 30 * 60 }))
      .map(([[name, at], minutes]) => ({ name, at: label(at) + minutes * 60 })),
  },
  fc.record({
    name: fc.constantFrom(...zoneNames),
    at: fc
      .integer({ min: label("1975-01-01T00:00") / 60, max: label("2060-01-01T00:00") / 60 })
      .map((minutes) => minutes * 60),
  }),
);

test("the changes include every zone of the data", () => {
  const covered = new Set(changes.map(([name]) => name));
  const zones = new Set(cases.fires.filter((row) => row.g === "dst").map(({ tz }) => tz));
  expect([...zones].filter((tz) => !covered.has(tz))).toEqual([]);
});

test("no fire is lost, added or out of order", () => {
  fc.assert(
    fc.property(expression, moment, (text, { name, at }) => {
      const schedule = parseSchedule(text);
      const found: number[] = [];
      for (
        let fire = nextFire(schedule, zone(name), at * 1000);
        fire !== null;
        fire = nextFire(schedule, zone(name), fire)
      ) {
        if (fire > (at + reach) * 1000) break;
        found.push(fire);
      }
      expect(found.map(iso)).toEqual(scan(schedule, name, at, at + reach).map((instant) => iso(instant * 1000)));
      const backward: number[] = [];
      const end = (at + reach) * 1000 + 1;
      for (
        let fire = previousFire(schedule, zone(name), end);
        fire !== null;
        fire = previousFire(schedule, zone(name), fire)
      ) {
        if (fire <= at * 1000) break;
        backward.unshift(fire);
      }
      expect(backward.map(iso)).toEqual(found.map(iso));
      const members: number[] = [];
      for (let instant = (at + 60) * 1000; instant <= (at + reach) * 1000; instant += 60_000)
        if (isFire(schedule, zone(name), instant)) members.push(instant);
      expect(members.map(iso)).toEqual(found.map(iso));
    }),
    { numRuns: 150 },
  );
});

test("next and previous are each other's inverse, to the second and far away", () => {
  const seconds = fc.oneof(list(0, 59), fc.constantFrom("*", "*/15", "0"));
  fc.assert(
    fc.property(
      seconds,
      expression,
      moment,
      fc.double({ min: 0, max: 999, noNaN: true }),
      (s, text, { name, at }, ms) => {
        const schedule = parseSchedule(`${s} ${text} *`);
        const tz = zone(name);
        const from = at * 1000 + ms;
        const next = nextFire(schedule, tz, from);
        const previous = previousFire(schedule, tz, from);
        if (next !== null) {
          expect(next).toBeGreaterThan(from);
          expect(isFire(schedule, tz, next)).toBe(true);
          expect(previousFire(schedule, tz, next + 1000)).toBe(next);
          expect(previousFire(schedule, tz, next)).toBe(isFire(schedule, tz, from) ? from : previous);
        }
        if (previous !== null) {
          expect(previous).toBeLessThan(from);
          expect(nextFire(schedule, tz, previous - 0.5)).toBe(previous);
          expect(nextFire(schedule, tz, previous)).toBe(isFire(schedule, tz, from) ? from : next);
        }
      },
    ),
    { numRuns: 1000 },
  );
});
