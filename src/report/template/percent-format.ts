import type { Budget } from "./budget.ts";
import { fixedText, literal, textOf } from "./text-form.ts";
import { numberOf, TemplateError, typeName, type Value } from "./value.ts";

const WIDTH_MAX = 200;
const DIRECTIVE = /%([-0+ ]*)(\d*)(?:\.(\d+))?([sdifgxr%])/g;

/** `"%.1f of %s"|format(a, b)`: the printf form, with `s r d i f g x` and `%%`. */
export function percentFormat(pattern: string, values: readonly Value[], budget: Budget): string {
  let next = 0;
  const text = pattern.replace(
    DIRECTIVE,
    (_whole, flags: string, width: string, precision: string | undefined, kind: string) => {
      if (kind === "%") return "%";
      const value = values[next++];
      if (value === undefined) throw new TemplateError("format: there are fewer values than the text asks for");
      if (Number(width) > WIDTH_MAX || Number(precision ?? 0) > 50)
        throw new TemplateError("format: the width is too large");
      return padded(converted(value, kind, precision, flags, budget), flags, Number(width), kind);
    },
  );
  if (next < values.length) throw new TemplateError("format: there are more values than the text asks for");
  budget.text(text.length);
  return text;
}

function converted(value: Value, kind: string, precision: string | undefined, flags: string, budget: Budget): string {
  if (kind === "s" || kind === "r") {
    const text = kind === "s" ? textOf(value, budget) : literal(value, budget);
    return precision === undefined ? text : text.slice(0, Number(precision));
  }
  const number = numberOf(value);
  if (number === null) throw new TemplateError(`format: %${kind} needs a number, not ${typeName(value)}`);
  const sign = flags.includes("+") && number >= 0 ? "+" : "";
  switch (kind) {
    case "f":
      return sign + fixedText(number, Number(precision ?? 6));
    case "g":
      return sign + String(Number(number.toPrecision(Math.max(1, Number(precision ?? 6)))));
    case "x":
      return Math.trunc(number).toString(16);
    default:
      return sign + String(Math.trunc(number));
  }
}

function padded(text: string, flags: string, width: number, kind: string): string {
  if (flags.includes("-")) return text.padEnd(width);
  if (flags.includes("0") && kind !== "s" && kind !== "r") {
    const sign = /^[-+]/.exec(text)?.[0] ?? "";
    return sign + text.slice(sign.length).padStart(width - sign.length, "0");
  }
  return text.padStart(width);
}
