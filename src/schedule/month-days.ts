import { dayNumber, monthLength, weekdayOf } from "./civil.ts";
import { type MonthDays, nthWeekday, type WeekDays } from "./parts.ts";
import { atOrAfter, has, members } from "./value-set.ts";

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

/** Whether a month of that length has a day the column's plain days and W targets name, or its L offsets reach. */
function monthFacts(year: number, month: number): Month {
  return { length: monthLength(year, month), firstWeekday: weekdayOf(dayNumber(year, month, 1)) };
}

function daysByNumber(column: MonthDays, month: Month): number {
  let days = column.plain.low;
  for (let back = atOrAfter(column.beforeLast, 0); back >= 0; back = atOrAfter(column.beforeLast, back + 1))
    if (back < month.length) days |= 1 << (month.length - back);
  for (const target of members(column.nearestWeekdayTo))
    if (target <= month.length) days |= 1 << nearestWeekday(target, month);
  if (column.lastWeekday) days |= 1 << nearestWeekday(month.length, month);
  return days;
}

/** The Monday to Friday nearest to a day, never leaving the month. */
function nearestWeekday(day: number, month: Month): number {
  const weekday = weekdayOfDay(day, month);
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === month.length ? day - 2 : day + 1;
  return day;
}

function daysByWeekday(column: WeekDays, month: Month): number {
  let days = 0;
  for (let day = 1; day <= 7; day++) {
    const weekday = weekdayOfDay(day, month);
    if (has(column.plain, weekday)) days |= everyWeekFrom << day;
    if (has(column.last, weekday)) days |= 1 << (day + Math.floor((month.length - day) / 7) * 7);
    for (let ordinal = 1; ordinal <= 5; ordinal++) {
      const nth = day + (ordinal - 1) * 7;
      if (nth <= month.length && has(column.nth, nthWeekday(weekday, ordinal))) days |= 1 << nth;
    }
  }
  return days;
}

/** Days 0, 7, 14, 21 and 28. */
const everyWeekFrom = 0b10000001000000100000010000001;

function weekdayOfDay(day: number, month: Month): number {
  return (month.firstWeekday + day - 1) % 7;
}
