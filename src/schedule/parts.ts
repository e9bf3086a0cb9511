import type { Field } from "./fields.ts";
import { type Item, readItem } from "./items.ts";
import { internedFieldsMax, internedTextCharactersMax } from "./limits.ts";
import { setOf, type ValueSet } from "./value-set.ts";

/** Days the day-of-month column selects. A date is in when any of the four says so. */
export interface MonthDays {
  readonly plain: ValueSet;
  /** Days counted back from the month's last, which is 0. */
  readonly beforeLast: ValueSet;
  /** Targets of `nW`. */
  readonly nearestWeekdayTo: ValueSet;
  readonly lastWeekday: boolean;
}

/** Days the day-of-week column selects, Sunday 0. A date is in when any of the three says so. */
export interface WeekDays {
  readonly plain: ValueSet;
  /** Weekdays whose last one in the month is in. */
  readonly last: ValueSet;
  /** Members as `nthWeekday` numbers them. */
  readonly nth: ValueSet;
}

/** Years in increasing order; null is any year at all, which differs from naming all of them (2.7). */
export type Years = readonly number[] | null;

/** Whether the column leaves out no day on its own account; a special form beside `*` changes nothing. */
export function takesAllMonthDays({ plain }: MonthDays): boolean {
  return plain.low === allMonthDays;
}

export function takesAllWeekdays({ plain }: WeekDays): boolean {
  return plain.low === allWeekdays;
}

/** Whether every hour of the day is due: such a rhythm goes on through a repeated hour. */
export function isRoundTheClock(hours: ValueSet): boolean {
  return hours.low === allHours;
}

export function takesAllMonths(months: ValueSet): boolean {
  return months.low === allMonths;
}

const allMonthDays = -2; // bits 1 to 31
const allMonths = 0b1_1111_1111_1110;
const allWeekdays = 0b111_1111;
const allHours = 0xff_ffff;

/** The k-th (1 to 5) such weekday of a month, as one number that fits a `ValueSet`. */
export function nthWeekday(weekday: number, ordinal: number): number {
  return weekday * 5 + ordinal - 1;
}

/** The inverse of `nthWeekday`. */
export function nthWeekdayOf(member: number): { weekday: number; ordinal: number } {
  return { weekday: Math.floor(member / 5), ordinal: (member % 5) + 1 };
}

/** The values a column without special forms selects. */
export const readValues = shared((field: Field, column: string): ValueSet => setOf(strides(readColumn(field, column))));

export const readMonthDays = shared((field: Field, column: string): MonthDays => {
  const items = readColumn(field, column === "?" ? "*" : column);
  return {
    plain: setOf(strides(items)),
    beforeLast: setOf(items.flatMap((item) => (item.kind === "before last day" ? [item.offset] : []))),
    nearestWeekdayTo: setOf(items.flatMap((item) => (item.kind === "nearest weekday" ? [item.day] : []))),
    lastWeekday: items.some((item) => item.kind === "last weekday"),
  };
});

export const readWeekDays = shared((field: Field, column: string): WeekDays => {
  const items = readColumn(field, column === "?" ? "*" : column);
  return {
    plain: setOf(strides(items).map((day) => day % 7)),
    last: setOf(
      items.flatMap((item) => (item.kind === "last of weekday" ? count(item.from, item.to, 1) : [])).map((d) => d % 7),
    ),
    nth: setOf(items.flatMap((item) => (item.kind === "nth weekday" ? [nthWeekday(item.weekday, item.ordinal)] : []))),
  };
});

export const readYears = shared((field: Field, column: string): Years => {
  if (column === "*") return null;
  return [...new Set(strides(readColumn(field, column)))].sort((a, b) => a - b);
});

function readColumn(field: Field, column: string): Item[] {
  return column.split(",").map((item) => readItem(field, item));
}

function strides(items: readonly Item[]): number[] {
  return items.flatMap((item) => (item.kind === "stride" ? count(item.from, item.to, item.step) : []));
}

function count(from: number, to: number, step: number): number[] {
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
}

/** Parses each distinct text of a column once and hands the same value out again, in lower case as it is compared. */
function shared<T>(read: (field: Field, column: string) => T): (field: Field, column: string) => T {
  const parsed = new Map<string, T>();
  return (field, column) => {
    const text = column.toLowerCase();
    if (text.length > internedTextCharactersMax) return read(field, text);
    const key = `${field.label} ${text}`;
    const known = parsed.get(key);
    if (known !== undefined) return known;
    const value = read(field, text);
    if (parsed.size >= internedFieldsMax) parsed.delete(parsed.keys().next().value ?? key);
    parsed.set(key, value);
    return value;
  };
}
