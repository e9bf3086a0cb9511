/** Classic user crontabs (config 9): what their lines say. Pure. */
import { parseSchedule } from "../schedule/expression.ts";
import { quoted, ScheduleError } from "../schedule/schedule-error.ts";

/** What a line says that is neither blank nor a comment. */
type Reading =
  | { readonly kind: "assignment"; readonly name: string; readonly value: string }
  | { readonly kind: "entry"; readonly schedule: string; readonly command: string }
  | { readonly kind: "wrong"; readonly problem: string };

/** `line` counts from 1. */
export type CrontabLine = Reading & { readonly line: number };

const assignment = /^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;

/** Lines end at a line feed and nothing else; a carriage return before it goes. */
export function* crontabLines(text: string): Generator<CrontabLine> {
  for (const [index, raw] of text.split("\n").entries()) {
    const content = trimmed(raw.endsWith("\r") ? raw.slice(0, -1) : raw);
    if (content !== "" && !content.startsWith("#")) yield { line: index + 1, ...readLine(content) };
  }
}

/** C0 but for the tab, DEL, C1, and the separators that other programs take for line ends. */
const control = /(?!\t)[\p{Cc}\u2028\u2029]/u;

function readLine(content: string): Reading {
  if (control.test(content)) return wrong(`control character in ${quoted(content)}`);
  const [, name, value = ""] = assignment.exec(content) ?? [];
  if (name !== undefined) return { kind: "assignment", name, value: unquoted(value) };
  return content.startsWith("@") ? readNickname(content) : readColumns(content);
}

const nicknames: ReadonlyMap<string, string> = new Map([
  ["@reboot", "@reboot"],
  ["@yearly", "@yearly"],
  ["@annually", "@annually"],
  ["@monthly", "@monthly"],
  ["@weekly", "@weekly"],
  ["@daily", "@daily"],
  ["@midnight", "@daily"],
  ["@hourly", "@hourly"],
]);

function readNickname(content: string): Reading {
  const [, nickname = "", command = ""] = /^(\S+)[ \t]*(.*)$/.exec(content) ?? [];
  const schedule = nicknames.get(nickname);
  if (schedule === undefined) {
    const supported = [...nicknames.keys()].sort().join(", ");
    return wrong(`unknown schedule nickname ${quoted(nickname)}; supported: ${supported}`);
  }
  return command === "" ? wrong(`schedule ${quoted(nickname)} has no command`) : entry(schedule, command);
}

function readColumns(content: string): Reading {
  const [, columns, command] = /^((?:[^ \t]+[ \t]+){5})(.+)$/.exec(content) ?? [];
  if (columns === undefined || command === undefined)
    return wrong(
      "not a valid crontab line: expected 'minute hour day-of-month month day-of-week command', an @nickname entry, " +
        `or a NAME=value assignment; got ${quoted(content)}`,
    );
  return entry(
    columns
      .trim()
      .split(/[ \t]+/)
      .join(" "),
    command,
  );
}

/** Cron hands what follows a bare `%` to the command's stdin; here that is refused rather than run differently. */
function entry(schedule: string, command: string): Reading {
  if (/(?<!\\)%/.test(command))
    return wrong(
      `unescaped '%' in command: cron would pass what follows it to stdin, which is not supported; write \\%`,
    );
  return { kind: "entry", schedule, command: command.replaceAll("\\%", "%") };
}

function wrong(problem: string): Reading {
  return { kind: "wrong", problem };
}

function trimmed(line: string): string {
  return line.replace(/^[ \t]+|[ \t]+$/g, "");
}

/** Without one pair of matching outer quotes; nothing else in a value means anything. */
function unquoted(value: string): string {
  const quote = value[0];
  const isPaired = (quote === "'" || quote === '"') && value.length >= 2 && value.endsWith(quote);
  return isPaired ? value.slice(1, -1) : value;
}

/** Whether a name alone says that a file is a crontab, or a YAML file; null where the content decides (1.2). */
export function kindByName(path: string): "crontab" | "yaml" | null {
  const name = path.replace(/^.*[/\\]/, "").toLowerCase();
  if (name === "crontab" || name.endsWith(".crontab") || name.endsWith(".cron")) return "crontab";
  return name.endsWith(".yaml") || name.endsWith(".yml") ? "yaml" : null;
}

/** Whether the first line that says anything is one of a crontab. */
export function looksLikeCrontab(text: string): boolean {
  const first = text
    .split("\n")
    .map(trimmed)
    .find((line) => line.trim() !== "" && !line.startsWith("#"));
  if (first === undefined) return false;
  if (assignment.test(first) || first.startsWith("@")) return true;
  const columns = first.trim().split(/\s+/);
  return columns.length >= 6 && isSchedule(columns.slice(0, 5).join(" "));
}

function isSchedule(expression: string): boolean {
  try {
    parseSchedule(expression, "any");
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}
