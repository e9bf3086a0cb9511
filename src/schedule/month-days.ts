import { dayNumber, monthLength, weekdayOf } from "./civil.ts";
import { type MonthDays, nthWeekdayOf, type WeekDays } from "./parts.ts";
import { atOrAfter } from "./value-set.ts";

/** The facts of one month that both day columns go by. */
interface Month {
  readonly length: number;
  /** Weekday of its first day, Sunday 0. */
  readonly firstWeekday: number;
}

/**
 * The days of a month that both day columns accept, as bits: bit d is day d. Always both, also when both are
 * restricted: `13 * 5` is Friday the 13th (section 4).
 */
export function acceptedDays(monthDays: MonthDays, weekDays: WeekDays, year: number, month: number): number {
  const facts = monthFacts(year, month);
  const wholeMonth = (-1 >>> (31 - facts.length)) & ~1;
  return daysByNumber(monthDays, facts) & daysByWeekday(weekDays, facts) & wholeMonth;
}

/** Whether the day-of-month column accepts a date, whatever the other says. */
export function acceptsMonthDay(monthDays: MonthDays, year: number, month: number, day: number): boolean {
  return (daysByNumber(monthDays, monthFacts(year, month)) & (1 << day)) !== 0;
}

/** Whether the day-of-week column accepts a date, whatever the other says. */
export function acceptsWeekday(weekDays: WeekDays, year: number, month: number, day: number): boolean {
  return (daysByWeekday(weekDays, monthFacts(year, month)) & (1 << day)) !== 0;
}

function monthFacts(year: number, month: number): Month {
  return { length: monthLength(year, month), firstWeekday: weekdayOf(dayNumber(year, month, 1)) };
}

function daysByNumber({ plain, beforeLast, nearestWeekdayTo, lastWeekday }: MonthDays, month: Month): number {
  let days = plain.low;
  for (let back = atOrAfter(beforeLast, 0); back >= 0; back = atOrAfter(beforeLast, back + 1))
    if (back < month.length) days |= 1 << (month.length - back);
  for (let day = atOrAfter(nearestWeekdayTo, 1); day > 0; day = atOrAfter(nearestWeekdayTo, day + 1))
    if (day <= month.length) days |= 1 << nearestWeekday(day, month);
  if (lastWeekday) days |= 1 << nearestWeekday(month.length, month);
  return days;
}

/** The Monday to Friday nearest to a day, never leaving the month. */
function nearestWeekday(day: number, month: Month): number {
  const weekday = (month.firstWeekday + day - 1) % 7;
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === month.length ? day - 2 : day + 1;
  return day;
}

function daysByWeekday({ plain, last, nth }: WeekDays, month: Month): number {
  let days = everyWeek(plain.low, month);
  if (last.low !== 0) days |= everyWeek(last.low, month) & (-1 << (month.length - 6));
  for (let member = atOrAfter(nth, 0); member >= 0; member = atOrAfter(nth, member + 1)) {
    const { weekday, ordinal } = nthWeekdayOf(member);
    const day = 1 + ((weekday - month.firstWeekday + 7) % 7) + (ordinal - 1) * 7;
    if (day <= month.length) days |= 1 << day;
  }
  return days;
}

/** The days of the month that fall on one of the weekdays, given as bits from Sunday. */
function everyWeek(weekdays: number, { firstWeekday }: Month): number {
  const week = ((weekdays >> firstWeekday) | (weekdays << (7 - firstWeekday))) & 0b111_1111;
  return (week << 1) | (week << 8) | (week << 15) | (week << 22) | (week << 29);
}
