import { named } from "./arguments.ts";
import type { Filter } from "./filters.ts";
import { defined } from "./operators.ts";
import { fixedText } from "./text-form.ts";
import { either, Float, numberOf, TemplateError, typeName, type Value } from "./value.ts";

function needNumber(who: string, value: Value): number {
  const number = numberOf(defined(value));
  if (number === null) throw new TemplateError(`${who} needs a number, not ${typeName(value)}`);
  return number;
}

const toInteger: Filter = (value, given) => {
  const { value: argument, integer } = named("int", ["default", "base"], given);
  const otherwise = either(argument("default"), 0);
  const number = numberOf(value);
  if (number !== null) return Number.isSafeInteger(Math.trunc(number)) ? Math.trunc(number) : otherwise;
  if (typeof value !== "string" || value.length > 400) return otherwise;
  const text = value.trim().replaceAll("_", "");
  const base = integer("base", 10);
  if (base === 10 && /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) {
    const parsed = Math.trunc(Number(text));
    return Number.isSafeInteger(parsed) ? parsed : otherwise;
  }
  const digits = base === 16 ? text.replace(/^([-+]?)0x/i, "$1") : text;
  if (base < 2 || base > 36 || !/^[-+]?[0-9a-z]+$/i.test(digits)) return otherwise;
  const parsed = Number.parseInt(digits, base);
  return Number.isSafeInteger(parsed) ? parsed : otherwise;
};

const toFloat: Filter = (value, given) => {
  const otherwise = either(named("float", ["default"], given).value("default"), new Float(0));
  const number = numberOf(value);
  if (number !== null) return new Float(number);
  if (typeof value !== "string" || !/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value)) return otherwise;
  return new Float(Number(value));
};

const round: Filter = (value, given) => {
  const { integer, text } = named("round", ["precision", "method"], given);
  const number = needNumber("round", value);
  const precision = integer("precision", 0);
  if (Math.abs(precision) > 20) throw new TemplateError("round: the precision is too large");
  const method = text("method", "common");
  const scale = 10 ** precision;
  if (method === "ceil" || method === "floor") return new Float(Math[method](number * scale) / scale);
  if (method !== "common") throw new TemplateError('round: the method is "common", "ceil" or "floor"');
  if (!(value instanceof Float) && precision >= 0) return number;
  const rounded = precision < 0 ? halfToEven(number * scale) / scale : Number(fixedText(number, precision));
  return value instanceof Float ? new Float(rounded) : rounded;
};

function halfToEven(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  if (rest === 0.5) return floor % 2 === 0 ? floor : floor + 1;
  return Math.round(number);
}

const UNITS = ["k", "M", "G", "T", "P", "E"];

const fileSize: Filter = (value, given) => {
  const binary = named("filesizeformat", ["binary"], given).flag("binary", false);
  const bytes = needNumber("filesizeformat", value);
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  let size = bytes / base;
  let unit = 0;
  for (; size >= base && unit < UNITS.length - 1; unit++) size /= base;
  const letter = UNITS[unit] ?? "";
  return `${size.toFixed(1)} ${binary ? `${letter.toUpperCase()}iB` : `${letter}B`}`;
};

export const numberFilters: Readonly<Record<string, Filter>> = {
  int: toInteger,
  float: toFloat,
  round,
  abs(value) {
    const number = Math.abs(needNumber("abs", value));
    return value instanceof Float ? new Float(number) : number;
  },
  filesizeformat: fileSize,
};
