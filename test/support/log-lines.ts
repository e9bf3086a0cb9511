import type { Logger, LogLevel } from "../../src/contract/log.ts";

export interface LogLines {
  readonly log: Logger;
  /** `ERROR message`, in order, every level. */
  readonly lines: string[];
  /** Messages and fields alike, for what must not be in any of them. */
  everything(): string;
}

/** A logger that keeps what is said to it. */
export function logLines(): LogLines {
  const lines: string[] = [];
  const fields: string[] = [];
  const at =
    (level: LogLevel): Logger["info"] =>
    (message, more) => {
      lines.push(`${level.toUpperCase()} ${message}`);
      if (more !== undefined) fields.push(JSON.stringify(more));
    };
  return {
    log: {
      debug: at("debug"),
      info: at("info"),
      warning: at("warning"),
      error: at("error"),
      critical: at("critical"),
      enabled: () => true,
    },
    lines,
    everything: () => [...lines, ...fields].join("\n"),
  };
}
