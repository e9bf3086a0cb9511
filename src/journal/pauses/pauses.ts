import type { Logger } from "../../contract/log.ts";
import type { JobPause, PauseChannel } from "../../contract/pause.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { type Drops, failureText } from "../drops.ts";
import { PARALLEL_READS, SCAN_EVERY_MS } from "../limits.ts";
import { inParallel } from "../parallel.ts";
import { presentStreams } from "../present-streams.ts";
import { jobStreams, keep } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { type PauseRecord, pauseRecord } from "./pause-record.ts";

/** What the store says about a job's pause, where it differs from nothing: null when the newest record is a resume or is over. */
export interface KnownPause {
  readonly job: string;
  readonly pause: JobPause | null;
}

/** Pauses that outlive the daemon and reach every node that shares the store (state 6.4). */
export interface DurablePauses {
  /** An operator paused the job here. Kept until it has landed, if the store is away. */
  paused(job: string, pause: JobPause): void;
  resumed(job: string, by: string, channel: PauseChannel): void;
  /**
   * Reads the pauses of these jobs, whenever a backend has come up. What did not land before is written first. On any trouble a job keeps
   * its last known state, under both policies; so does one that an operator of this node has changed and whose record has not landed, or
   * that changed during the look. Nothing while another look goes on.
   */
  look(jobs: Iterable<string>): Promise<readonly KnownPause[]>;
  /** The same for each minute: does nothing when the last look is less than 55 s ago. */
  refresh(jobs: Iterable<string>): Promise<readonly KnownPause[]>;
}

export function createDurablePauses(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly drops: Drops;
  readonly clock: Clock;
  readonly log: Logger;
}): DurablePauses {
  const { host, backend, writes, drops, clock, log } = parts;
  /** The newest change of each job that has not landed; the names are the jobs of the configuration. */
  const unwritten = new Map<string, PauseRecord>();
  /** Changes made here, counted, so that a look can tell what changed under it. */
  const changes = new Map<string, number>();
  let lastLook = Number.NEGATIVE_INFINITY;
  let looking = false;

  const change = (job: string, record: PauseRecord): void => {
    changes.set(job, (changes.get(job) ?? 0) + 1);
    unwritten.set(job, record);
    if (backend() !== null) {
      void write(job, record);
      return;
    }
    drops.lost("pause", job, "the state backend is not running; it is written when the store is back");
  };

  const write = async (job: string, record: PauseRecord): Promise<void> => {
    const stream = jobStreams.paused(job);
    const written = await writes.add(stream, "pause", job, () =>
      onBackend(backend, ({ records }) => records.append(stream, pauseRecord.encode(record), { keep: keep.paused })),
    );
    // Only what landed is forgotten, and only if nothing newer has taken its place.
    if (written.kind === "done" && unwritten.get(job) === record) unwritten.delete(job);
  };

  const newestOf = async (job: string): Promise<Outcome<PauseRecord | null>> => {
    const listed = await onBackend(backend, ({ records }) =>
      records.list(jobStreams.paused(job), { order: "newest first", limit: 1, reading: "tolerant" }),
    );
    if (listed.kind !== "done") return listed;
    const [newest] = listed.value;
    const found = newest === undefined ? null : pauseRecord.decode(newest.data);
    return { kind: "done", value: found?.kind === "record" ? found.value : null };
  };

  const read = async (jobs: Iterable<string>): Promise<readonly KnownPause[]> => {
    await Promise.all(
      [...unwritten].map(([job, record]) => (writes.busy(jobStreams.paused(job)) ? null : write(job, record))),
    );
    const present = await presentStreams(backend, "paused/");
    if (present.kind !== "done") {
      log.warning(`state: pauses cannot be looked up (${failureText(present)}); keeping the last known ones`);
      return [];
    }
    const found: KnownPause[] = [];
    await inParallel([...jobs].filter(present.value.has), PARALLEL_READS, async (job) => {
      const before = changes.get(job);
      const newest = await newestOf(job);
      if (newest.kind === "unknown") {
        log.warning(`state: looking up pauses timed out at ${job}; the rest keeps its last known state`);
        return "stop";
      }
      if (newest.kind === "failed" || newest.value === null) return "go on";
      if (unwritten.has(job) || changes.get(job) !== before) return "go on";
      found.push({ job, pause: pauseOf(newest.value, clock.wallNow()) });
      return "go on";
    });
    return found;
  };

  const look = async (jobs: Iterable<string>): Promise<readonly KnownPause[]> => {
    if (looking) return [];
    looking = true;
    lastLook = clock.elapsedNow();
    try {
      return await read(jobs);
    } finally {
      looking = false;
    }
  };

  return {
    paused: (job, pause) => change(job, { kind: "paused", ...pause, host, at: clock.wallNow() }),
    resumed: (job, by, channel) => change(job, { kind: "resumed", by, channel, host, at: clock.wallNow() }),
    look,
    refresh: (jobs) => (clock.elapsedNow() - lastLook < SCAN_EVERY_MS ? Promise.resolve([]) : look(jobs)),
  };
}

function pauseOf(record: PauseRecord, now: number): JobPause | null {
  if (record.kind === "resumed" || record.until <= now) return null;
  const { since, until, note, by, channel } = record;
  return { since: since ?? 0, until, note, by, channel };
}
