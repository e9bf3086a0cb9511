import type { LogFields, Logger, LogLevel } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Formatter } from "./format.ts";
import { type LogRecord, levelWeight } from "./record.ts";
import type { LineSink } from "./sinks.ts";

/** A destination: what it takes, how it writes it, where to. */
export interface LogHandler {
  /** Lowest weight it takes. */
  readonly threshold: number;
  readonly format: Formatter;
  readonly sink: LineSink;
}

/** Who logs where: the answer to a `logging` section, or to the command line alone. */
export interface LogTree {
  readonly root: LogNode;
  /** By logger name; a name without a node belongs to its nearest dotted parent, at last to the root. */
  readonly loggers: ReadonlyMap<string, LogNode>;
}

export interface LogNode {
  /** Lowest weight logged, null = as the parent. */
  readonly threshold: number | null;
  readonly handlers: readonly LogHandler[];
  /** Also to the parent's handlers. */
  readonly propagate: boolean;
}

/** The daemon's log. Loggers stay valid when the tree under them changes. */
export interface Logs {
  named(name: string): Logger;
  /** Puts another tree in force and closes the sinks that only the old one used. */
  use(tree: LogTree): void;
}

export function createLogs(clock: Clock, first: LogTree): Logs {
  let tree = first;
  let routes = new Map<string, Route>();

  const routeOf = (name: string): Route => {
    let route = routes.get(name);
    if (route === undefined) {
      route = resolve(tree, name);
      routes.set(name, route);
    }
    return route;
  };

  const emit = (name: string, level: LogLevel, message: string, fields: LogFields | null): void => {
    const { threshold, handlers } = routeOf(name);
    const weight = levelWeight[level];
    if (weight < threshold) return;
    const record: LogRecord = { at: clock.wallNow(), level, logger: name, message, fields };
    for (const handler of handlers) {
      if (weight >= handler.threshold) handler.sink.write(`${handler.format(record)}\n`);
    }
  };

  return {
    named: (name) => ({
      debug: (message, fields) => emit(name, "debug", message, fields ?? null),
      info: (message, fields) => emit(name, "info", message, fields ?? null),
      warning: (message, fields) => emit(name, "warning", message, fields ?? null),
      error: (message, fields) => emit(name, "error", message, fields ?? null),
      critical: (message, fields) => emit(name, "critical", message, fields ?? null),
      enabled: (level) => levelWeight[level] >= routeOf(name).threshold,
    }),
    use(next) {
      const kept = new Set(sinksOf(next));
      const old = sinksOf(tree);
      tree = next;
      routes = new Map();
      for (const sink of old) if (!kept.has(sink)) sink.close();
    },
  };
}

interface Route {
  readonly threshold: number;
  readonly handlers: readonly LogHandler[];
}

/** Follows the dotted name up to the root, collecting handlers until a node does not propagate. */
function resolve(tree: LogTree, name: string): Route {
  const handlers: LogHandler[] = [];
  let threshold: number | null = null;
  let collecting = true;
  for (let path: string | null = name; path !== null; path = parentOf(path)) {
    const node = tree.loggers.get(path);
    if (node === undefined) continue;
    threshold ??= node.threshold;
    if (collecting) handlers.push(...node.handlers);
    collecting &&= node.propagate;
  }
  if (collecting) handlers.push(...tree.root.handlers);
  return { threshold: threshold ?? tree.root.threshold ?? 0, handlers };
}

function parentOf(name: string): string | null {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? null : name.slice(0, dot);
}

function sinksOf({ root, loggers }: LogTree): Set<LineSink> {
  return new Set([root, ...loggers.values()].flatMap((node) => node.handlers.map((handler) => handler.sink)));
}
