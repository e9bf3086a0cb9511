import type { EpochMs } from "../platform/clock.ts";

/** Where events of a DSN go, and what authorises them. */
export interface SentryProject {
  readonly url: string;
  readonly publicKey: string;
  readonly secretKey: string | null;
}

/** Reads `https://KEY@host/path/PROJECT`; null when it is no DSN. */
export function sentryProject(dsn: string): SentryProject | null {
  if (!URL.canParse(dsn)) return null;
  const { protocol, username, password, host, pathname } = new URL(dsn);
  const project = /^(.*)\/(\d+)\/?$/.exec(pathname);
  if ((protocol !== "http:" && protocol !== "https:") || username === "" || project === null) return null;
  const url = `${protocol}//${host}${project[1]}/api/${project[2]}/envelope/`;
  return { url, publicKey: username, secretKey: password || null };
}

/** One message event (running 12.2). */
export interface SentryEvent {
  /** 32 hex digits. */
  readonly id: string;
  readonly at: EpochMs;
  readonly message: string;
  readonly level: string;
  readonly fingerprint: readonly string[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly environment: string | null;
  readonly serverName: string;
  readonly client: { readonly name: string; readonly version: string };
}

/**
 * The event as Sentry's envelope: three lines of JSON, for the envelope, its one item, and the event.
 *
 * @param textCharsMax longer texts are cut
 */
export function envelope(event: SentryEvent, textCharsMax: number): string {
  const cut = (text: string): string =>
    text.length <= textCharsMax ? text : `${text.slice(0, Math.max(0, textCharsMax - 3))}...`;
  const extra = Object.entries(event.extra).map(([key, value]) => [
    key,
    typeof value === "string" ? cut(value) : value,
  ]);
  const payload = JSON.stringify({
    event_id: event.id,
    timestamp: event.at / 1_000,
    platform: "other",
    logger: event.client.name,
    level: event.level,
    message: cut(event.message),
    fingerprint: event.fingerprint,
    extra: Object.fromEntries(extra),
    server_name: event.serverName,
    sdk: event.client,
    ...(event.environment === null ? {} : { environment: event.environment }),
  });
  const header = { event_id: event.id, sent_at: new Date(event.at).toISOString(), sdk: event.client };
  const item = { type: "event", content_type: "application/json", length: Buffer.byteLength(payload) };
  return `${JSON.stringify(header)}\n${JSON.stringify(item)}\n${payload}\n`;
}

/** For how long an answer asks to be left alone; null when it does not. A limit on errors counts, one on other kinds does not. */
export function pauseSeconds(
  status: number,
  rateLimits: string | null,
  retryAfter: string | null,
  now: EpochMs,
): number | null {
  const limits = (rateLimits ?? "").split(",").flatMap((limit) => {
    const [seconds = "", categories = ""] = limit.trim().split(":");
    const concerned = categories === "" || categories.split(";").some((name) => name === "error" || name === "default");
    return concerned && /^\d+$/.test(seconds) ? [Number(seconds)] : [];
  });
  if (limits.length > 0) return Math.max(...limits);
  if (status !== 429) return null;
  if (/^\d+$/.test(retryAfter ?? "")) return Number(retryAfter);
  const date = Date.parse(retryAfter ?? "");
  return Number.isNaN(date) ? DEFAULT_PAUSE_SECONDS : Math.max(0, (date - now) / 1_000);
}

const DEFAULT_PAUSE_SECONDS = 60;
