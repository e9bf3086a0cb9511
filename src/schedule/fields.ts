/** One column of a schedule. The labels appear in messages, in why-rows and in the hash input of `H`: they are a contract. */
export type FieldLabel = "second" | "minute" | "hour" | "day-of-month" | "month" | "day-of-week" | "year";

export interface Field {
  readonly label: FieldLabel;
  /** Explicit values run from `low` to `high`. */
  readonly low: number;
  readonly high: number;
  /** Where `*` and a bare start with a step end; differs from `high` in day-of-week, where 7 is a second name of Sunday. */
  readonly end: number;
  /** Upper end of an `H` without a range: every month has a 28th. */
  readonly hashedEnd: number;
  readonly names: ReadonlyMap<string, number>;
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const named = (names: readonly string[], first: number): ReadonlyMap<string, number> =>
  new Map(names.map((name, index) => [name, first + index]));
const unnamed = named([], 0);

export const second: Field = { label: "second", low: 0, high: 59, end: 59, hashedEnd: 59, names: unnamed };
export const minute: Field = { label: "minute", low: 0, high: 59, end: 59, hashedEnd: 59, names: unnamed };
export const hour: Field = { label: "hour", low: 0, high: 23, end: 23, hashedEnd: 23, names: unnamed };
export const dayOfMonth: Field = { label: "day-of-month", low: 1, high: 31, end: 31, hashedEnd: 28, names: unnamed };
export const month: Field = { label: "month", low: 1, high: 12, end: 12, hashedEnd: 12, names: named(monthNames, 1) };
export const dayOfWeek: Field = {
  label: "day-of-week",
  low: 0,
  high: 7,
  end: 6,
  hashedEnd: 6,
  names: named(weekdayNames, 0),
};
export const year: Field = { label: "year", low: 1970, high: 2099, end: 2099, hashedEnd: 2099, names: unnamed };

/** The fields that `columns` tokens stand for, left to right; 6 columns end with the year, 7 begin with the second. */
export function layout(columns: number): readonly Field[] {
  const five = [minute, hour, dayOfMonth, month, dayOfWeek];
  return columns === 5 ? five : columns === 6 ? [...five, year] : [second, ...five, year];
}
