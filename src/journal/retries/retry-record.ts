import { z } from "zod";
import type { RetrySettled } from "../../contract/events.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { optionalInstant, optionalInteger, optionalText, type RecordCodec, recordCodec } from "../record-codec.ts";

/** A retry that waits for its instant. */
export interface PendingRecord {
  readonly kind: "pending";
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly notBefore: EpochMs;
  readonly jobDigest: string;
  readonly host: string;
  /** When it was armed. */
  readonly at: EpochMs;
  /** Set when its node took it over from another one. */
  readonly claimedFrom: string | null;
}

/** The retry before it was resolved. `reason` may be a word of another build. */
export interface SettledRecord {
  readonly kind: "settled";
  readonly reason: RetrySettled | (string & {});
  readonly host: string | null;
  readonly at: EpochMs;
  readonly attempt: number | null;
}

/** The retry's node is not its job's owner any more; whoever is may take it at once. */
export interface HandoffRecord {
  readonly kind: "handoff";
  readonly attempt: number;
  readonly notBefore: EpochMs;
  readonly jobDigest: string;
  readonly fromHost: string;
  readonly at: EpochMs;
  /** When the retry had been armed, by the node that gives it away. */
  readonly armedAt: EpochMs;
}

/** Says it is a pending retry, and not which. It can only be settled (RET-9). */
export interface InvalidPending {
  readonly kind: "invalid pending";
  readonly host: string | null;
}

/** `retries/<job>`: the newest record is the job's retry (state 12). */
export type RetryRecord = PendingRecord | SettledRecord | HandoffRecord | InvalidPending;

const shape = z.object({
  kind: z.string(),
  attempt: optionalInteger,
  notBefore: optionalInstant,
  jobDigest: optionalText,
  host: optionalText,
  at: optionalInstant,
  claimedFrom: optionalText,
  reason: optionalText,
  fromHost: optionalText,
  armedAt: optionalInstant,
});

export const retryRecord: RecordCodec<RetryRecord> = recordCodec({
  shape,
  write(record) {
    switch (record.kind) {
      case "pending": {
        const { kind, attempt, notBefore, jobDigest, host, at, claimedFrom } = record;
        const claim = claimedFrom === null ? {} : { claimedFrom };
        return { kind, attempt, notBefore: isoInstant(notBefore), jobDigest, host, at: isoInstant(at), ...claim };
      }
      case "settled": {
        const { kind, reason, host, at, attempt } = record;
        return { kind, reason, host, at: isoInstant(at), ...(attempt === null ? {} : { attempt }) };
      }
      case "handoff": {
        const { kind, attempt, notBefore, jobDigest, fromHost, at, armedAt } = record;
        const instants = { notBefore: isoInstant(notBefore), at: isoInstant(at), armedAt: isoInstant(armedAt) };
        return { kind, attempt, jobDigest, fromHost, ...instants };
      }
      case "invalid pending":
        throw new Error("an invalid record is only ever read");
    }
  },
  read: readRetry,
});

/** Null for a kind this build does not know: it is no pending retry, and that is all (RSM-7). */
function readRetry(fields: z.infer<typeof shape>): RetryRecord | null {
  const { attempt, notBefore, jobDigest, host, at, claimedFrom, reason, fromHost, armedAt } = fields;
  const position = attempt !== null && attempt >= 1 && notBefore !== null ? { attempt, notBefore } : null;
  switch (fields.kind) {
    case "pending":
      if (position === null || host === null) return { kind: "invalid pending", host };
      return {
        kind: "pending",
        ...position,
        jobDigest: jobDigest ?? "",
        host,
        at: at ?? position.notBefore,
        claimedFrom,
      };
    case "settled":
      return { kind: "settled", reason: reason ?? "", host, at: at ?? 0, attempt };
    case "handoff": {
      if (position === null || fromHost === null) return null;
      const handedAt = at ?? position.notBefore;
      const armed = { at: handedAt, armedAt: armedAt ?? handedAt };
      return { kind: "handoff", ...position, jobDigest: jobDigest ?? "", fromHost, ...armed };
    }
    default:
      return null;
  }
}

/** When the retry of a record was armed; a run that ended later than that makes it moot (RET-9, F-47). */
export function armInstant(record: PendingRecord | HandoffRecord): EpochMs {
  return record.kind === "handoff" ? record.armedAt : record.at;
}
