import type { LogRecord } from "./record.ts";

/** Makes the text of a record, without a final newline. */
export type Formatter = (record: LogRecord) => string;

/** `LEVEL:logger:message` (running 21), what existing log parsers read. */
export const plainFormat: Formatter = ({ level, logger, message }) => `${level.toUpperCase()}:${logger}:${message}`;

/** The plain form behind a local time, for a person at a terminal. */
export const terminalFormat: Formatter = (record) =>
  `${localTime(record.at, "%Y-%m-%d %H:%M:%S")} ${plainFormat(record)}`;

/** One JSON object per line. */
export const jsonFormat: Formatter = ({ at, level, logger, message, fields }) =>
  JSON.stringify({ time: new Date(at).toISOString(), level, logger, message, ...fields });

const placeholders: Readonly<Record<string, (record: LogRecord, dateFormat: string | null) => string>> = {
  asctime: (record, dateFormat) =>
    dateFormat === null
      ? `${localTime(record.at, "%Y-%m-%d %H:%M:%S")},${String(record.at % 1000).padStart(3, "0")}`
      : localTime(record.at, dateFormat),
  levelname: ({ level }) => level.toUpperCase(),
  name: ({ logger }) => logger,
  message: ({ message }) => message,
  process: () => String(process.pid),
  created: ({ at }) => (at / 1000).toFixed(6),
  msecs: ({ at }) => String(Math.floor(at % 1000)),
};

const styles: Readonly<Record<string, RegExp>> = {
  "%": /%%|%\(([a-z]+)\)(-?\d*)s|%\(([a-z]+)\)\d*d/g,
  "{": /\{\{|\}\}|\{([a-z]+)[^}]*\}/g,
  $: /\$\$|\$\{([a-z]+)\}|\$([a-z]+)/g,
};

/**
 * A formatter written the way the `logging` section writes them (config 7.9).
 *
 * @param dateFormat for `asctime`, strftime's letters; null = `YYYY-MM-DD HH:MM:SS,mmm`
 * @returns a message when the text or style cannot be used
 */
export function patternFormat(
  pattern: string,
  style: string,
  dateFormat: string | null,
): Formatter | { readonly problem: string } {
  const form = styles[style];
  if (form === undefined) return { problem: `style ${JSON.stringify(style)} is not one of %, {, $` };
  const parts: (string | ((record: LogRecord) => string))[] = [];
  let end = 0;
  for (const match of pattern.matchAll(form)) {
    parts.push(pattern.slice(end, match.index));
    end = match.index + match[0].length;
    const name = match[1] ?? match[3] ?? (style === "$" ? match[2] : undefined);
    if (name === undefined) {
      parts.push(match[0].slice(0, 1));
      continue;
    }
    const make = placeholders[name];
    if (make === undefined) {
      return { problem: `format names ${name}, which is not one of ${Object.keys(placeholders).join(", ")}` };
    }
    const width = style === "%" ? Number(match[2] ?? 0) : 0;
    parts.push((record) => padded(make(record, dateFormat), width));
  }
  parts.push(pattern.slice(end));
  return (record) => parts.map((part) => (typeof part === "string" ? part : part(record))).join("");
}

function padded(text: string, width: number): string {
  return width < 0 ? text.padEnd(-width) : text.padStart(width);
}

/** strftime's common letters, in local time. */
function localTime(at: number, format: string): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  const offsetMinutes = -date.getTimezoneOffset();
  const offset = Math.abs(offsetMinutes);
  const letters: Readonly<Record<string, string>> = {
    Y: String(date.getFullYear()),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    H: two(date.getHours()),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    z: `${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(offset / 60))}${two(offset % 60)}`,
    f: String(Math.floor(at % 1000) * 1000).padStart(6, "0"),
    "%": "%",
  };
  return format.replaceAll(/%([A-Za-z%])/g, (whole, letter: string) => letters[letter] ?? whole);
}
