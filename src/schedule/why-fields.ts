import { civilDate, secondsPerDay, weekdayOf } from "./civil.ts";
import type { Schedule } from "./expression.ts";
import type { FieldLabel } from "./fields.ts";
import { acceptsMonthDay, acceptsWeekday } from "./month-days.ts";
import {
  type MonthDays,
  nthWeekdayOf,
  takesAllMonthDays,
  takesAllMonths,
  takesAllWeekdays,
  type WeekDays,
} from "./parts.ts";
import { has, members, type ValueSet } from "./value-set.ts";
import { monthName, ordinal, sentenceList, weekdayName } from "./wording.ts";

/** One column held against a moment. */
export interface Check {
  readonly field: FieldLabel;
  /** What the moment has there; Sunday 0. */
  readonly value: number;
  readonly label: string;
  /** What the schedule wants, in words. */
  readonly allowed: string;
  readonly matched: boolean;
}

/** The seven rows of section 12 for a label, second to year. The schedule is due when all match. */
export function checkFields(schedule: Schedule, label: number): Check[] {
  const dayNumber = Math.floor(label / secondsPerDay);
  const secondOfDay = label - dayNumber * secondsPerDay;
  const { year, month, day } = civilDate(dayNumber);
  const weekday = weekdayOf(dayNumber);
  const { seconds, minutes, hours, monthDays, months, weekDays, years } = schedule;
  return [
    numberRow("second", secondOfDay % 60, seconds, 60),
    numberRow("minute", Math.floor(secondOfDay / 60) % 60, minutes, 60),
    numberRow("hour", Math.floor(secondOfDay / 3600), hours, 24),
    {
      field: "day-of-month",
      value: day,
      label: String(day),
      allowed: takesAllMonthDays(monthDays) ? "any" : sentenceList(monthDayWords(monthDays)),
      matched: acceptsMonthDay(monthDays, year, month, day),
    },
    {
      field: "month",
      value: month,
      label: monthName(month),
      allowed: takesAllMonths(months) ? "any" : sentenceList(runs(members(months), monthName)),
      matched: has(months, month),
    },
    {
      field: "day-of-week",
      value: weekday,
      label: weekdayName(weekday),
      allowed: takesAllWeekdays(weekDays) ? "any" : sentenceList(weekdayWords(weekDays)) || "nothing",
      matched: acceptsWeekday(weekDays, year, month, day),
    },
    {
      field: "year",
      value: year,
      label: String(year),
      allowed: years === null ? "any" : sentenceList(runs(years, String)),
      matched: years === null || years.includes(year),
    },
  ];
}

function numberRow(field: FieldLabel, value: number, set: ValueSet, size: number): Check {
  const values = members(set);
  const allowed = values.length === size ? "any" : sentenceList(runs(values, String));
  return { field, value, label: String(value), allowed, matched: has(set, value) };
}

function monthDayWords({ plain, beforeLast, nearestWeekdayTo, lastWeekday }: MonthDays): string[] {
  return [
    ...runs(members(plain), String),
    ...members(nearestWeekdayTo).map((day) => `the weekday nearest day ${day} (${day}W)`),
    ...members(beforeLast).map(lastDayWords),
    ...(lastWeekday ? ["the month's last weekday (LW)"] : []),
  ];
}

function lastDayWords(offset: number): string {
  if (offset === 0) return "the month's last day (L)";
  return `${offset} day${offset === 1 ? "" : "s"} before the month's last (L-${offset})`;
}

function weekdayWords({ plain, last, nth }: WeekDays): string[] {
  return [
    ...runs(members(plain), weekdayName),
    ...members(last).map((day) => `the month's last ${weekdayName(day)}`),
    ...members(nth)
      .map(nthWeekdayOf)
      .map((day) => `the month's ${ordinal(day.ordinal)} ${weekdayName(day.weekday)}`),
  ];
}

/** Values in increasing order as words; three or more in a row become `first-last`. */
function runs(values: readonly number[], word: (value: number) => string): string[] {
  const words: string[] = [];
  for (let start = 0, end = 0; start < values.length; start = end) {
    const first = values[start] ?? 0;
    end = start + 1;
    while (values[end] === first + end - start) end += 1;
    const run = values.slice(start, end);
    if (run.length >= 3) words.push(`${word(first)}-${word(run.at(-1) ?? first)}`);
    else words.push(...run.map(word));
  }
  return words;
}
