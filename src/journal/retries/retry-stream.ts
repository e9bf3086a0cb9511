import type { RetrySettled } from "../../contract/events.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { jobStreams, keep } from "../streams.ts";
import type { WriteQueue, Written } from "../write-queue.ts";
import { type RetryRecord, retryRecord } from "./retry-record.ts";

export interface ArmedRetry {
  readonly attempt: number;
  /** When it is due, absolute (RET-2). */
  readonly notBefore: EpochMs;
  readonly armedAt: EpochMs;
  readonly jobDigest: string;
}

/** The newest retry record of a job, and which one it is. */
export interface NewestRetry {
  readonly id: string;
  readonly record: RetryRecord | null;
}

/** A job's retries as records, written in order (F-35). */
export interface RetryStream {
  /** A retry was scheduled. Lost with the daemon if the daemon ends before the record lands (RET-2). */
  armed(job: string, retry: ArmedRetry): void;
  /**
   * A scheduled retry was resolved. Not for a sequence that never scheduled one (F-35), and never by a shutdown (RET-4).
   *
   * @returns resolves when it is written or lost; only the launch of a retry waits for that
   */
  settled(job: string, attempt: number | null, reason: RetrySettled): Promise<Written>;
  /** The job's owner is another node, which goes on with the retry (RSM-2). */
  handedOff(job: string, retry: Omit<ArmedRetry, "notBefore">): void;
  /** This node takes the retry over; resolves when that is durable or lost. */
  claimed(job: string, retry: ArmedRetry, from: string): Promise<Written>;
  /** Null when nothing was ever recorded. */
  newest(job: string): Promise<Outcome<NewestRetry | null>>;
}

export function createRetryStream(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly clock: Clock;
}): RetryStream {
  const { host, backend, writes, clock } = parts;

  const append = (job: string, record: RetryRecord): Promise<Written> => {
    const stream = jobStreams.retries(job);
    return writes.add(stream, "retry", job, () =>
      onBackend(backend, ({ records }) => records.append(stream, retryRecord.encode(record), { keep: keep.retries })),
    );
  };

  const pending = (
    { attempt, notBefore, armedAt, jobDigest }: ArmedRetry,
    claimedFrom: string | null,
  ): RetryRecord => ({
    kind: "pending",
    attempt,
    notBefore,
    jobDigest,
    host,
    at: armedAt,
    claimedFrom,
  });

  return {
    armed(job, retry) {
      void append(job, pending(retry, null));
    },
    settled: (job, attempt, reason) => append(job, { kind: "settled", reason, host, at: clock.wallNow(), attempt }),
    handedOff(job, { attempt, armedAt, jobDigest }) {
      const now = clock.wallNow();
      void append(job, { kind: "handoff", attempt, notBefore: now, jobDigest, fromHost: host, at: now, armedAt });
    },
    claimed: (job, retry, from) => append(job, pending(retry, from)),
    async newest(job) {
      const listed = await onBackend(backend, ({ records }) =>
        records.list(jobStreams.retries(job), { order: "newest first", limit: 1, reading: "tolerant" }),
      );
      if (listed.kind !== "done") return listed;
      const [newest] = listed.value;
      if (newest === undefined) return { kind: "done", value: null };
      const found = retryRecord.decode(newest.data);
      return { kind: "done", value: { id: newest.id, record: found.kind === "record" ? found.value : null } };
    },
  };
}
