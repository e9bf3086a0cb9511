import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type Field, year } from "./fields.ts";
import { explicitValue, positiveStep, readNumber, reversedRange, type Written } from "./numbers.ts";
import { quoted, ScheduleError } from "./schedule-error.ts";

/**
 * The column with its `H` items replaced by the values they stand for (2.5). Everything else keeps its spelling.
 * The slots are a contract: the same for the same key on every host and in every version.
 *
 * @param key the job's name; undefined where there is none, and then an `H` item is an error
 */
export function withoutHashes(field: Field, column: string, key: string | undefined): string {
  if (!/h/i.test(column)) return column;
  return column
    .split(",")
    .map((item) => (/^h/i.test(item) ? slotsOf(field, item, key).join(",") : item))
    .join(",");
}

function slotsOf(field: Field, item: string, key: string | undefined): number[] {
  if (field === year)
    throw new ScheduleError(
      "'H' is not supported in the year field (a hashed year would pin the schedule to one arbitrary year)",
    );
  const { from, to, step } = readHashed(field, item);
  if (key === undefined)
    throw new ScheduleError(
      `'H' in the ${field.label} field needs a hash key (the job name), which this context does not supply`,
    );
  const range = readBounds(field, from, to);
  const span = range.high - range.low + 1;
  if (step === null) return [range.low + offset(field, key, span)];
  if (positiveStep(field, step).value > span)
    throw new ScheduleError(
      `${field.label} step ${step.shown} exceeds the H range's span of ${span} ` +
        "(the hashed offset could fall past the range's end)",
    );
  const slots: number[] = [];
  for (let slot = range.low + offset(field, key, step.value); slot <= range.high; slot += step.value) slots.push(slot);
  return slots;
}

interface Hashed {
  readonly from: Written | null;
  readonly to: Written | null;
  readonly step: Written | null;
}

function readHashed(field: Field, item: string): Hashed {
  const shape = /^h(?:\(([0-9]+)-([0-9]+)\))?(?:\/([0-9]+))?$/i.exec(item);
  if (shape === null)
    throw new ScheduleError(
      `invalid ${field.label} field ${quoted(item)}: an 'H' item takes the forms H, H/n, H(a-b) or H(a-b)/n ` +
        "(numeric range only)",
    );
  const part = (index: number) => readNumber(shape[index] ?? "");
  return { from: part(1), to: part(2), step: part(3) };
}

function readBounds(field: Field, from: Written | null, to: Written | null): { low: number; high: number } {
  if (from === null || to === null) return { low: field.low, high: field.hashedEnd };
  const low = explicitValue(field, from);
  const high = explicitValue(field, to);
  if (low > high) throw reversedRange(field, low, high);
  return { low, high };
}

/** The first eight bytes of SHA-256 over label and key, as one big-endian number, modulo `span`. */
function offset(field: Field, key: string, span: number): number {
  const digest = sha256(utf8ToBytes(`${field.label}\n${key}`));
  const value = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0);
  return Number(value % BigInt(span));
}
