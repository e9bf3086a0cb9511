/** Facts beside a message, for the JSON form; the text form shows the message alone. No secret, no environment value. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export type LogLevel = "debug" | "info" | "warning" | "error" | "critical";

/**
 * Where a room says what happened (running 21). A message stands alone: it names the job, what is wrong and what to do.
 * Logging never throws and never waits.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  critical(message: string, fields?: LogFields): void;
  /** Whether a line of this level would be written, for messages that cost something to build. */
  enabled(level: LogLevel): boolean;
}

/** One text line and its level, as `text lines LEVEL:logger:message` are made from. */
export type LoggerNamed = (
  name: "cronstable" | "cronstable.config" | "cronstable.state" | "cronstable.jobapi" | "statsd" | "aiohttp.access",
) => Logger;
