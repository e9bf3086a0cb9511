import type { DagTaskConfig } from "../config/model.ts";
import type { JsonValue } from "../store/json.ts";
import type { EpochSeconds, TaskRecord, TerminalState } from "./run-document.ts";

/*
 * The transitions of one instance (section 3). Each takes a record in the state its name implies and answers with the next one; who may
 * ask for it, and when, is decided elsewhere.
 */

/** Who claims. */
export interface Claimer {
  readonly proc: string;
  readonly host: string;
}

export const SENSOR_TIMED_OUT = "sensor timed out";
export const LAUNCH_FAILED = "launch failed";
export const RECONCILED = "reconciled-crash";

/** Whether the record is a sensor's, whatever the configuration says today. */
export function isSensorRecord(record: TaskRecord): boolean {
  return record.pokeCount !== undefined;
}

/** `pending`, or due again, → `running`. The first claim's instant stays over retries (D-STM-5). */
export function claimed(record: TaskRecord, task: DagTaskConfig, by: Claimer, now: EpochSeconds): TaskRecord {
  const { pidStart: _pidStart, pokeCount, nextPokeAt: _nextPokeAt, firstPokeAt, ...rest } = record;
  const running = {
    ...rest,
    state: "running",
    proc: by.proc,
    pid: null,
    host: by.host,
    startedAt: record.startedAt ?? now,
    updatedAt: now,
    ...(record.nextRetryAt === undefined ? {} : { nextRetryAt: null }),
  };
  if (task.type !== "sensor") return running;
  return { ...running, pokeCount: pokeCount ?? 0, nextPokeAt: null, firstPokeAt: firstPokeAt ?? now };
}

/** Idle sensor → poking. */
export function pokedAgain(record: TaskRecord, by: Claimer, now: EpochSeconds): TaskRecord {
  const { pidStart: _pidStart, ...rest } = record;
  return { ...rest, proc: by.proc, host: by.host, pid: null, nextPokeAt: null, updatedAt: now };
}

/** A gate begins to wait; nothing runs, so it has no host. */
export function parked(record: TaskRecord, now: EpochSeconds): TaskRecord {
  return {
    ...record,
    state: "running",
    awaitingApproval: true,
    approval: null,
    startedAt: record.startedAt ?? now,
    updatedAt: now,
    ...(record.nextRetryAt === undefined ? {} : { nextRetryAt: null }),
  };
}

/** Ends without a word about what ran: by propagation, by a decision, or because it cannot go on. */
export function ended(
  record: TaskRecord,
  state: TerminalState,
  failReason: string | null,
  now: EpochSeconds,
): TaskRecord {
  return {
    ...unclaimed(record),
    state,
    failReason,
    finishedAt: now,
    updatedAt: now,
    ...(record.nextPokeAt === undefined ? {} : { nextPokeAt: null }),
    ...(record.nextRetryAt === undefined ? {} : { nextRetryAt: null }),
  };
}

/** What an attempt ended with. `limits` undefined: the run had none. */
export interface AttemptEnd {
  readonly exitCode: number | null;
  readonly failReason: string | null;
  readonly resources: JsonValue;
  readonly limits?: JsonValue;
}

/** An attempt that met no fail reason, or a poke that was met. */
export function succeeded(record: TaskRecord, end: AttemptEnd, at: EpochSeconds): TaskRecord {
  const { exitCode, resources, limits } = end;
  return {
    ...ended(record, "success", null, at),
    exitCode,
    resources,
    ...(limits === undefined ? {} : { limits }),
    ...(record.pokeCount === undefined ? {} : { pokeCount: record.pokeCount + 1 }),
  };
}

/** An attempt that failed: again at `retryAt` while the configuration has attempts left, else the end (D-STM-4, D-CFG-11). */
export function failedAttempt(
  record: TaskRecord,
  end: AttemptEnd,
  attempts: { readonly retries: number; readonly retryAt: EpochSeconds },
  at: EpochSeconds,
): TaskRecord {
  const attempt = record.attempt + 1;
  const { exitCode, failReason, resources, limits } = end;
  const failed = {
    ...unclaimed(record),
    attempt,
    exitCode,
    failReason,
    resources,
    ...(limits === undefined ? {} : { limits }),
    updatedAt: at,
  };
  return attempt <= attempts.retries
    ? { ...failed, state: "up_for_retry", nextRetryAt: attempts.retryAt }
    : { ...failed, state: "failed", finishedAt: at, nextRetryAt: null };
}

/** A sensor between two pokes. `pokeCount` grows only by a poke that ended. */
export function idle(record: TaskRecord, pokeCount: number, nextPokeAt: EpochSeconds, now: EpochSeconds): TaskRecord {
  return { ...unclaimed(record), pokeCount, nextPokeAt, updatedAt: now };
}

/** A claim of which nothing was launched: as if it had not been made (D-CLM-3). */
export function released(record: TaskRecord, now: EpochSeconds): TaskRecord {
  if (isSensorRecord(record)) return idle(record, record.pokeCount ?? 0, now, now);
  const startedAt = record.attempt === 0 ? null : record.startedAt;
  return { ...unclaimed(record), state: "pending", startedAt, updatedAt: now };
}

function unclaimed(record: TaskRecord): TaskRecord {
  const { pidStart: _pidStart, ...rest } = record;
  return { ...rest, proc: null, pid: null };
}
