import { padded } from "./civil.ts";
import { columnTexts } from "./columns.ts";
import { parseSchedule, type Schedule } from "./expression.ts";
import { dayOfMonth, dayOfWeek, type FieldLabel } from "./fields.ts";
import { type Item, readItem } from "./items.ts";
import { ScheduleError } from "./schedule-error.ts";
import { members, type ValueSet } from "./value-set.ts";
import { monthName, ordinal, sentenceList, weekdayName } from "./wording.ts";

const aliasTexts: ReadonlyMap<string, string> = new Map([
  ["@yearly", "Once a year, at midnight on 1 January"],
  ["@annually", "Once a year, at midnight on 1 January"],
  ["@monthly", "At midnight on the 1st of every month"],
  ["@weekly", "At midnight every Sunday"],
  ["@daily", "Every day at midnight"],
  ["@hourly", "Every hour, on the hour"],
]);

/** How `@reboot`, which is no timetable, is described. */
export const rebootDescription = "Once, when cronstable starts (@reboot)";

/**
 * A schedule in plain English (section 10). Never throws: what the dialect does not have, or has no words for,
 * is `Custom schedule: ` and the expression as given.
 */
export function describeExpression(expression: string, hashKey?: string): string {
  if (isReboot(expression)) return rebootDescription;
  const schedule = parsedOrNull(expression, hashKey);
  return (schedule && phrase(schedule)) ?? custom(expression);
}

/** The same for a schedule that is already parsed. */
export function describe(schedule: Schedule): string {
  return phrase(schedule) ?? custom(schedule.source);
}

/** `@reboot` as previews and descriptions take it: in any case, blanks around it ignored. */
export function isReboot(expression: string): boolean {
  return expression.trim().toLowerCase() === "@reboot";
}

function custom(expression: string): string {
  return `Custom schedule: ${expression}`;
}

function parsedOrNull(expression: string, hashKey: string | undefined): Schedule | null {
  try {
    return parseSchedule(expression, hashKey);
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

function phrase(schedule: Schedule): string | null {
  const alias = aliasTexts.get(schedule.source);
  if (alias !== undefined) return alias;
  const texts = columnTexts(schedule.resolved);
  const text = wholeText(schedule, (label) => texts.get(label) ?? "*");
  return text === null || schedule.resolved === schedule.source ? text : `${text} (H slots hashed from the job name)`;
}

type Columns = (label: FieldLabel) => string;

function wholeText(schedule: Schedule, column: Columns): string | null {
  const seconds = secondsText(schedule, column);
  const others: FieldLabel[] = ["minute", "hour", "day-of-month", "month", "day-of-week", "year"];
  if (seconds !== null && others.every((label) => isStar(column(label)))) return seconds.alone;
  const days = dayClause(column, schedule);
  if (days === null) return null;
  const month = column("month") === "*" ? [] : [`in ${sentenceList(members(schedule.months).map(monthName))}`];
  const everyDay = days.length === 0 && month.length === 0 ? ["every day"] : [];
  const year = schedule.years === null ? [] : [`in ${sentenceList(schedule.years.map(String))}`];
  const tail = seconds === null ? [] : [seconds.appended];
  return [timeText(schedule, column), ...days, ...month, ...everyDay, ...year, ...tail].join(", ");
}

function isStar(text: string): boolean {
  return text === "*" || text === "?";
}

/** Null when the seconds go without saying. */
function secondsText({ secondLevel, seconds }: Schedule, column: Columns): { alone: string; appended: string } | null {
  const values = members(seconds).map((value) => padded(value));
  if (!secondLevel || values.join() === "00") return null;
  const text = column("second");
  if (text === "*") return { alone: "Every second", appended: "every second" };
  const listed = values.length === 1 ? `second ${values.join()}` : `seconds ${values.join(", ")}`;
  const every = evenStep(text, 60);
  return { alone: every === null ? `At ${listed}` : `Every ${every} seconds`, appended: `at ${listed}` };
}

/** The n of a bare star-slash-n that divides the span; null for any other column. */
function evenStep(text: string, span: number): number | null {
  const step = /^\*\/([0-9]+)$/.exec(text)?.[1];
  return step !== undefined && span % Number(step) === 0 ? Number(step) : null;
}

function timeText({ minutes, hours }: Schedule, column: Columns): string {
  const [minute, hour] = [column("minute"), column("hour")];
  const [mm, hh] = [numberIn(minute, minutes), numberIn(hour, hours)];
  const everyMinutes = evenStep(minute, 60);
  const everyHours = evenStep(hour, 24);
  if (minute === "*" && hour === "*") return "Every minute";
  if (everyMinutes !== null && hour === "*") return `Every ${everyMinutes} minutes`;
  if (minute === "*" && everyHours !== null) return `Every minute, every ${everyHours} hours`;
  if (mm !== null && hour === "*") return `Every hour at :${mm}`;
  if (mm !== null && everyHours !== null) return `At :${mm} every ${everyHours} hours`;
  if (mm !== null && hh !== null) return `At ${hh}:${mm}`;
  return `At ${counted("minute", minute, minutes)} past ${counted("hour", hour, hours)}`;
}

function numberIn(text: string, values: ValueSet): string | null {
  return /^[0-9]+$/.test(text) ? padded(members(values)[0] ?? 0) : null;
}

function counted(unit: "minute" | "hour", text: string, values: ValueSet): string {
  if (text === "*") return `every ${unit}`;
  const listed = members(values).map((value) => padded(value));
  return `${unit}${listed.length === 1 ? "" : "s"} ${listed.join(", ")}`;
}

/** At most one clause for the two day columns; null when one of them selects nothing or says too much for words. */
function dayClause(column: Columns, schedule: Schedule): string[] | null {
  const onDays = monthDayParts(column("day-of-month"), schedule);
  const onWeekdays = weekdayParts(column("day-of-week"), schedule);
  if (onDays === null || onWeekdays === null) return null;
  const weekday = onWeekdays.length === 0 ? null : `on ${sentenceList(onWeekdays)}`;
  if (onDays.plain.length + onDays.special.length === 0) return weekday === null ? [] : [weekday];
  const plain = onDays.special.length === 0 ? joinDays(onDays.plain) : onDays.plain.map((day) => `the ${day}`);
  const suffix = onDays.special.length === 0 && weekday === null ? " of the month" : "";
  const day = `on ${sentenceList([...plain, ...onDays.special])}${suffix}`;
  return weekday === null ? [day] : [`${day}, and only ${weekday}`];
}

/** Plain days share one article: `the 1st and 15th`. */
function joinDays(days: readonly string[]): string[] {
  return days.map((day, index) => (index === 0 ? `the ${day}` : day));
}

function monthDayParts(text: string, { monthDays }: Schedule): { plain: string[]; special: string[] } | null {
  if (isStar(text)) return { plain: [], special: [] };
  const items = text.split(",");
  const special = unique(items.flatMap((item) => monthDayPhrases(readItem(dayOfMonth, item.toLowerCase()))));
  if (special.length > 0 && items.includes("*")) return null;
  return { plain: members(monthDays.plain).map(ordinal), special };
}

function monthDayPhrases(item: Item): string[] {
  if (item.kind === "last weekday") return ["the last weekday of the month"];
  if (item.kind === "nearest weekday") return [`the weekday nearest the ${ordinal(item.day)}`];
  if (item.kind !== "before last day") return [];
  if (item.offset === 0) return ["the last day of the month"];
  if (item.offset === 1) return ["the day before the last day of the month"];
  return [`${item.offset} days before the last day of the month`];
}

function weekdayParts(text: string, { weekDays }: Schedule): string[] | null {
  if (isStar(text)) return [];
  const items = text.split(",");
  const special = unique(items.flatMap((item) => weekdayPhrases(readItem(dayOfWeek, item.toLowerCase()))));
  if (special.length > 0 && items.includes("*")) return null;
  const parts = [...members(weekDays.plain).map(weekdayName), ...special];
  return parts.length === 0 ? null : parts;
}

function weekdayPhrases(item: Item): string[] {
  if (item.kind === "nth weekday") return [`the ${ordinal(item.ordinal)} ${weekdayName(item.weekday)} of the month`];
  if (item.kind !== "last of weekday") return [];
  const days: number[] = [];
  for (let day = item.from; day <= item.to; day++) days.push(day % 7);
  return days.map((day) => `the last ${weekdayName(day)} of the month`);
}

function unique(phrases: readonly string[]): string[] {
  return [...new Set(phrases)];
}
