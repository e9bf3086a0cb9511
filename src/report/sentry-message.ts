/** What the main thread asks of the Sentry thread. Each order gets one answer with its `id`. */
export interface SentryOrder {
  readonly id: number;
  readonly dsn: string;
  readonly environment: string | null;
  readonly serverName: string;
  readonly message: string;
  readonly level: string;
  readonly fingerprint: readonly string[];
  readonly extra: Readonly<Record<string, unknown>>;
  /** Texts longer than this are cut. */
  readonly textCharsMax: number;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly limitMs: number;
}

export interface SentryAnswer {
  readonly id: number;
  /** Null when the server has taken the event. Never holds the DSN. */
  readonly problem: string | null;
}
