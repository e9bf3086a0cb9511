import { dayOfMonth, dayOfWeek, type Field } from "./fields.ts";
import { explicitValue, positiveStep, readNumber, reversedRange } from "./numbers.ts";
import { quoted, ScheduleError } from "./schedule-error.ts";

/** What one item of a comma list selects. Strides are inclusive at both ends. */
export type Item =
  | { readonly kind: "stride"; readonly from: number; readonly to: number; readonly step: number }
  | { readonly kind: "before last day"; readonly offset: number }
  | { readonly kind: "nearest weekday"; readonly day: number }
  | { readonly kind: "last weekday" }
  | { readonly kind: "last of weekday"; readonly from: number; readonly to: number }
  | { readonly kind: "nth weekday"; readonly weekday: number; readonly ordinal: number };

/** Reads one item (sections 2.2 to 2.4), already in lower case. */
export function readItem(field: Field, item: string): Item {
  if (item.startsWith("l")) return readLast(field, item);
  if (field === dayOfMonth && item.endsWith("w")) return readNearest(item);
  if (field === dayOfWeek && item.includes("#")) return readNth(item);
  return readStride(field, item);
}

function readStride(field: Field, item: string): Item {
  const [range = "", stepText, ...more] = item.split("/");
  if (more.length > 0) throw new ScheduleError(`invalid ${field.label} field ${quoted(item)}: more than one '/'`);
  if (stepText === undefined) return { kind: "stride", ...readRange(field, range, item, "alone"), step: 1 };
  const step = readStep(field, stepText, item);
  const { from, to } = readRange(field, range, item, "stepped");
  if (from + step > field.high) {
    const bounds = `[${field.low}, ${field.high}]`;
    throw new ScheduleError(`${field.label} step ${step} from ${from} escapes ${bounds}`);
  }
  return { kind: "stride", from, to, step };
}

function readStep(field: Field, text: string, item: string): number {
  const step = readNumber(text, "signed");
  if (step === null) throw new ScheduleError(`invalid ${field.label} step ${quoted(item)}`);
  if (positiveStep(field, step).value > field.high)
    throw new ScheduleError(`${field.label} step ${step.shown} too large (max ${field.high})`);
  return step.value;
}

/** `*`, `a-b`, or `a`, which stands for itself alone and for all that follows it when stepped. */
function readRange(
  field: Field,
  range: string,
  item: string,
  start: "alone" | "stepped",
): { from: number; to: number } {
  if (range === "*") return { from: field.low, to: field.end };
  const dash = range.indexOf("-");
  const from = readValue(field, dash < 0 ? range : range.slice(0, dash), item);
  const bareEnd = start === "alone" ? from : field.end;
  const to = dash < 0 ? bareEnd : readRangeEnd(field, range.slice(dash + 1), item);
  if (from > to) throw reversedRange(field, from, to);
  return { from, to };
}

/** A weekday range that ends on Sunday ends on 7, so that `sat-sun` reads as people mean it. */
function readRangeEnd(field: Field, text: string, item: string): number {
  const end = readValue(field, text, item);
  return field === dayOfWeek && end === 0 ? 7 : end;
}

function readValue(field: Field, text: string, item: string): number {
  const name = field.names.get(text);
  if (name !== undefined) return name;
  const written = readNumber(text, "signed");
  if (written === null) throw new ScheduleError(`invalid ${field.label} field ${quoted(item)}`);
  return explicitValue(field, written);
}

function readLast(field: Field, item: string): Item {
  if (field === dayOfMonth) return readLastDay(item);
  if (field === dayOfWeek) return readLastOfWeekday(item);
  throw new ScheduleError(`'L' is only valid in the day-of-month and day-of-week fields, not ${field.label}`);
}

function readLastDay(item: string): Item {
  if (item === "l") return { kind: "before last day", offset: 0 };
  if (item === "lw") return { kind: "last weekday" };
  if (!item.startsWith("l-"))
    throw new ScheduleError(
      "'L' in the day-of-month field takes the forms L (the month's final day), L-<n> (n days before it) " +
        `or LW (its last weekday), got ${quoted(item)}`,
    );
  const offset = readNumber(item.slice(2));
  if (offset === null)
    throw new ScheduleError(
      "an 'L-' day-of-month item takes a plain offset 1..30 counted back from the month's final day " +
        `(got ${quoted(item)})`,
    );
  if (offset.value < 1 || offset.value > 30)
    throw new ScheduleError(
      `day-of-month 'L-' offset ${offset.shown} out of range [1, 30] ` +
        "(L-1 is the day before the month's final day; for the final day itself write L)",
    );
  return { kind: "before last day", offset: offset.value };
}

function readNearest(item: string): Item {
  const day = readNumber(item.slice(0, -1));
  if (day === null)
    throw new ScheduleError(
      "a 'W' day-of-month item takes a plain day 1..31 and fires on the weekday nearest that day " +
        `(got ${quoted(item)})`,
    );
  return { kind: "nearest weekday", day: explicitValue(dayOfMonth, day) };
}

/** A reversed range is legal here and selects nothing: `L3-1` parks a job. */
function readLastOfWeekday(item: string): Item {
  if (item === "l")
    throw new ScheduleError(
      "a bare 'L' is only valid in the day-of-month field; in day-of-week write L<n> (e.g. L5 = last Friday)",
    );
  const [first = "", last = first, ...more] = item.slice(1).split("-");
  const from = readNumber(first);
  const to = readNumber(last);
  if (from === null || to === null || more.length > 0)
    throw new ScheduleError(`an L day-of-week item takes a day number or numeric range 0..7, got ${quoted(item)}`);
  return { kind: "last of weekday", from: explicitValue(dayOfWeek, from), to: explicitValue(dayOfWeek, to) };
}

function readNth(item: string): Item {
  const [day = "", ordinalText = "", ...more] = item.split("#");
  if (more.length > 0) throw new ScheduleError(`invalid day-of-week field ${quoted(item)}: more than one '#'`);
  const weekday = readValue(dayOfWeek, day, item) % 7;
  const ordinal = readNumber(ordinalText);
  if (ordinal === null)
    throw new ScheduleError(
      "a '#' day-of-week item is <weekday>#<n>, the month's n-th such weekday (5#3 = third Friday), " +
        `got ${quoted(item)}`,
    );
  if (ordinal.value < 1 || ordinal.value > 5)
    throw new ScheduleError(
      `day-of-week '#' ordinal ${ordinal.shown} out of range [1, 5] (no month holds more than five of one weekday)`,
    );
  return { kind: "nth weekday", weekday, ordinal: ordinal.value };
}
