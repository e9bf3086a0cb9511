import type { OnMissed } from "../../config/model.ts";
import type { InterruptedRow } from "../../contract/history.ts";
import type { Logger } from "../../contract/log.ts";
import type { RunId } from "../../contract/run.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { PARALLEL_READS, WARMED_ROWS } from "../limits.ts";
import { inParallel } from "../parallel.ts";
import { presentStreams } from "../present-streams.ts";
import { jobStreams, keep } from "../streams.ts";
import type { WriteQueue, Written } from "../write-queue.ts";
import { interruptedRow, isRowOf, isSameProcess, openRecords, type ProcessSight } from "./inflight.rules.ts";
import {
  type ClosedRecord,
  type CloseReason,
  type DaemonProcess,
  type InFlightRecord,
  inFlightRecord,
  type OpenRecord,
} from "./inflight-record.ts";

/** Looks at a process of this host; may be called from anywhere, answers at once. */
export interface Processes {
  look(pid: number): ProcessSight;
}

/** A run of this node that has its process. */
export interface StartedRun {
  readonly runId: RunId;
  readonly pid: number | null;
  readonly startedAt: EpochMs;
  readonly jobDigest: string;
}

export interface ReconciledJob {
  readonly name: string;
  readonly onMissed: OnMissed;
}

/** A run that the daemon before this one started and that still goes on (INF-3 c). */
export interface Survivor {
  readonly pid: number;
  readonly startedAt: EpochMs;
}

/** A run that turned out to have been cut; its row is in the ledger, or on the way there. */
export interface Interrupted {
  readonly job: string;
  readonly row: InterruptedRow;
}

/** Which jobs have runs on which node, so that a run that is cut leaves a trace (state 9). */
export interface InFlightRuns {
  /** A run has its process. The first of a job opens its record; the others write nothing (INF-1). DAG tasks are not for here. */
  started(job: string, run: StartedRun): void;
  /** A run is gone; the last of a job closes its record. Call it after its ledger row was given away. */
  ended(job: string, runId: RunId): void;
  /** The run of an earlier daemon that still goes on here; null when there is none, or no more. */
  survivor(job: string): Survivor | null;
  /**
   * Closes what a daemon of this host left open, once per backend start, after the history was warmed and before retries are armed
   * again (INF-2). Each row becomes the job's latest, whatever its instant (RUN-5).
   *
   * @param isLive whether the job has a run on this node now: memory takes precedence (INF-3 b)
   */
  reconcileHere(jobs: readonly ReconciledJob[], isLive: (job: string) => boolean): Promise<readonly Interrupted[]>;
  /** Looks once more at what `reconcileHere` could not decide; for once a minute. Nothing, mostly. The row takes the fold. */
  reconcileAgain(jobs: readonly ReconciledJob[]): Promise<readonly Interrupted[]>;
  /** Closes the records of survivors that have gone since; for once a minute. The row takes its place by its instant. */
  reconcileSurvivors(jobs: readonly ReconciledJob[]): readonly Interrupted[];
  /** Closes what another host left open in a job whose cluster slot this node has just won fresh (INF-6). The row takes the fold. */
  takeOver(job: ReconciledJob): Promise<Interrupted | null>;
  /** Closes open records for which `isLost` says so, and waits until it has landed. For hosts that are gone for good. */
  closeLost(job: ReconciledJob, isLost: (record: OpenRecord) => boolean): Promise<readonly Interrupted[]>;
}

interface Watched {
  readonly job: string;
  readonly pid: number;
  readonly record: OpenRecord;
  /** What the process was when it was found, for records that do not tell. */
  readonly pinned: ProcessSight & { readonly kind: "exists" };
}

export function createInFlightRuns(parts: {
  readonly self: DaemonProcess;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly ledger: Pick<Ledger, "record" | "newest">;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly log: Logger;
}): InFlightRuns {
  const { self, backend, writes, ledger, processes, clock, log } = parts;
  /** Live runs of each job that has any; the first one's record is open. */
  const live = new Map<string, Set<RunId>>();
  const survivors = new Map<string, Watched>();
  /** Jobs whose records could not be read, or were passed over because a run was live. */
  let undecided = new Set<string>();
  let lookingAgain = false;
  /** Runs that were cut and have been told of, while their rows are on the way. */
  const told = new Set<string>();

  const append = (job: string, record: InFlightRecord): Promise<unknown> =>
    writes.add(jobStreams.inflight(job), "inflight", job, async () => {
      // The row is another chain's. A crash between a record that is closed and a row that has not landed would lose the run.
      if (record.kind === "closed") await writes.settled(jobStreams.runs(job));
      return land(job, record);
    });

  /** Closes the record of a run that was cut when its row is on disk; without it the record stays open, and is looked at again. */
  const closeCut = (job: string, run: string, closed: ClosedRecord, row: Promise<Written>): Promise<unknown> =>
    writes.add(jobStreams.inflight(job), "inflight", job, async () => {
      if ((await row).kind !== "done") {
        undecided.add(job);
        return { kind: "done", value: null };
      }
      told.delete(run);
      return land(job, closed);
    });

  const land = (job: string, record: InFlightRecord): Promise<Outcome<unknown>> =>
    onBackend(backend, ({ records }) =>
      records.append(jobStreams.inflight(job), inFlightRecord.encode(record), { keep: keep.inflight }),
    );

  const closing = (reason: CloseReason, of: DaemonProcess | null): ClosedRecord => ({
    kind: "closed",
    ...self,
    at: clock.wallNow(),
    reason,
    of: of === null ? null : { host: of.host, proc: of.proc },
  });

  /** Newest records, oldest first. */
  const read = async (job: string): Promise<Outcome<readonly InFlightRecord[]>> => {
    const listed = await onBackend(backend, ({ records }) =>
      records.list(jobStreams.inflight(job), { order: "newest first", limit: keep.inflight, reading: "tolerant" }),
    );
    if (listed.kind !== "done") return listed;
    const found = listed.value.flatMap(({ data }) => {
      const record = inFlightRecord.decode(data);
      return record.kind === "record" ? [record.value] : [];
    });
    return { kind: "done", value: found.reverse() };
  };

  /**
   * Whether the ledger tells of the run already. A crash between a run's two last writes leaves its record open and its row there, and
   * one between the two of a reconciliation likewise.
   */
  const isOnRecord = async (job: string, record: OpenRecord): Promise<boolean | "unknown"> => {
    const rows = await ledger.newest(job, WARMED_ROWS);
    if (rows.kind !== "done") return "unknown";
    return rows.value.some((row) => isRowOf(row, record));
  };

  /**
   * Gives the run its row, and closes its record with it.
   *
   * @returns null when it has been told before, and only its row had not landed
   */
  const interrupted = (
    { name, onMissed }: ReconciledJob,
    record: OpenRecord,
    reason: Exclude<CloseReason, "finished">,
  ): Interrupted | null => {
    const row = interruptedRow(record, onMissed);
    const run = `${name} ${row.failReason}`; // it names start and host
    void closeCut(name, run, closing(reason, record), ledger.record(name, row));
    if (told.has(run)) return null;
    told.add(run);
    log.warning(`Job ${name}: reconciled an interrupted run (${reason}): ${row.failReason}`);
    return { job: name, row };
  };

  const reconcileOne = async (job: ReconciledJob): Promise<Interrupted | null | "timed out"> => {
    const records = await read(job.name);
    if (records.kind !== "done") {
      undecided.add(job.name);
      if (records.kind === "unknown") return "timed out";
      log.warning(
        `Job ${job.name}: runs cut by the last daemon's end cannot be looked up: ${failureText(records)}; trying again in a minute`,
      );
      return null;
    }
    let newest: Interrupted | null = null;
    for (const record of openRecords(records.value)) {
      if (record.host !== self.host || record.proc === self.proc) continue; // INF-3 a
      const sight: ProcessSight = record.pid === null ? { kind: "gone" } : processes.look(record.pid);
      if (record.pid !== null && sight.kind === "exists" && isSameProcess(record, sight)) {
        survivors.set(job.name, { job: job.name, pid: record.pid, record, pinned: sight });
        log.warning(
          `Job ${job.name}: the previous daemon's run (pid ${record.pid}) still appears to be running; leaving its in-flight record open`,
        );
        continue;
      }
      const known = await isOnRecord(job.name, record);
      if (known === "unknown") {
        undecided.add(job.name); // a second row for a run that has one would be a lie
        continue;
      }
      if (known) {
        void append(job.name, closing("finished", record));
        continue;
      }
      newest = interrupted(job, record, "reconciled-crash") ?? newest;
    }
    return newest;
  };

  /** One after the other, some side by side; the first read without an answer ends the pass, and the rest is undecided. */
  const reconcile = async (jobs: readonly ReconciledJob[]): Promise<readonly Interrupted[]> => {
    const found: Interrupted[] = [];
    const left = new Set(jobs.map(({ name }) => name));
    let timedOut = false;
    await inParallel(jobs, PARALLEL_READS, async (job) => {
      if (timedOut) return "stop";
      const cut = await reconcileOne(job);
      left.delete(job.name);
      if (cut === "timed out") {
        if (!timedOut)
          log.warning(
            `state: looking up runs cut by the last daemon's end timed out at ${job.name}; trying again in a minute`,
          );
        timedOut = true;
        return "stop";
      }
      if (cut !== null) found.push(cut);
      return "go on";
    });
    for (const name of left) undecided.add(name);
    return found;
  };

  const stillThere = ({ pid, record, pinned }: Watched): boolean => {
    const sight = processes.look(pid);
    if (sight.kind === "gone" || !isSameProcess(record, sight)) return false;
    // A recycled pid is no survivor: what was seen first stays what it was (BOO-5).
    if (pinned.identity !== null && sight.identity !== null) return pinned.identity === sight.identity;
    return pinned.startedAt === null || sight.startedAt === null || pinned.startedAt === sight.startedAt;
  };

  return {
    started(job, run) {
      const runs = live.get(job) ?? new Set();
      live.set(job, runs.add(run.runId));
      if (runs.size > 1) return;
      const { runId, pid, startedAt, jobDigest } = run;
      const sight: ProcessSight = pid === null ? { kind: "gone" } : processes.look(pid);
      const pidIdentity = sight.kind === "exists" ? sight.identity : null;
      void append(job, { kind: "open", ...self, pid, startedAt, jobDigest, pidIdentity, runId });
    },
    ended(job, runId) {
      const runs = live.get(job);
      if (runs === undefined || !runs.delete(runId) || runs.size > 0) return;
      live.delete(job);
      void append(job, closing("finished", null));
      // The prune keeps few records: without this a survivor's would soon be gone, and with it the trace of its run.
      const survivor = survivors.get(job);
      if (survivor !== undefined && stillThere(survivor)) void append(job, survivor.record);
    },
    survivor(job) {
      const watched = survivors.get(job);
      if (watched === undefined || !stillThere(watched)) return null;
      return { pid: watched.pid, startedAt: watched.record.startedAt };
    },
    async reconcileHere(jobs, isLive) {
      const present = await presentStreams(backend, "inflight/");
      if (present.kind !== "done") {
        log.warning(
          `state: runs cut by the last daemon's end cannot be looked up: ${failureText(present)}; trying again in a minute`,
        );
        undecided = new Set(jobs.map(({ name }) => name));
        return [];
      }
      const candidates = jobs.filter(({ name }) => present.value.has(name));
      for (const { name } of candidates) if (isLive(name)) undecided.add(name);
      return reconcile(candidates.filter(({ name }) => !isLive(name)));
    },
    async reconcileAgain(jobs) {
      if (undecided.size === 0 || lookingAgain) return [];
      lookingAgain = true;
      const left = undecided;
      undecided = new Set();
      try {
        return await reconcile(jobs.filter(({ name }) => left.has(name)));
      } finally {
        lookingAgain = false;
      }
    },
    reconcileSurvivors(jobs) {
      if (survivors.size === 0) return [];
      return jobs.flatMap((job) => {
        const watched = survivors.get(job.name);
        if (watched === undefined || stillThere(watched)) return [];
        survivors.delete(job.name);
        return interrupted(job, watched.record, "reconciled-crash") ?? [];
      });
    },
    async takeOver(job) {
      const records = await read(job.name);
      const newest = records.kind === "done" ? records.value.at(-1) : undefined;
      if (newest === undefined || newest.kind === "closed" || newest.proc === self.proc) return null;
      if (newest.host === self.host && newest.pid !== null && isSameProcess(newest, processes.look(newest.pid)))
        return null;
      return interrupted(job, newest, "reconciled-takeover");
    },
    async closeLost(job, isLost) {
      const records = await read(job.name);
      if (records.kind !== "done") return [];
      const lost = openRecords(records.value).filter((record) => record.host !== self.host && isLost(record));
      const found: Interrupted[] = [];
      for (const record of lost) {
        if ((await isOnRecord(job.name, record)) === true) {
          void append(job.name, closing("reconciled-takeover", record));
          continue;
        }
        const cut = interrupted(job, record, "reconciled-takeover");
        if (cut !== null) found.push(cut);
      }
      await writes.settled(jobStreams.runs(job.name));
      await writes.settled(jobStreams.inflight(job.name));
      return found;
    },
  };
}
