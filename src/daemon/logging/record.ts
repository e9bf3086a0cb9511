import type { LogFields, LogLevel } from "../../contract/log.ts";
import type { EpochMs } from "../../platform/clock.ts";

/** One thing that was logged. */
export interface LogRecord {
  readonly at: EpochMs;
  readonly level: LogLevel;
  readonly logger: string;
  readonly message: string;
  readonly fields: LogFields | null;
}

/** How much a level weighs, and the weight of a threshold by any name the command line and the configuration accept. */
export const levelWeight: Readonly<Record<LogLevel, number>> = {
  debug: 10,
  info: 20,
  warning: 30,
  error: 40,
  critical: 50,
};

const thresholdByName = new Map<string, number>([
  ["NOTSET", 0],
  ["DEBUG", 10],
  ["INFO", 20],
  ["WARNING", 30],
  ["WARN", 30],
  ["ERROR", 40],
  ["CRITICAL", 50],
  ["FATAL", 50],
]);

/** The lowest weight that is written under a level's name, in any case; null for a name that is none (config 12.1). */
export function levelThreshold(name: string): number | null {
  return thresholdByName.get(name.toUpperCase()) ?? null;
}
