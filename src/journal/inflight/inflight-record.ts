import { z } from "zod";
import type { EpochMs } from "../../platform/clock.ts";
import { isoInstant } from "../instant.ts";
import { instantField, optionalInteger, optionalText, orNull, type RecordCodec, recordCodec } from "../record-codec.ts";

/** One daemon process on one host; `proc` is drawn anew at each start. */
export interface DaemonProcess {
  readonly host: string;
  readonly proc: string;
}

export interface OpenRecord extends DaemonProcess {
  readonly kind: "open";
  readonly pid: number | null;
  readonly startedAt: EpochMs;
  readonly jobDigest: string;
  /** What the pid was, beyond its number, in the words of the platform that started it. Ours; null in records of other builds. */
  readonly pidIdentity: string | null;
  /** Ours too: what ties the record to the run's row, since two runs may have started in one instant. */
  readonly runId: string | null;
}

export interface ClosedRecord extends DaemonProcess {
  readonly kind: "closed";
  readonly at: EpochMs;
  readonly reason: CloseReason;
  /** Whose run a reconciliation closed. Ours; null in records of other builds. */
  readonly of: DaemonProcess | null;
}

export type CloseReason = "finished" | "reconciled-crash" | "reconciled-takeover";

/** `inflight/<job>`: a job had runs on a node, and had none any more (INF-1). */
export type InFlightRecord = OpenRecord | ClosedRecord;

const shape = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("open"),
    host: z.string(),
    proc: z.string(),
    pid: optionalInteger,
    startedAt: instantField,
    jobDigest: z.string().catch(""),
    pidIdentity: optionalText,
    runId: optionalText,
  }),
  z.object({
    kind: z.literal("closed"),
    host: z.string(),
    proc: z.string(),
    at: instantField,
    // A reason this build does not know closes its writer's run, as the word says.
    reason: z.enum(["finished", "reconciled-crash", "reconciled-takeover"]).catch("finished"),
    of: orNull(z.object({ host: z.string(), proc: z.string() })),
  }),
]);

export const inFlightRecord: RecordCodec<InFlightRecord> = recordCodec({
  shape,
  write(record) {
    const { kind, host, proc } = record;
    if (kind === "open") {
      const { pid, startedAt, jobDigest, pidIdentity, runId } = record;
      const identity = { ...(pidIdentity === null ? {} : { pidIdentity }), ...(runId === null ? {} : { runId }) };
      return { kind, host, proc, pid, startedAt: isoInstant(startedAt), jobDigest, ...identity };
    }
    const { at, reason, of } = record;
    return {
      kind,
      host,
      proc,
      at: isoInstant(at),
      reason,
      ...(of === null ? {} : { of: { host: of.host, proc: of.proc } }),
    };
  },
  read: (record) => record,
});
