/** Turns what a schema refused into problems with a place in the file, in the words of section 2. */
import { z } from "zod";
import { quoted } from "../schedule/schedule-error.ts";
import { nearest } from "./nearest.ts";
import type { Step } from "./problem.ts";
import type { Raw } from "./yaml/raw.ts";

/** Where inside a value, which of key and value, and what is wrong. `range`: its type read it, its value will not do. */
export interface Refusal {
  readonly path: readonly Step[];
  readonly target: "key" | "value";
  readonly problem: string;
  readonly range: boolean;
}

/** What a schema found wrong with a value. */
export function refusals(issues: readonly z.core.$ZodIssue[], value: Raw, type: z.ZodType): Refusal[] {
  const found: Refusal[] = [];
  /** Keys missing in one mapping are told together, as one problem of the mapping. */
  const missing = new Map<string, { readonly path: readonly Step[]; readonly keys: string[] }>();
  const visit = (issue: z.core.$ZodIssue, parent: readonly Step[]): void => {
    const path = [...parent, ...issue.path.filter((step) => typeof step !== "symbol")];
    if (issue.code === "invalid_union") {
      for (const inner of closestAlternative(issue.errors)) visit(inner, path);
    } else if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys)
        found.push({
          path: [...path, key],
          target: "key",
          problem: unexpectedKey(key, keysAt(type, path)),
          range: false,
        });
    } else if (isMissing(value, path)) {
      const map = path.slice(0, -1);
      const keys = missing.get(map.join("\0"))?.keys ?? [];
      keys.push(String(path.at(-1)));
      missing.set(map.join("\0"), { path: map, keys });
    } else {
      found.push({ path, target: "value", problem: issue.message, range: isRange(issue) });
    }
  };
  for (const issue of issues) visit(issue, []);
  for (const { path, keys } of missing.values()) {
    const names = keys.sort().map(quoted).join(", ");
    found.push({ path, target: "value", problem: `required key(s) ${names} not found`, range: false });
  }
  return found;
}

/** A key that a mapping does not have, and the one that was probably meant. */
export function unexpectedKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `unexpected key not in schema ${quoted(key)}${meant === null ? "" : `; did you mean ${quoted(meant)}?`}`;
}

/** Of the alternatives a value could have been, the one whose kind it has; the last when it has none's. */
function closestAlternative(alternatives: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] {
  const sameKind = alternatives.find((issues) => issues.every(isOfKind));
  return sameKind ?? alternatives.at(-1) ?? [];
}

/** Whether the value itself was of the right kind, and only something inside it, or its range, is wrong. */
function isOfKind(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0 || isRange(issue)) return true;
  return issue.code === "unrecognized_keys" || issue.code === "invalid_union";
}

function isRange(issue: z.core.$ZodIssue): boolean {
  return issue.code === "custom" && issue.params?.range === true;
}

function isMissing(value: Raw, path: readonly Step[]): boolean {
  let here: Raw | undefined = value;
  for (const step of path) {
    if (typeof here !== "object" || !Object.hasOwn(here, step)) return true;
    here = (here as { readonly [step: Step]: Raw })[step];
  }
  return false;
}

/** The keys a schema knows at a place. */
function keysAt(type: z.core.$ZodType, path: readonly Step[]): readonly string[] {
  if (type instanceof z.ZodOptional || type instanceof z.ZodDefault) return keysAt(type.unwrap(), path);
  if (type instanceof z.ZodUnion) return type.options.flatMap((option) => keysAt(option, path));
  const [step, ...rest] = path;
  if (type instanceof z.ZodArray) return step === undefined ? [] : keysAt(type.element, rest);
  if (type instanceof z.ZodRecord) return step === undefined ? [] : keysAt(type.valueType, rest);
  if (!(type instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(type.shape);
  const inner = type.shape[step];
  return inner === undefined ? [] : keysAt(inner, rest);
}
