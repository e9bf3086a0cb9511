import type { Field } from "./fields.ts";
import { ScheduleError } from "./schedule-error.ts";

/** A decimal number as written. `shown` keeps every digit, also of numbers too large to hold. */
export interface Written {
  readonly value: number;
  readonly shown: string;
}

/** ASCII decimal digits, with a minus sign where `signed` allows it; anything else is no number here. */
export function readNumber(text: string, signed: "signed" | "unsigned" = "unsigned"): Written | null {
  if (!(signed === "signed" ? /^-?[0-9]+$/ : /^[0-9]+$/).test(text)) return null;
  const digits = text.replace(/^(-?)0+(?=[0-9])/, "$1");
  const shown = digits === "-0" ? "0" : digits;
  return { value: Number(shown), shown };
}

/** The number, if it is one of the field's explicit values. */
export function explicitValue(field: Field, written: Written): number {
  if (written.value < field.low || written.value > field.high)
    throw new ScheduleError(`${field.label} value ${written.shown} out of range [${field.low}, ${field.high}]`);
  return written.value;
}

/** The complaint about a step below one, wherever a step may stand. */
export function positiveStep(field: Field, step: Written): Written {
  if (step.value < 1) throw new ScheduleError(`${field.label} step must be positive, got ${step.shown}`);
  return step;
}

export function reversedRange(field: Field, from: number, to: number): ScheduleError {
  return new ScheduleError(`${field.label} range start ${from} > end ${to}`);
}
