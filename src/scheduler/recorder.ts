import { jobDigest } from "../config/fingerprint.ts";
import type { JobConfig } from "../config/model.ts";
import type { CountersSnapshot } from "../contract/counters.ts";
import type { RetrySettled } from "../contract/events.ts";
import type { HistoryRow } from "../contract/history.ts";
import type { LiveOutput } from "../contract/launcher.ts";
import type { RunId } from "../contract/run.ts";
import type { CatchUp, CatchUpHost } from "../journal/catchup/catchup.ts";
import type { Journal } from "../journal/journal.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Refusal } from "./history.ts";
import type { RetryWait } from "./ladder.rules.ts";

/**
 * What of the jobs' life goes into the journal, and in which order (WRT-4). Nothing here waits, and without a journal nothing happens
 * (GEN-2). Catch-up hangs on it as well: it lives from what is recorded.
 */
export interface Recorder {
  /** Null: there is no `state` section any more. */
  use(journal: Journal | null): void;
  readonly journal: Journal | null;
  /** Looks at what was missed before this daemon; `now` is when the fire loop took over. */
  beginCatchUp(jobs: readonly JobConfig[], now: EpochMs): void;
  spawned(
    job: JobConfig,
    run: { readonly runId: RunId; readonly pid: number | null; readonly startedAt: EpochMs },
  ): void;
  /** A run is gone. `row` null: it was replaced, and leaves no row. */
  ended(job: JobConfig, runId: RunId, row: HistoryRow | null, output: LiveOutput | null): void;
  /** A row without a run. */
  row(job: string, row: HistoryRow): void;
  /** A slot that is not served. */
  refused(refusal: Refusal): void;
  /** Slots from `from` on, before `until`, were slept through. Answers whether catch-up takes care of them. */
  gap(job: JobConfig, from: EpochMs, until: EpochMs, lateMs: number): boolean;
  retryArmed(job: JobConfig, attempt: number, wait: RetryWait): void;
  /** Not for "launched": that is written before the run is allowed (RET-3). */
  retrySettled(job: string, attempt: number, reason: Exclude<RetrySettled, "launched">): void;
  retryHandedOff(job: JobConfig, attempt: number, armedAt: EpochMs): void;
  /** Ends what waits, and gives away what is gathered. */
  stop(): void;
}

export function createRecorder(parts: {
  readonly catchUpHost: CatchUpHost;
  /** What has been counted so far. */
  readonly counters: () => CountersSnapshot;
}): Recorder {
  const { catchUpHost, counters } = parts;
  let journal: Journal | null = null;
  let catchUp: CatchUp | null = null;
  let hasBegun = false;

  return {
    use(next) {
      if (next === journal) return;
      catchUp?.stop();
      journal = next;
      catchUp = next?.catchUpFor(catchUpHost, !hasBegun) ?? null;
    },
    get journal() {
      return journal;
    },
    beginCatchUp(jobs, now) {
      hasBegun = true;
      const looked = jobs.map(({ name, onMissed }) => ({ name, catchesUp: onMissed !== "skip" }));
      catchUp?.begin(looked, now);
    },
    spawned(job, { runId, pid, startedAt }) {
      journal?.inFlight.started(job.name, { runId, pid, startedAt, jobDigest: jobDigest(job) });
      catchUp?.started(job.name, startedAt);
    },
    ended(job, runId, row, output) {
      if (journal === null) return;
      const { name } = job;
      if (row !== null) {
        void journal.ledger.record(name, row, catchUp?.covered(name));
        if (row.kind === "ran" && output !== null) {
          journal.archive.store(job, row, { recent: output.recent(), published: output.published });
        }
        journal.trends.forget(name);
        journal.counters.runRecorded(counters);
      }
      // The last: a crash before it leaves a row twice told, one after it a run that was never heard of.
      journal.inFlight.ended(name, runId);
    },
    row(job, row) {
      void journal?.ledger.record(job, row, catchUp?.covered(job));
    },
    refused({ job, trigger, slot, reason }) {
      if (slot !== null && trigger.kind === "schedule") journal?.missed.missed(job, { slot, before: null, reason });
    },
    gap(job, from, until, lateMs) {
      if (catchUp !== null && job.onMissed !== "skip") {
        catchUp.gap(job.name, from, until);
        return true;
      }
      journal?.missed.missed(job.name, { slot: from, before: until, reason: { kind: "too-late", lateMs } });
      return false;
    },
    retryArmed(job, attempt, { dueAt, armedAt }) {
      journal?.retries.armed(job.name, { attempt, notBefore: dueAt, armedAt, jobDigest: jobDigest(job) });
    },
    retrySettled(job, attempt, reason) {
      void journal?.retries.settled(job, attempt, reason);
    },
    retryHandedOff(job, attempt, armedAt) {
      journal?.retries.handedOff(job.name, { attempt, armedAt, jobDigest: jobDigest(job) });
    },
    stop() {
      catchUp?.stop();
      journal?.missed.flush();
    },
  };
}
