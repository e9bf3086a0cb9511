import { dayOfMonth, dayOfWeek, hour, layout, minute, month, second, year } from "./fields.ts";
import { withoutHashes } from "./hashed.ts";
import { hintFor } from "./hints.ts";
import {
  type MonthDays,
  readMonthDays,
  readValues,
  readWeekDays,
  readYears,
  type WeekDays,
  type Years,
} from "./parts.ts";
import { ScheduleError } from "./schedule-error.ts";
import type { ValueSet } from "./value-set.ts";

/** A timetable: which wall-clock labels are due. Immutable; the parts are shared between schedules that spell them alike. */
export interface Schedule {
  /** The columns as written, joined by single spaces; an alias in lower case (2.7). What every surface displays. */
  readonly source: string;
  /** `source` with every `H` replaced by the values it stands for. */
  readonly resolved: string;
  /** 5, 6 or 7; an alias counts as the five it stands for. */
  readonly columns: number;
  /** Whether the seconds were written, whatever they say: a late wake-up treats such a schedule by the second (7.4). */
  readonly secondLevel: boolean;
  readonly seconds: ValueSet;
  readonly minutes: ValueSet;
  readonly hours: ValueSet;
  readonly monthDays: MonthDays;
  readonly months: ValueSet;
  readonly weekDays: WeekDays;
  readonly years: Years;
}

/** Names that the dialect has for common timetables. They are case-insensitive. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

/**
 * Reads a crontab expression of 5, 6 or 7 columns, or an alias (section 2).
 *
 * @param hashKey what `H` hashes, always the job's name; without it `H` is refused
 * @throws ScheduleError with the first thing wrong, in the order of section 3
 */
export function parseSchedule(expression: string, hashKey?: string): Schedule {
  const written = expression.split(/\s+/).filter((token) => token !== "");
  const alias = written.length === 1 ? written[0]?.toLowerCase() : undefined;
  const meaning = alias === undefined ? undefined : aliases.get(alias);
  const tokens = meaning === undefined ? written : meaning.split(" ");
  if (tokens.length < 5 || tokens.length > 7)
    throw new ScheduleError(
      `expected 5 to 7 whitespace-separated cron fields (or a supported @-nickname), got ${tokens.length}`,
    );
  const source = alias !== undefined && meaning !== undefined ? alias : written.join(" ");
  try {
    return readColumns(source, tokens, hashKey);
  } catch (error) {
    const hint = error instanceof ScheduleError ? hintFor(tokens, layout(tokens.length)) : null;
    throw error instanceof ScheduleError && hint !== null ? new ScheduleError(`${error.message} (${hint})`) : error;
  }
}

function readColumns(source: string, tokens: readonly string[], hashKey: string | undefined): Schedule {
  const columns = tokens.length;
  const plain = layout(columns).map((field, index) => withoutHashes(field, tokens[index] ?? "", hashKey));
  const resolved = plain.every((column, index) => column === tokens[index]) ? source : plain.join(" ");
  const [seconds = "0", minutes = "", hours = "", monthDays = "", months = "", weekDays = "", years = "*"] =
    columns === 7 ? plain : ["0", ...plain];
  return {
    source,
    resolved,
    columns,
    secondLevel: columns === 7,
    seconds: readValues(second, seconds),
    minutes: readValues(minute, minutes),
    hours: readValues(hour, hours),
    monthDays: readMonthDays(dayOfMonth, monthDays),
    months: readValues(month, months),
    weekDays: readWeekDays(dayOfWeek, weekDays),
    years: readYears(year, years),
  };
}

/** Whether two schedules select the same labels for the same reasons, however they are spelled (2.7). */
export function sameSchedule(a: Schedule, b: Schedule): boolean {
  return a.resolved === b.resolved || partsKey(a) === partsKey(b);
}

/** All parsed parts as one text: equal for equal schedules and for no others. */
export function partsKey(schedule: Schedule): string {
  const { seconds, minutes, hours, months, monthDays, weekDays, years } = schedule;
  const { plain, beforeLast, nearestWeekdayTo, lastWeekday } = monthDays;
  const sets = [seconds, minutes, hours, plain, beforeLast, nearestWeekdayTo, months];
  const words = [...sets, weekDays.plain, weekDays.last, weekDays.nth].map(({ low, high }) => `${low}:${high}`);
  return `${words.join(" ")} ${lastWeekday} ${years?.join(",") ?? "any"}`;
}
