/** `${VAR}` in the values of a file (config 3). */
import type { Step } from "./problem.ts";

/** Values by name; what is not there is not set. */
export type Variables = Readonly<Record<string, string | undefined>>;

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(\}|:-)/y;

/**
 * Replaces `${NAME}`, `${NAME:-text}` and `$$` in one pass, linear in the text; everything else stays as written.
 *
 * @param onUnset called with each name that is not set and has no text to stand in; the reference then stays
 */
export function expandText(text: string, variables: Variables, onUnset: (name: string) => void): string {
  let result = "";
  let kept = 0;
  for (let dollar = text.indexOf("$"); dollar !== -1; dollar = text.indexOf("$", dollar + 1)) {
    if (text[dollar + 1] === "$") {
      result += `${text.slice(kept, dollar)}$`;
      dollar++;
      kept = dollar + 1;
      continue;
    }
    reference.lastIndex = dollar;
    const [opening = "", name = "", closing] = reference.exec(text) ?? [];
    if (opening === "") continue;
    const standIn = closing === ":-";
    const end = standIn ? text.indexOf("}", dollar + opening.length) : dollar + opening.length - 1;
    if (end === -1) break; // no brace closes this one, nor any after it
    const value = variables[name];
    if (value === undefined && !standIn) {
      onUnset(name);
      continue;
    }
    const replacement = standIn && (value ?? "") === "" ? text.slice(dollar + opening.length, end) : (value ?? "");
    result += text.slice(kept, dollar) + replacement;
    kept = end + 1;
    dollar = end;
  }
  return kept === 0 ? text : result + text.slice(kept);
}

/** Which parts of a value are left as they are: `true` the whole, otherwise by key. In a list, each item alike. */
export type Untouched = true | { readonly [key: string]: Untouched };

/** Expands every text in a value; parts without a `$` are returned as they are. */
export function expandValue<T>(
  value: T,
  untouched: Untouched | undefined,
  variables: Variables,
  onUnset: (path: readonly Step[], name: string) => void,
): T {
  return expand(value, untouched, { variables, onUnset, path: [] }) as T;
}

interface Expansion {
  readonly variables: Variables;
  readonly onUnset: (path: readonly Step[], name: string) => void;
  readonly path: Step[];
}

function expand(value: unknown, untouched: Untouched | undefined, expansion: Expansion): unknown {
  if (untouched === true) return value;
  const { path, variables, onUnset } = expansion;
  if (typeof value === "string")
    return value.includes("$") ? expandText(value, variables, (name) => onUnset([...path], name)) : value;
  if (typeof value !== "object" || value === null) return value;
  const within = (step: Step, part: unknown, partUntouched: Untouched | undefined): unknown => {
    path.push(step);
    const expanded = expand(part, partUntouched, expansion);
    path.pop();
    return expanded;
  };
  if (Array.isArray(value)) {
    const items = value.map((item, index) => within(index, item, untouched));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const expanded = entries.map(([key, part]) => [key, within(key, part, untouched?.[key])] as const);
  return expanded.every(([, part], index) => part === entries[index]?.[1]) ? value : Object.fromEntries(expanded);
}

const commandOfShell: Untouched = { command: true, shell: true };
const reportHook: Untouched = { report: { shell: true } };

/** Left to the shell that runs them (config 3); by position, so an `environment` entry called `command` is expanded. */
export const untouchedInJob: Untouched = {
  ...commandOfShell,
  verify: commandOfShell,
  onFailure: reportHook,
  onPermanentFailure: reportHook,
  onSuccess: reportHook,
  onLate: reportHook,
};

export const untouchedInDag: Untouched = { tasks: untouchedInJob };

/** Jobs and DAGs are expanded one by one, once their own types have read them. */
export const untouchedInFile: { readonly [key: string]: Untouched } = {
  defaults: untouchedInJob,
  jobs: true,
  dags: true,
  notify: reportHook,
  logging: true,
};
