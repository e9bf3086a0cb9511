import type { CountersSnapshot, DurationHistogram, JobCounters, RunOutcome } from "../contract/counters.ts";
import type { DaemonEvents, Events } from "../contract/events.ts";
import type { NotRunReason } from "../contract/reason.ts";
import type { SlaCheck } from "../contract/report.ts";

/** Upper bounds of the duration histogram when none are configured, in seconds. */
export const defaultBounds: readonly number[] = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

/** What is counted of one job, and what snapshots leave out of it. */
export interface Counted extends JobCounters {
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

interface Entry {
  runs: Partial<Record<RunOutcome, number>>;
  retries: number;
  permanentFailures: number;
  startFailures: number;
  durations: { sumSeconds: number; count: number; bucketCounts: number[] };
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  cpuUserSeconds: number;
  cpuSystemSeconds: number;
  cpuRuns: number;
  maxRssBytes: number;
  slaBreaches: Partial<Record<SlaCheck, number>>;
  refused: Map<NotRunReason["kind"], number>;
}

export function createJobTally(events: Pick<Events, "on">): JobTally {
  const entries = new Map<string, Entry>();
  const live = new Map<string, number>();
  let bounds = defaultBounds;
  let parked: CountersSnapshot | null = null;

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
    if (trigger.kind === "retry") entryOf(job.name).retries++;
  });
  events.on("run.finished", (finished) => {
    const { job, trigger } = finished;
    if (trigger.kind === "dag") return;
    live.set(job.name, Math.max(0, (live.get(job.name) ?? 0) - 1));
    countRun(entryOf(job.name), bounds, finished);
  });
  events.on("failure.permanent", ({ job }) => {
    entryOf(job.name).permanentFailures++;
  });
  events.on("run.refused", ({ job, trigger, slot, reason }) => {
    if (trigger.kind === "dag") return;
    const entry = entryOf(job);
    // A paused slot is a row of the history; anything else that was paused comes later.
    if (reason.kind !== "paused") entry.refused.set(reason.kind, (entry.refused.get(reason.kind) ?? 0) + 1);
    else if (slot !== null) addOne(entry.runs, "skipped");
  });
  events.on("job.late", ({ job, check, late }) => {
    if (late) addOne(entryOf(job).slaBreaches, check);
  });

  const adopt = (snapshot: CountersSnapshot): void => {
    for (const [job, { durations }] of snapshot.jobs) {
      const own = entries.get(job)?.durations;
      if (own !== undefined) addHistogram(own, durations);
    }
  };

  return {
    get bounds() {
      return bounds;
    },
    setBounds(wanted) {
      if (sameBounds(wanted, bounds)) return;
      bounds = wanted;
      for (const entry of entries.values()) entry.durations = emptyHistogram(bounds);
      if (parked !== null && sameBounds(parked.bounds, bounds)) adopt(parked);
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
    snapshot: () => ({ bounds, jobs: new Map([...entries].map(([job, entry]) => [job, structuredCopy(entry)])) }),
    seed(snapshot, isConfigured) {
      const jobs = new Map([...snapshot.jobs].filter(([job]) => isConfigured(job)));
      for (const [job, counters] of jobs) addCounters(entryOf(job), counters);
      if (sameBounds(snapshot.bounds, bounds)) adopt({ bounds, jobs });
      else parked = { bounds: snapshot.bounds, jobs };
    },
  };
}

function countRun(entry: Entry, bounds: readonly number[], { row, result }: DaemonEvents["run.finished"]): void {
  if (row === null || row.kind !== "ran" || row.outcome === "unknown") return;
  addOne(entry.runs, row.outcome);
  if (result.launchError !== null) entry.startFailures++;
  if (row.startedAt !== null) observe(entry.durations, bounds, (row.finishedAt - row.startedAt) / 1000);
  if (row.outcome === "success") entry.lastSuccessAt = row.finishedAt;
  if (row.outcome === "failure") entry.lastFailureAt = row.finishedAt;
  if (row.resources === null) return;
  entry.cpuUserSeconds += row.resources.cpuUserSeconds;
  entry.cpuSystemSeconds += row.resources.cpuSystemSeconds;
  entry.cpuRuns++;
  entry.maxRssBytes = Math.max(entry.maxRssBytes, row.resources.maxRssBytes);
}

function observe(histogram: Entry["durations"], bounds: readonly number[], seconds: number): void {
  histogram.sumSeconds += seconds;
  histogram.count++;
  for (const [index, bound] of bounds.entries())
    if (seconds <= bound) histogram.bucketCounts[index] = (histogram.bucketCounts[index] ?? 0) + 1;
}

function addCounters(entry: Entry, more: JobCounters): void {
  for (const [outcome, count] of pairs(more.runs)) entry.runs[outcome] = (entry.runs[outcome] ?? 0) + count;
  for (const [check, count] of pairs(more.slaBreaches))
    entry.slaBreaches[check] = (entry.slaBreaches[check] ?? 0) + count;
  entry.retries += more.retries;
  entry.permanentFailures += more.permanentFailures;
  entry.startFailures += more.startFailures;
  entry.cpuUserSeconds += more.cpuUserSeconds;
  entry.cpuSystemSeconds += more.cpuSystemSeconds;
  entry.cpuRuns += more.cpuRuns;
  entry.maxRssBytes = Math.max(entry.maxRssBytes, more.maxRssBytes);
  entry.lastSuccessAt = later(entry.lastSuccessAt, more.lastSuccessAt);
  entry.lastFailureAt = later(entry.lastFailureAt, more.lastFailureAt);
}

function addHistogram(own: Entry["durations"], more: DurationHistogram): void {
  own.sumSeconds += more.sumSeconds;
  own.count += more.count;
  own.bucketCounts = own.bucketCounts.map((count, index) => count + (more.bucketCounts[index] ?? 0));
}

function structuredCopy({ refused: _, ...entry }: Entry): JobCounters {
  const { runs, slaBreaches, durations } = entry;
  return {
    ...entry,
    runs: { ...runs },
    slaBreaches: { ...slaBreaches },
    durations: { ...durations, bucketCounts: [...durations.bucketCounts] },
  };
}

function emptyEntry(bounds: readonly number[]): Entry {
  return {
    runs: {},
    retries: 0,
    permanentFailures: 0,
    startFailures: 0,
    durations: emptyHistogram(bounds),
    lastSuccessAt: null,
    lastFailureAt: null,
    cpuUserSeconds: 0,
    cpuSystemSeconds: 0,
    cpuRuns: 0,
    maxRssBytes: 0,
    slaBreaches: {},
    refused: new Map(),
  };
}

function emptyHistogram(bounds: readonly number[]): Entry["durations"] {
  return { sumSeconds: 0, count: 0, bucketCounts: bounds.map(() => 0) };
}

function addOne<K extends string>(counts: Partial<Record<K, number>>, key: K): void {
  counts[key] = ((counts[key] as number | undefined) ?? 0) + 1;
}

function pairs<K extends string>(counts: Readonly<Partial<Record<K, number>>>): [K, number][] {
  return Object.entries(counts) as [K, number][];
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function sameBounds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((bound, index) => bound === b[index]);
}
