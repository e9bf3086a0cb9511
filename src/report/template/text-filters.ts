import { named } from "./arguments.ts";
import type { Filter } from "./filters.ts";
import { percentFormat } from "./percent-format.ts";
import { jsonText, textOf } from "./text-form.ts";
import { capitalized, replaced, stripped, titled } from "./text-operations.ts";
import { either, isTrue, numberOf, TemplateError, Undefined, type Value } from "./value.ts";

/** A filter over the value's text. */
const onText =
  (make: (text: string) => string | number): Filter =>
  (value, given, { budget }) => {
    named("the filter", [], given);
    const text = textOf(value, budget);
    budget.eachCharacter(text.length);
    return make(text);
  };

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };
const escapeHtml = onText((text) => text.replace(/[&<>"']/g, (char) => HTML[char] ?? char));

const fallback: Filter = (value, given) => {
  const { value: argument, flag } = named("default", ["default_value", "boolean"], given);
  const missing = value instanceof Undefined || (flag("boolean", false) && !isTrue(value));
  return missing ? either(argument("default_value"), "") : value;
};

const truncate: Filter = (value, given, { budget }) => {
  const { integer, flag, text: textArgument } = named("truncate", ["length", "killwords", "end", "leeway"], given);
  const text = textOf(value, budget);
  budget.text(text.length);
  const length = integer("length", 255);
  const end = textArgument("end", "...");
  if (text.length <= length + integer("leeway", 5)) return text;
  const head = text.slice(0, Math.max(0, length - end.length));
  if (flag("killwords", false)) return head + end;
  const space = head.lastIndexOf(" ");
  return (space === -1 ? head : head.slice(0, space)) + end;
};

const indent: Filter = (value, given, { budget }) => {
  const { value: argument, flag } = named("indent", ["width", "first", "blank"], given);
  const width = argument("width") ?? 4;
  const amount = numberOf(width);
  if (amount !== null) budget.text(amount);
  const margin = typeof width === "string" ? width : " ".repeat(Math.max(0, amount ?? 4));
  const lines = textOf(value, budget).split("\n");
  budget.text(lines.length * margin.length);
  const blank = flag("blank", false);
  return lines
    .map((line, index) => ((index === 0 ? flag("first", false) : line !== "" || blank) ? margin + line : line))
    .join("\n");
};

export const textFilters: Readonly<Record<string, Filter>> = {
  default: fallback,
  d: fallback,
  e: escapeHtml,
  escape: escapeHtml,
  safe: (value) => value,
  string: (value, _given, { budget }) => textOf(value, budget),
  lower: onText((text) => text.toLowerCase()),
  upper: onText((text) => text.toUpperCase()),
  capitalize: onText(capitalized),
  title: onText(titled),
  trim(value, given, { budget }) {
    const text = textOf(value, budget);
    budget.text(text.length);
    return stripped(text, named("trim", ["chars"], given).text("chars", ""), "both");
  },
  replace(value, given, { budget }) {
    const { text, integer } = named("replace", ["old", "new", "count"], given);
    return replaced(textOf(value, budget), text("old", ""), text("new", ""), integer("count", -1), budget);
  },
  truncate,
  indent,
  tojson(value, given, { budget }) {
    const argument = named("tojson", ["indent"], given);
    const width = argument.integer("indent", -1);
    if (width > 16) throw new TemplateError("tojson: an indent is at most 16");
    return jsonText(value, width < 0 ? null : width, budget);
  },
  urlencode: onText((text) =>
    encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(/[!'()*]|%2F/g, (found) =>
      found === "%2F" ? "/" : `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  ),
  format(value, given, { budget }): Value {
    if (given.named.size > 0) throw new TemplateError("format: named arguments are not available");
    return percentFormat(textOf(value, budget), given.positional, budget);
  },
  wordcount: onText((text) => text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
};
