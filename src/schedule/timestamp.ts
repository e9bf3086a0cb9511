import { civilDate, dayNumber, monthLength, secondsPerDay, weekdayOf } from "./civil.ts";

/** A moment as a person writes it. */
export interface Timestamp {
  /** Date and time of day as written, in whole seconds. */
  readonly label: number;
  readonly milliseconds: number;
  /** Seconds east of UTC, or null where none was written. */
  readonly offset: number | null;
}

/** The forms of ISO 8601 that are taken, each with the names of its parts. */
const dates = [
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/,
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)/,
  /^(?<year>\d{4})-?W(?<week>\d\d)(?:-?(?<weekday>\d))?/,
];
const times = [
  /^[Tt ](?<hour>\d\d)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?=$|[Zz+-])/,
  /^[Tt ](?<hour>\d\d)(?<minute>\d\d)(?:(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?(?=$|[Zz+-])/,
];
const offsets = [/^[Zz]$/, /^(?<sign>[+-])(?<hour>\d\d)(?::?(?<minute>\d\d)(?::?(?<second>\d\d))?)?$/];

/** Reads a date alone, which is its midnight, or date and time, with or without an offset. Null for anything else. */
export function readTimestamp(text: string): Timestamp | null {
  const date = firstMatch(dates, text);
  if (date === null) return null;
  const day = dayOf(date.parts);
  if (day === null) return null;
  if (date.rest === "") return { label: day * secondsPerDay, milliseconds: 0, offset: null };
  const time = firstMatch(times, date.rest);
  const second = time === null ? null : secondOfDay(time.parts);
  if (time === null || second === null) return null;
  const offset = time.rest === "" ? null : firstMatch(offsets, time.rest);
  const offsetSeconds = offset === null ? null : secondOfDay(offset.parts);
  if (time.rest !== "" && offsetSeconds === null) return null;
  return {
    label: day * secondsPerDay + second,
    milliseconds: Math.floor(Number(`0.${time.parts.fraction ?? "0"}`) * 1000),
    offset: offsetSeconds === null ? null : offset?.parts.sign === "-" ? -offsetSeconds : offsetSeconds,
  };
}

type Parts = Readonly<Record<string, string | undefined>>;

function firstMatch(shapes: readonly RegExp[], text: string): { parts: Parts; rest: string } | null {
  for (const shape of shapes) {
    const match = shape.exec(text);
    if (match !== null) return { parts: match.groups ?? {}, rest: text.slice(match[0].length) };
  }
  return null;
}

function secondOfDay({ hour = "0", minute = "0", second = "0" }: Parts): number | null {
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  return h > 23 || m > 59 || s > 59 ? null : h * 3600 + m * 60 + s;
}

function dayOf({ year = "", month, day, week, weekday = "1" }: Parts): number | null {
  const y = Number(year);
  if (y < 1) return null;
  if (week !== undefined) return dayOfWeekDate(y, Number(week), Number(weekday));
  const [m, d] = [Number(month), Number(day)];
  return m < 1 || m > 12 || d < 1 || d > monthLength(y, m) ? null : dayNumber(y, m, d);
}

/** ISO week dates: weeks begin on Monday, and week 1 holds the year's first Thursday. */
function dayOfWeekDate(year: number, week: number, weekday: number): number | null {
  if (week < 1 || weekday < 1 || weekday > 7) return null;
  const fourth = dayNumber(year, 1, 4);
  const monday = fourth - ((weekdayOf(fourth) + 6) % 7) + (week - 1) * 7;
  return civilDate(monday + 3).year === year ? monday + weekday - 1 : null;
}
