import { isatty } from "node:tty";
import { type Formatter, jsonFormat, plainFormat, terminalFormat } from "./format.ts";
import type { LogTree } from "./logs.ts";
import type { LineSink } from "./sinks.ts";

export interface StandardOptions {
  /** Lowest weight that is logged (levelThreshold). */
  readonly threshold: number;
  /** Null: text, with times when stderr is a terminal. */
  readonly format: "text" | "json" | null;
}

/** What is in force without a `logging` section: everything on stderr, one line each (running 21). */
export function standardTree({ threshold, format }: StandardOptions, stderr: LineSink): LogTree {
  return {
    root: { threshold, handlers: [{ threshold: 0, format: formatterFor(format), sink: stderr }], propagate: false },
    loggers: new Map(),
  };
}

/** For commands that end soon: written at once, whoever reads. */
export const directStderr: LineSink = {
  write: (line) => process.stderr.write(line),
  close: () => {},
};

function formatterFor(format: StandardOptions["format"]): Formatter {
  if (format === "json") return jsonFormat;
  return format === null && isatty(2) ? terminalFormat : plainFormat;
}
