import type { JobPause, PauseChannel } from "../contract/pause.ts";
import type { EpochMs } from "../platform/clock.ts";
import { readTimestamp } from "../schedule/timestamp.ts";

/** How long a pause may be, and is when nobody says. */
const PAUSE_SECONDS_MAX = 2_592_000;
const PAUSE_SECONDS_DEFAULT = 3600;

const NOTE_MAX = 500;
const BY_MAX = 100;

/** What a request body asks for, its fields typed; whether they make sense together is judged after the job is known to exist. */
export interface PauseRequest {
  readonly durationSeconds: number | null;
  readonly until: EpochMs | null;
  readonly note: string;
  readonly by: string;
}

/** A request that cannot be honoured; `error` is the answer's text (running 16.1). */
export interface BadRequest {
  readonly kind: "bad";
  readonly error: string;
}

type Read<T> = { readonly kind: "ok"; readonly value: T } | BadRequest;

/**
 * Reads a pause request's body, which may be empty. The first half of its checks; the unknown job's 404 comes between this and
 * `decidePause`.
 */
export function readPauseRequest(body: string): Read<PauseRequest> {
  const fields = readFields(body);
  return fields.kind === "bad" ? fields : pauseRequestFrom(fields.value);
}

/** The same for a request that comes as values, as from MCP. */
export function pauseRequestFrom(fields: Readonly<Record<string, unknown>>): Read<PauseRequest> {
  const { durationSeconds, until, note, by } = withoutNulls(fields);
  if (durationSeconds !== undefined && !isInteger(durationSeconds)) return bad("durationSeconds must be an integer");
  if (until !== undefined && typeof until !== "string") return bad("until must be an ISO-8601 timestamp string");
  const untilAt = until === undefined ? null : instantOf(until);
  if (until !== undefined && untilAt === null) return bad("until is not a valid ISO-8601 timestamp");
  if (note !== undefined && typeof note !== "string") return bad("note must be a string");
  if (by !== undefined && typeof by !== "string") return bad("by must be a string");
  const value = { durationSeconds: durationSeconds ?? null, until: untilAt, note: note ?? "", by: by ?? "" };
  return { kind: "ok", value };
}

/** The pause that a request for a known job makes, from `now` on. It takes the place of one that is in force. */
export function decidePause(request: PauseRequest, channel: PauseChannel, now: EpochMs): Read<JobPause> {
  const { durationSeconds, until, note, by } = request;
  if (durationSeconds !== null && until !== null) return bad("give durationSeconds or until, not both");
  const maximum = `${PAUSE_SECONDS_MAX} seconds`;
  const seconds = durationSeconds ?? PAUSE_SECONDS_DEFAULT;
  if (seconds < 1 || seconds > PAUSE_SECONDS_MAX) {
    return bad(`durationSeconds must be between 1 and ${PAUSE_SECONDS_MAX}`);
  }
  if (until !== null && until <= now) return bad("until is in the past");
  if (until !== null && until - now > PAUSE_SECONDS_MAX * 1000) return bad(`until is more than ${maximum} away`);
  if (characters(note) > NOTE_MAX) return bad(`note is longer than ${NOTE_MAX} characters`);
  if (characters(by) > BY_MAX) return bad(`by is longer than ${BY_MAX} characters`);
  const pause = { since: now, until: until ?? now + seconds * 1000, note, by: by || "api", channel };
  return { kind: "ok", value: pause };
}

/** Reads a resume request's body: who asks, of any length. */
export function readResumeRequest(body: string): Read<{ readonly by: string }> {
  const fields = readFields(body);
  return fields.kind === "bad" ? fields : resumeRequestFrom(fields.value);
}

/** The same for a request that comes as values, as from MCP. */
export function resumeRequestFrom(fields: Readonly<Record<string, unknown>>): Read<{ readonly by: string }> {
  const { by } = withoutNulls(fields);
  if (by !== undefined && typeof by !== "string") return bad("by must be a string");
  return { kind: "ok", value: { by: by || "api" } };
}

/** The pause as it stands: null once its time is over. Judged anew at each read, so nothing has to happen at its end. */
export function pauseInForce(pause: JobPause | null, now: EpochMs): JobPause | null {
  return pause !== null && now < pause.until ? pause : null;
}

/** Whether a slot fell into the pause, so that catch-up owes nothing for it. One right at its end is owed. */
export function excuses(pause: JobPause, slot: EpochMs): boolean {
  return pause.since <= slot && slot < pause.until;
}

function readFields(body: string): Read<Readonly<Record<string, unknown>>> {
  if (body.trim() === "") return { kind: "ok", value: {} };
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return bad("request body is not valid JSON");
  }
  if (!isRecord(parsed)) return bad("request body must be a JSON object");
  return { kind: "ok", value: parsed };
}

/** A field that is null counts as left out. */
function withoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** true and false are no integers. */
function isInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without an offset a timestamp is UTC. */
function instantOf(text: string): EpochMs | null {
  const read = readTimestamp(text.trim());
  return read === null ? null : (read.label - (read.offset ?? 0)) * 1000 + read.milliseconds;
}

/** Length as people count it: an emoji outside of the basic plane is one. */
function characters(text: string): number {
  return Array.from(text).length;
}

function bad(error: string): BadRequest {
  return { kind: "bad", error };
}
