import type { LoggingConfig } from "../../config/model.ts";
import { type Formatter, patternFormat, plainFormat } from "./format.ts";
import type { LogHandler, LogNode, LogTree } from "./logs.ts";
import { levelThreshold } from "./record.ts";
import { fileSink, type LineSink, rotatingSink } from "./sinks.ts";

/** Trouble with a `logging` section; the message names the place in it and what would be right. */
export class LoggingProblem extends Error {}

type Texts = Readonly<Record<string, unknown>>;

/**
 * Builds what a `logging` section describes (config 7.9): the subset of dictConfig that operators use. Its scalars are text, so
 * numbers and switches are read from text here.
 *
 * @param standard the sinks of `ext://sys.stdout` and `ext://sys.stderr`
 * @throws LoggingProblem; files that were opened by then are closed again
 */
export function logTree(
  section: LoggingConfig,
  standard: { readonly stdout: LineSink; readonly stderr: LineSink },
): LogTree {
  const opened: LineSink[] = [];
  const keep = (sink: LineSink): LineSink => {
    opened.push(sink);
    return sink;
  };
  try {
    const formatters = mapped(section.formatters, "formatters", readFormatter);
    const handlers = mapped(section.handlers, "handlers", (map, path) =>
      readHandler(map, path, formatters, standard, keep),
    );
    const loggers = mapped(section.loggers, "loggers", (map, path) => readNode(map, path, handlers));
    const root =
      section.root === undefined
        ? { threshold: 30, handlers: [], propagate: false }
        : readNode(asMap(section.root, "root"), "root", handlers);
    return { root: { ...root, threshold: root.threshold ?? 30 }, loggers };
  } catch (error) {
    for (const sink of opened) sink.close();
    throw error;
  }
}

function readFormatter(map: Texts, path: string): Formatter {
  const pattern = text(map, "format", path);
  if (pattern === null) return plainFormat;
  const made = patternFormat(pattern, text(map, "style", path) ?? "%", text(map, "datefmt", path));
  if (typeof made !== "function") throw new LoggingProblem(`logging.${path}: ${made.problem}`);
  return made;
}

function readHandler(
  map: Texts,
  path: string,
  formatters: ReadonlyMap<string, Formatter>,
  standard: { readonly stdout: LineSink; readonly stderr: LineSink },
  keep: (sink: LineSink) => LineSink,
): LogHandler {
  const formatterName = text(map, "formatter", path);
  const format = formatterName === null ? plainFormat : formatters.get(formatterName);
  if (format === undefined) {
    throw new LoggingProblem(`logging.${path}.formatter: there is no formatter ${JSON.stringify(formatterName)}`);
  }
  return { threshold: threshold(map, path) ?? 0, format, sink: readSink(map, path, standard, keep) };
}

function readSink(
  map: Texts,
  path: string,
  standard: { readonly stdout: LineSink; readonly stderr: LineSink },
  keep: (sink: LineSink) => LineSink,
): LineSink {
  const kind = text(map, "class", path);
  switch (kind) {
    case "logging.StreamHandler": {
      const stream = text(map, "stream", path) ?? "ext://sys.stderr";
      if (stream === "ext://sys.stdout") return standard.stdout;
      if (stream === "ext://sys.stderr") return standard.stderr;
      throw new LoggingProblem(`logging.${path}.stream: ${stream} is not ext://sys.stdout or ext://sys.stderr`);
    }
    case "logging.FileHandler":
    case "logging.handlers.WatchedFileHandler":
      return opening(path, () => keep(fileSink(filename(map, path), kind !== "logging.FileHandler")));
    case "logging.handlers.RotatingFileHandler":
      return opening(path, () =>
        keep(rotatingSink(filename(map, path), whole(map, "maxBytes", path), whole(map, "backupCount", path))),
      );
    default:
      throw new LoggingProblem(
        `logging.${path}.class: ${kind ?? "missing"} is not one of logging.StreamHandler, logging.FileHandler, logging.handlers.WatchedFileHandler, logging.handlers.RotatingFileHandler`,
      );
  }
}

function readNode(map: Texts, path: string, handlers: ReadonlyMap<string, LogHandler>): LogNode {
  const names = map.handlers ?? [];
  if (!Array.isArray(names)) throw new LoggingProblem(`logging.${path}.handlers: a list of handler names is expected`);
  return {
    threshold: threshold(map, path),
    handlers: names.map((name: unknown) => {
      const handler = handlers.get(String(name));
      if (handler === undefined)
        throw new LoggingProblem(`logging.${path}.handlers: there is no handler ${JSON.stringify(name)}`);
      return handler;
    }),
    propagate: !/^(no|false|off|0|n)$/i.test(text(map, "propagate", path) ?? "yes"),
  };
}

function mapped<T>(section: unknown, name: string, read: (map: Texts, path: string) => T): ReadonlyMap<string, T> {
  if (section === undefined || section === "") return new Map();
  return new Map(
    Object.entries(asMap(section, name)).map(([key, value]) => [
      key,
      read(asMap(value, `${name}.${key}`), `${name}.${key}`),
    ]),
  );
}

function asMap(value: unknown, path: string): Texts {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LoggingProblem(`logging.${path}: a mapping is expected`);
  }
  return value as Texts;
}

function text(map: Texts, key: string, path: string): string | null {
  const value = map[key];
  if (value === undefined) return null;
  if (typeof value !== "string") throw new LoggingProblem(`logging.${path}.${key}: a text is expected`);
  return value;
}

function threshold(map: Texts, path: string): number | null {
  const name = text(map, "level", path);
  if (name === null) return null;
  const weight = levelThreshold(name);
  if (weight === null)
    throw new LoggingProblem(`logging.${path}.level: ${name} is not DEBUG, INFO, WARNING, ERROR or CRITICAL`);
  return weight;
}

function filename(map: Texts, path: string): string {
  const name = text(map, "filename", path);
  if (name === null || name === "") throw new LoggingProblem(`logging.${path}.filename: a file name is needed`);
  return name;
}

function whole(map: Texts, key: string, path: string): number {
  const value = text(map, key, path) ?? "0";
  if (!/^\d+$/.test(value)) throw new LoggingProblem(`logging.${path}.${key}: ${value} is not a whole number`);
  return Number(value);
}

function opening(path: string, open: () => LineSink): LineSink {
  try {
    return open();
  } catch (error) {
    if (error instanceof LoggingProblem || !(error instanceof Error)) throw error;
    throw new LoggingProblem(`logging.${path}: ${error.message}`);
  }
}
