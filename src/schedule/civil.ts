/**
 * Civil dates and labels. A label is what a wall clock shows, without an offset; it is held as the seconds that
 * would have passed since 1970 on a clock that showed it in UTC. The calendar is proleptic Gregorian.
 */
export const secondsPerDay = 86_400;

export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days from 0001-01-01 to 1970-01-01. */
const daysBefore1970 = 719_162;
const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function monthLength(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01; negative before. */
export function dayNumber(year: number, month: number, day: number): number {
  return newYearsDay(year) + firstDayOfMonth(month, isLeapYear(year)) + day - 1;
}

export function civilDate(dayNumber: number): CivilDate {
  const guess = Math.floor((dayNumber + daysBefore1970) / 365.2425) + 1;
  const year = dayNumber < newYearsDay(guess) ? guess - 1 : dayNumber >= newYearsDay(guess + 1) ? guess + 1 : guess;
  const leap = isLeapYear(year);
  const dayOfYear = dayNumber - newYearsDay(year);
  let month = Math.min(12, Math.floor(dayOfYear / 29) + 1);
  while (firstDayOfMonth(month, leap) > dayOfYear) month -= 1;
  return { year, month, day: dayOfYear - firstDayOfMonth(month, leap) + 1 };
}

/** Sunday 0. */
export function weekdayOf(dayNumber: number): number {
  return (((dayNumber + 4) % 7) + 7) % 7;
}

/** The label of a civil date and time. */
export function labelOf(year: number, month: number, day: number, secondOfDay = 0): number {
  return dayNumber(year, month, day) * secondsPerDay + secondOfDay;
}

/** `YYYY-MM-DD` of a label. */
export function dateText(label: number): string {
  const { year, month, day } = civilDate(Math.floor(label / secondsPerDay));
  return `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
}

/** `HH:MM:SS` of a label. */
export function timeText(label: number): string {
  const secondOfDay = label - Math.floor(label / secondsPerDay) * secondsPerDay;
  const hours = Math.floor(secondOfDay / 3600);
  return `${padded(hours)}:${padded(Math.floor(secondOfDay / 60) % 60)}:${padded(secondOfDay % 60)}`;
}

/** A non-negative number with leading zeros. */
export function padded(value: number, width = 2): string {
  return String(value).padStart(width, "0");
}

function newYearsDay(year: number): number {
  const past = year - 1;
  return 365 * past + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) - daysBefore1970;
}

/** The month's first day as a day of the year, from 0. */
function firstDayOfMonth(month: number, leap: boolean): number {
  return (daysBeforeMonth[month - 1] ?? 0) + (leap && month > 2 ? 1 : 0);
}
