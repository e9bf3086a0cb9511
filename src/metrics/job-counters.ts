import type { CountersSnapshot, DurationHistogram, JobCounters } from "../contract/counters.ts";
import type { DaemonEvents, Events } from "../contract/events.ts";
import type { NotRunReason } from "../contract/reason.ts";
import { added, addedHistograms, areSameBounds, noCounters } from "../journal/counters/counters.rules.ts";

/** Upper bounds of the duration histogram when none are configured, in seconds. */
export const defaultBounds: readonly number[] = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

/** What is counted of one job, and what snapshots leave out of it. */
export interface Counted extends JobCounters {
  /** Another number whenever anything else here is another. */
  readonly version: number;
  readonly refused: ReadonlyMap<NotRunReason["kind"], number>;
}

/**
 * Counts what happens to jobs (http 10.3). Counters belong to the daemon: they outlive the API, and with a store the process.
 *
 * A job is in here once something has happened to it; one that is gone from the configuration stays until its last run has ended and the
 * configuration is looked at again.
 */
export interface JobTally {
  readonly bounds: readonly number[];
  /** Histograms begin anew when the bounds are others; counters stay. */
  setBounds(bounds: readonly number[]): void;
  counted(job: string): Counted;
  /** Jobs that have something counted, in no order. */
  names(): Iterable<string>;
  /** Lets go of jobs that are configured no more and not running. */
  prune(isConfigured: (job: string) => boolean): void;
  snapshot(): CountersSnapshot;
  /**
   * Adds what an earlier process had counted, once (CNT-2). Histograms of other bounds are put aside, and adopted if those bounds are
   * set before a run has been counted under them.
   */
  seed(snapshot: CountersSnapshot, isConfigured: (job: string) => boolean): void;
}

/** Counters are replaced, never changed within: a snapshot may keep them. */
type Entry = { -readonly [Name in keyof JobCounters]: JobCounters[Name] } & {
  version: number;
  readonly refused: Map<NotRunReason["kind"], number>;
};

export function createJobTally(events: Pick<Events, "on">): JobTally {
  const entries = new Map<string, Entry>();
  const live = new Map<string, number>();
  let bounds = defaultBounds;
  let parked: CountersSnapshot | null = null;

  /** The entry of a job, to be changed. */
  const changing = (job: string): Entry => {
    const entry = entryOf(job);
    entry.version++;
    return entry;
  };

  const entryOf = (job: string): Entry => {
    let entry = entries.get(job);
    if (entry === undefined) {
      entry = emptyEntry(bounds);
      entries.set(job, entry);
    }
    return entry;
  };

  events.on("run.launched", ({ job, trigger }) => {
    if (trigger.kind === "dag") return;
    live.set(job.name, (live.get(job.name) ?? 0) + 1);
    const entry = changing(job.name); // also of one that is not configured any more: its run will be counted
    if (trigger.kind === "retry") entry.retries++;
  });
  events.on("run.finished", (finished) => {
    const { job, trigger } = finished;
    if (trigger.kind === "dag") return;
    live.set(job.name, Math.max(0, (live.get(job.name) ?? 0) - 1));
    countRun(changing(job.name), bounds, finished);
  });
  events.on("failure.permanent", ({ job }) => {
    changing(job.name).permanentFailures++;
  });
  events.on("run.refused", ({ job, trigger, slot, reason }) => {
    if (trigger.kind === "dag") return;
    const entry = changing(job);
    // A paused slot is a row of the history; anything else that was paused comes later.
    if (reason.kind !== "paused") entry.refused.set(reason.kind, (entry.refused.get(reason.kind) ?? 0) + 1);
    else if (slot !== null) entry.runs = withOne(entry.runs, "skipped");
  });
  events.on("job.late", ({ job, check, late }) => {
    if (!late) return;
    const entry = changing(job);
    entry.slaBreaches = withOne(entry.slaBreaches, check);
  });

  const adopt = (snapshot: CountersSnapshot): void => {
    for (const [job, { durations }] of snapshot.jobs) {
      if (!entries.has(job)) continue;
      const entry = changing(job);
      entry.durations = addedHistograms(entry.durations, durations);
    }
  };

  return {
    get bounds() {
      return bounds;
    },
    setBounds(wanted) {
      if (areSameBounds(wanted, bounds)) return;
      bounds = wanted;
      for (const entry of entries.values()) {
        entry.durations = noCounters(bounds).durations;
        entry.version++;
      }
      if (parked !== null && areSameBounds(parked.bounds, bounds)) adopt(parked);
      parked = null;
    },
    counted: (job) => entries.get(job) ?? emptyEntry(bounds),
    names: () => entries.keys(),
    prune(isConfigured) {
      for (const job of [...entries.keys(), ...live.keys()]) {
        if (isConfigured(job) || (live.get(job) ?? 0) > 0) continue;
        entries.delete(job);
        live.delete(job);
      }
    },
    snapshot: () => ({ bounds, jobs: new Map([...entries].map(([job, entry]) => [job, countersOf(entry)])) }),
    seed(snapshot, isConfigured) {
      const jobs = new Map([...snapshot.jobs].filter(([job]) => isConfigured(job)));
      for (const [job, counters] of jobs) {
        const entry = changing(job);
        Object.assign(entry, added(countersOf(entry), counters, false)); // histograms are added where their bounds are known to fit
      }
      if (areSameBounds(snapshot.bounds, bounds)) adopt({ bounds, jobs });
      else parked = { bounds: snapshot.bounds, jobs };
    },
  };
}

function countRun(entry: Entry, bounds: readonly number[], { row, result }: DaemonEvents["run.finished"]): void {
  if (row === null || row.kind !== "ran" || row.outcome === "unknown") return;
  entry.runs = withOne(entry.runs, row.outcome);
  if (result.launchError !== null) entry.startFailures++;
  if (row.startedAt !== null)
    entry.durations = observed(entry.durations, bounds, (row.finishedAt - row.startedAt) / 1000);
  if (row.outcome === "success") entry.lastSuccessAt = row.finishedAt;
  if (row.outcome === "failure") entry.lastFailureAt = row.finishedAt;
  if (row.resources === null) return;
  entry.cpuUserSeconds += row.resources.cpuUserSeconds;
  entry.cpuSystemSeconds += row.resources.cpuSystemSeconds;
  entry.cpuRuns++;
  entry.maxRssBytes = Math.max(entry.maxRssBytes, row.resources.maxRssBytes);
}

function observed(histogram: DurationHistogram, bounds: readonly number[], seconds: number): DurationHistogram {
  return {
    sumSeconds: histogram.sumSeconds + seconds,
    count: histogram.count + 1,
    bucketCounts: bounds.map((bound, index) => (histogram.bucketCounts[index] ?? 0) + (seconds <= bound ? 1 : 0)),
  };
}

function countersOf({ refused: _, version: __, ...counters }: Entry): JobCounters {
  return counters;
}

function emptyEntry(bounds: readonly number[]): Entry {
  return { ...noCounters(bounds), version: 0, refused: new Map() };
}

function withOne<K extends string>(
  counts: Readonly<Partial<Record<K, number>>>,
  key: K,
): Readonly<Partial<Record<K, number>>> {
  return { ...counts, [key]: (counts[key] ?? 0) + 1 };
}
