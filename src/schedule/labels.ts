import { civilDate, dayNumber, secondsPerDay } from "./civil.ts";
import type { Schedule } from "./expression.ts";
import { acceptedDays } from "./month-days.ts";
import { takesAllMonthDays, takesAllMonths, takesAllWeekdays } from "./parts.ts";
import { atOrAfter, atOrBefore, has } from "./value-set.ts";

/** The civil years that the search ends with: forward, and backward for past fires (section 20). */
const lastYear = 2099;
const firstYear = 1970;
const lastDay = dayNumber(lastYear, 12, 31);

/** First label after all that a schedule can be due at. */
export const horizonLabel = (lastDay + 1) * secondsPerDay;

/** Whether a schedule is due at a label (section 4), whose year may be any. */
export function matches(schedule: Schedule, label: number): boolean {
  const day = Math.floor(label / secondsPerDay);
  const second = label - day * secondsPerDay;
  return timeFrom(schedule, second) === second && acceptsDay(schedule, day);
}

/** Smallest label not below `from` at which the schedule is due, up to the end of 2099; Infinity when there is none. */
export function firstLabelFrom(schedule: Schedule, from: number): number {
  if (from >= horizonLabel) return Number.POSITIVE_INFINITY;
  const day = Math.floor(from / secondsPerDay);
  if (acceptsDay(schedule, day)) {
    const second = timeFrom(schedule, from - day * secondsPerDay);
    if (second >= 0) return day * secondsPerDay + second;
  }
  const later = nextDay(schedule, day + 1);
  return later === null ? Number.POSITIVE_INFINITY : later * secondsPerDay + timeFrom(schedule, 0);
}

/** Largest label not above `upTo` at which the schedule is due, back to 1970; -Infinity when there is none. */
export function lastLabelUpTo(schedule: Schedule, upTo: number): number {
  const latest = Math.min(upTo, horizonLabel - 1);
  const day = Math.floor(latest / secondsPerDay);
  if (day < 0) return Number.NEGATIVE_INFINITY;
  if (acceptsDay(schedule, day)) {
    const second = timeUpTo(schedule, latest - day * secondsPerDay);
    if (second >= 0) return day * secondsPerDay + second;
  }
  const earlier = previousDay(schedule, day - 1);
  return earlier === null ? Number.NEGATIVE_INFINITY : earlier * secondsPerDay + timeUpTo(schedule, secondsPerDay - 1);
}

function isEveryDay(schedule: Schedule): boolean {
  return schedule.years === null && takesAllMonths(schedule.months) && takesAllDays(schedule);
}

function takesAllDays({ monthDays, weekDays }: Schedule): boolean {
  return takesAllMonthDays(monthDays) && takesAllWeekdays(weekDays);
}

function acceptsDay(schedule: Schedule, dayNumber: number): boolean {
  if (isEveryDay(schedule)) return true;
  const { year, month, day } = civilDate(dayNumber);
  return (
    acceptsYear(schedule, year) &&
    has(schedule.months, month) &&
    (takesAllDays(schedule) || (daysIn(schedule, year, month) & (1 << day)) !== 0)
  );
}

function acceptsYear({ years }: Schedule, year: number): boolean {
  return years === null || years.includes(year);
}

function daysIn(schedule: Schedule, year: number, month: number): number {
  return acceptedDays(schedule.monthDays, schedule.weekDays, year, month);
}

/** First accepted day not before `from`, by years, then months, then days. */
function nextDay(schedule: Schedule, from: number): number | null {
  if (from > lastDay) return null;
  if (isEveryDay(schedule)) return from;
  const start = civilDate(from);
  for (let year = start.year; year <= lastYear; year++) {
    if (!acceptsYear(schedule, year)) continue;
    const firstMonth = year === start.year ? start.month : 1;
    for (let month = nextMonth(schedule, firstMonth); month > 0; month = nextMonth(schedule, month + 1)) {
      const firstDay = year === start.year && month === start.month ? start.day : 1;
      const days = daysIn(schedule, year, month) & (-1 << firstDay);
      if (days !== 0) return dayNumber(year, month, 31 - Math.clz32(days & -days));
    }
  }
  return null;
}

/** Last accepted day not after `upTo`, back to 1970-01-01. */
function previousDay(schedule: Schedule, upTo: number): number | null {
  if (upTo < 0) return null;
  if (isEveryDay(schedule)) return upTo;
  const start = civilDate(upTo);
  for (let year = start.year; year >= firstYear; year--) {
    if (!acceptsYear(schedule, year)) continue;
    const finalMonth = year === start.year ? start.month : 12;
    for (let month = previousMonth(schedule, finalMonth); month > 0; month = previousMonth(schedule, month - 1)) {
      const finalDay = year === start.year && month === start.month ? start.day : 31;
      const days = daysIn(schedule, year, month) & (-1 >>> (31 - finalDay));
      if (days !== 0) return dayNumber(year, month, 31 - Math.clz32(days));
    }
  }
  return null;
}

/** First selected month not before `month` (1 to 13), or -1. */
function nextMonth({ months }: Schedule, month: number): number {
  return atOrAfter(months, month);
}

/** Last selected month not after `month` (0 to 12), or -1. */
function previousMonth({ months }: Schedule, month: number): number {
  return atOrBefore(months, month);
}

/** First due second of the day not before `from`, or -1. */
function timeFrom({ hours, minutes, seconds }: Schedule, from: number): number {
  const hour = Math.floor(from / 3600);
  const minute = Math.floor(from / 60) % 60;
  if (has(hours, hour)) {
    if (has(minutes, minute)) {
      const second = atOrAfter(seconds, from % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const later = atOrAfter(minutes, minute + 1);
    if (later >= 0) return hour * 3600 + later * 60 + atOrAfter(seconds, 0);
  }
  const later = atOrAfter(hours, hour + 1);
  return later < 0 ? -1 : later * 3600 + atOrAfter(minutes, 0) * 60 + atOrAfter(seconds, 0);
}

/** Last due second of the day not after `upTo`, or -1. */
function timeUpTo({ hours, minutes, seconds }: Schedule, upTo: number): number {
  const hour = Math.floor(upTo / 3600);
  const minute = Math.floor(upTo / 60) % 60;
  if (has(hours, hour)) {
    if (has(minutes, minute)) {
      const second = atOrBefore(seconds, upTo % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const earlier = atOrBefore(minutes, minute - 1);
    if (earlier >= 0) return hour * 3600 + earlier * 60 + atOrBefore(seconds, 63);
  }
  const earlier = atOrBefore(hours, hour - 1);
  return earlier < 0 ? -1 : earlier * 3600 + atOrBefore(minutes, 63) * 60 + atOrBefore(seconds, 63);
}
