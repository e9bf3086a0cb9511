import type { DurationHistogram, JobCounters } from "../../contract/counters.ts";

/** What a job has when nothing has been counted. */
export function noCounters(bounds: readonly number[]): JobCounters {
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
  };
}

/**
 * Two counts of one job together: sums add up, instants and the largest memory are the greater (CNT-4). The histogram is that of
 * `counted` alone unless `earlier` was kept for the same bounds (CNT-2).
 */
export function added(counted: JobCounters, earlier: JobCounters, sameBounds: boolean): JobCounters {
  return {
    runs: addedByKey(counted.runs, earlier.runs),
    retries: counted.retries + earlier.retries,
    permanentFailures: counted.permanentFailures + earlier.permanentFailures,
    startFailures: counted.startFailures + earlier.startFailures,
    durations: sameBounds ? addedHistograms(counted.durations, earlier.durations) : counted.durations,
    lastSuccessAt: later(counted.lastSuccessAt, earlier.lastSuccessAt),
    lastFailureAt: later(counted.lastFailureAt, earlier.lastFailureAt),
    cpuUserSeconds: counted.cpuUserSeconds + earlier.cpuUserSeconds,
    cpuSystemSeconds: counted.cpuSystemSeconds + earlier.cpuSystemSeconds,
    cpuRuns: counted.cpuRuns + earlier.cpuRuns,
    maxRssBytes: Math.max(counted.maxRssBytes, earlier.maxRssBytes),
    slaBreaches: addedByKey(counted.slaBreaches, earlier.slaBreaches),
  };
}

/** Bucket counts of another length fit no bounds at all; such a histogram adds nothing. */
export function addedHistograms(counted: DurationHistogram, earlier: DurationHistogram): DurationHistogram {
  if (counted.bucketCounts.length !== earlier.bucketCounts.length) return counted;
  return {
    sumSeconds: counted.sumSeconds + earlier.sumSeconds,
    count: counted.count + earlier.count,
    bucketCounts: counted.bucketCounts.map((count, at) => count + (earlier.bucketCounts[at] ?? 0)),
  };
}

export function areSameBounds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((bound, at) => bound === b[at]);
}

function emptyHistogram(bounds: readonly number[]): DurationHistogram {
  return { sumSeconds: 0, count: 0, bucketCounts: bounds.map(() => 0) };
}

function addedByKey<K extends string>(
  a: Readonly<Partial<Record<K, number>>>,
  b: Readonly<Partial<Record<K, number>>>,
): Partial<Record<K, number>> {
  const sum: Partial<Record<K, number>> = { ...a };
  for (const key of Object.keys(b) as K[]) sum[key] = (sum[key] ?? 0) + (b[key] ?? 0);
  return sum;
}

function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
