import { z } from "zod";
import type { CountersSnapshot, JobCounters, RunOutcome } from "../../contract/counters.ts";
import type { SlaCheck } from "../../contract/report.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { type JsonObject, jsonFloat, setOwn } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { orNull, type RecordCodec, recordCodec } from "../record-codec.ts";

/** `counters/<host>`: what the node has counted, for the daemon that follows (state 14). */
export interface CountersRecord extends CountersSnapshot {
  readonly at: EpochMs;
}

const outcomes = ["success", "failure", "cancelled", "skipped", "unknown"] as const satisfies readonly RunOutcome[];
const checks = ["maxTimeSinceSuccess", "lateAfter", "maxRuntime"] as const satisfies readonly SlaCheck[];

/** A count that is none is left out of the sum, by itself (CNT-4). */
const count = z.int().nonnegative().catch(0);
const sum = z.number().nonnegative().catch(0);
const instant = orNull(z.number());
const counts = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((fields) => new Map(Object.entries(fields).map(([key, value]) => [key, count.parse(value)])));

const jobShape = z.object({
  runs: counts,
  retries: count,
  permanent_failures: count,
  start_failures: count,
  duration_sum: sum,
  duration_count: count,
  bucket_counts: z.array(z.int().nonnegative()).catch([]),
  last_success_time: instant,
  last_failure_time: instant,
  cpu_user_sum: sum,
  cpu_system_sum: sum,
  cpu_count: count,
  max_rss_observed: count,
  sla_breaches: counts,
});

const shape = z.object({
  buckets: z.array(z.number()).catch([]),
  // Not a z.record: that one leaves out keys like `__proto__`, which are ordinary job names.
  jobs: z.custom<Readonly<Record<string, unknown>>>((value) => typeof value === "object" && value !== null),
});

export const countersRecord: RecordCodec<CountersRecord> = recordCodec({
  shape,
  write({ at, bounds, jobs }) {
    const bodies: Record<string, JsonObject> = {};
    for (const [name, counters] of jobs) setOwn(bodies, name, jobBody(counters));
    return { at: isoInstant(at), buckets: bounds.map(jsonFloat), jobs: bodies };
  },
  read({ buckets, jobs }) {
    const read = new Map<string, JobCounters>();
    for (const [name, fields] of Object.entries(jobs)) {
      const counters = jobShape.safeParse(fields);
      if (counters.success) read.set(name, countersOf(counters.data));
    }
    return { at: 0, bounds: buckets, jobs: read };
  },
});

function jobBody(counters: JobCounters): JsonObject {
  const { durations, lastSuccessAt, lastFailureAt } = counters;
  return {
    runs: { ...counters.runs },
    retries: counters.retries,
    permanent_failures: counters.permanentFailures,
    start_failures: counters.startFailures,
    duration_sum: jsonFloat(durations.sumSeconds),
    duration_count: durations.count,
    bucket_counts: [...durations.bucketCounts],
    last_success_time: lastSuccessAt === null ? null : jsonFloat(lastSuccessAt / 1000),
    last_failure_time: lastFailureAt === null ? null : jsonFloat(lastFailureAt / 1000),
    cpu_user_sum: jsonFloat(counters.cpuUserSeconds),
    cpu_system_sum: jsonFloat(counters.cpuSystemSeconds),
    cpu_count: counters.cpuRuns,
    max_rss_observed: Math.round(counters.maxRssBytes),
    sla_breaches: { ...counters.slaBreaches },
  };
}

function countersOf(fields: z.infer<typeof jobShape>): JobCounters {
  return {
    runs: picked(outcomes, fields.runs),
    retries: fields.retries,
    permanentFailures: fields.permanent_failures,
    startFailures: fields.start_failures,
    durations: { sumSeconds: fields.duration_sum, count: fields.duration_count, bucketCounts: fields.bucket_counts },
    lastSuccessAt: fields.last_success_time === null ? null : fields.last_success_time * 1000,
    lastFailureAt: fields.last_failure_time === null ? null : fields.last_failure_time * 1000,
    cpuUserSeconds: fields.cpu_user_sum,
    cpuSystemSeconds: fields.cpu_system_sum,
    cpuRuns: fields.cpu_count,
    maxRssBytes: fields.max_rss_observed,
    slaBreaches: picked(checks, fields.sla_breaches),
  };
}

function picked<K extends string>(keys: readonly K[], found: ReadonlyMap<string, number>): Partial<Record<K, number>> {
  const kept: Partial<Record<K, number>> = {};
  for (const key of keys) {
    const value = found.get(key);
    if (value !== undefined && value > 0) kept[key] = value;
  }
  return kept;
}
