/** Operations on texts that both filters and methods offer. */
import type { Budget } from "./budget.ts";
import { TemplateError } from "./value.ts";

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}

export function titled(text: string): string {
  return text.replace(/[\p{L}\p{N}_']+/gu, capitalized);
}

/** Without the characters of `set` at the ends; an empty set means white space. */
export function stripped(text: string, set: string, where: "both" | "start" | "end"): string {
  const strip = (char: string | undefined): boolean =>
    char !== undefined && (set === "" ? /\s/.test(char) : set.includes(char));
  let start = 0;
  let end = text.length;
  if (where !== "end") while (start < end && strip(text[start])) start++;
  if (where !== "start") while (end > start && strip(text[end - 1])) end--;
  return text.slice(start, end);
}

/** The first `count` finds of `old` replaced, all with a negative count. */
export function replaced(text: string, old: string, replacement: string, count: number, budget: Budget): string {
  budget.text(text.length);
  if (old === "") throw new TemplateError("replace: the text to replace is empty");
  const parts = text.split(old);
  const finds = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  budget.text(text.length + finds * (replacement.length - old.length));
  budget.list(parts.length);
  return [...parts.slice(0, finds), parts.slice(finds).join(old)].join(replacement);
}

/** Split as Python splits: at runs of white space without a separator, at most `limit` times unless negative. */
export function splitText(text: string, separator: string | null, limit: number, budget: Budget): string[] {
  budget.text(text.length);
  if (separator === "") throw new TemplateError("split: the separator is empty");
  if (separator !== null) {
    const parts = text.split(separator);
    budget.list(parts.length);
    return limit < 0 || parts.length <= limit + 1
      ? parts
      : [...parts.slice(0, limit), parts.slice(limit).join(separator)];
  }
  const parts: string[] = [];
  let rest = text.trimStart();
  while (rest !== "" && parts.length !== limit) {
    const end = rest.search(/\s/);
    if (end === -1) break;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
    budget.spend(1);
  }
  if (rest !== "") parts.push(limit < 0 ? rest.trimEnd() : rest);
  return parts;
}

/** Lines without their ends; a final line break starts no further line. */
export function linesOf(text: string, budget: Budget): string[] {
  budget.text(text.length);
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  if (lines.at(-1) === "") lines.pop();
  budget.list(lines.length);
  return lines;
}
