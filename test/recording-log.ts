import type { Logger, LogLevel } from "../src/contract/log.ts";

/** A log that keeps what it is told, as `LEVEL message`. */
export function recordingLog(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: LogLevel) => (message: string) => {
    lines.push(`${level.toUpperCase()} ${message}`);
  };
  return {
    lines,
    log: {
      debug: write("debug"),
      info: write("info"),
      warning: write("warning"),
      error: write("error"),
      critical: write("critical"),
      enabled: () => true,
    },
  };
}
