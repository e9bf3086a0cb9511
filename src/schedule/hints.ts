import { dayOfMonth, dayOfWeek, type Field } from "./fields.ts";

const quartzColumns =
  "this looks like a 6-field Quartz expression (seconds first); here the 6th field is a year, so append a trailing '*' " +
  "to read it as second minute hour day-of-month month day-of-week year";
const nthWeekday = "'#' (Quartz-style nth weekday, 5#3 = third Friday) is only valid in the day-of-week field";
const nearestWeekday = "'W' (Quartz-style nearest weekday, 15W / LW) is only valid in the day-of-month field";
const trailingLast =
  "a trailing 'L' on a weekday is Quartz's last-weekday form; this dialect spells it L<n> (L5 = last Friday)";
const questionMark =
  "'?' is only accepted standing alone in the day-of-month and day-of-week fields, where it reads as '*'";

/** What the author of a refused expression may have had in mind: forms of other dialects, recognised as written (section 3). */
export function hintFor(columns: readonly string[], fields: readonly Field[]): string | null {
  if (columns.length === 6 && columns.includes("?")) return quartzColumns;
  for (const [index, field] of fields.entries()) {
    for (const item of (columns[index] ?? "").toLowerCase().split(",")) {
      if (field !== dayOfWeek && item.includes("#")) return nthWeekday;
      if (field !== dayOfMonth && /^(?:[0-9]+|l)w$/.test(item)) return nearestWeekday;
      if (field === dayOfWeek && /^[0-9]+l$/.test(item)) return trailingLast;
    }
  }
  return columns.includes("?") ? questionMark : null;
}
