import { z } from "zod";
import { instant, named, openEnum, type Wire } from "./shape.ts";

const outcome = openEnum(["success", "failure", "cancelled", "skipped", "unknown"]);

/** Seconds, percent and bytes: `[epoch seconds, cpu percent, rss bytes]`. */
export const resourceSeries = z.array(z.tuple([z.number(), z.number(), z.number()]));

const resources = z.object({
  cpu_user_seconds: z.number(),
  cpu_system_seconds: z.number(),
  cpu_total_seconds: z.number(),
  max_rss_bytes: z.int(),
  samples: z.int(),
  /** In `/jobs/{name}/resources` only. */
  series: resourceSeries.optional(),
});

const verification = z.object({
  outcome: openEnum(["passed", "failed", "timeout", "error", "cancelled"]),
  exit_code: z.int().nullable(),
  started_at: instant,
  finished_at: instant,
  duration: z.number(),
  reason: z.string().nullable(),
  stdout: z.string().nullable(),
  stderr: z.string().nullable(),
  output_truncated: z.boolean(),
});

const cap = openEnum(["cpu", "memory", "processes"]);

const limits = z.object({
  requested: z.object({
    cpu: z.number().optional(),
    memory_bytes: z.int().optional(),
    processes: z.int().optional(),
  }),
  enforced: z.array(cap),
  not_enforced: z.array(z.object({ cap, reason: z.string() })),
  memory_exceeded: z.boolean(),
  memory_peak_bytes: z.number().nullable(),
  cpu_throttled_seconds: z.number().nullable(),
  processes_peak: z.number().nullable(),
});

export const triggerShape = named(
  "Trigger",
  z.object({
    kind: openEnum(["schedule", "boot", "retry", "catch-up", "manual", "dag"]),
    slot: instant.optional(),
    attempt: z.int().optional(),
    by: z.string().nullable().optional(),
    dag: z.string().optional(),
    runKey: z.string().optional(),
    taskKey: z.string().optional(),
  }),
);

/** A row of a job's history. */
export const jobRun = named(
  "JobRun",
  z.object({
    outcome,
    /** Negative: killed by that signal; 127 not launched; -100 timed out. */
    exit_code: z.int().nullable(),
    started_at: instant.nullable(),
    finished_at: instant.nullable(),
    duration: z.number().nullable(),
    fail_reason: z.string().nullable(),
    skip_reason: z.string().nullable(),
    resources: resources.nullable(),
    /** When the run ended; no key on a slot that was skipped. */
    ranAt: instant.optional(),
    verification: verification.optional(),
    limits: limits.optional(),
    runId: z.string().optional(),
    trigger: triggerShape.optional(),
  }),
);
export type JobRun = Wire<typeof jobRun>;

export const runStatsShape = named(
  "RunStats",
  z.object({
    total: z.int(),
    success: z.int(),
    failure: z.int(),
    cancelled: z.int(),
    unknown: z.int(),
    success_rate: z.number().nullable(),
    avg_duration: z.number().nullable(),
    min_duration: z.number().nullable(),
    max_duration: z.number().nullable(),
    last_duration: z.number().nullable(),
    avg_cpu_seconds: z.number().nullable(),
    max_cpu_seconds: z.number().nullable(),
    last_cpu_seconds: z.number().nullable(),
    avg_rss_bytes: z.number().nullable(),
    max_rss_bytes: z.number().nullable(),
    last_rss_bytes: z.number().nullable(),
  }),
);
export type WireRunStats = Wire<typeof runStatsShape>;

export const jobRuns = named("JobRuns", z.object({ name: z.string(), runs: z.array(jobRun), stats: runStatsShape }));

export const activityRun = named(
  "ActivityRun",
  z.object({ started_at: instant.nullable(), finished_at: instant.nullable(), outcome }),
);
export const activity = named("Activity", z.object({ jobs: z.record(z.string(), z.array(activityRun)) }));

export const trends = named(
  "JobTrends",
  z.object({
    name: z.string(),
    source: openEnum(["durable", "memory"]),
    generated_at: instant,
    windows: z.record(z.string(), runStatsShape),
  }),
);

const live = z.object({
  started_at: instant.nullable(),
  pid: z.int().nullable(),
  current: z.object({ cpu_seconds: z.number(), cpu_percent: z.number(), rss_bytes: z.int() }).nullable(),
  series: resourceSeries,
});

export const jobResources = named(
  "JobResources",
  z.object({
    name: z.string(),
    monitored: z.boolean(),
    interval: z.number().nullable(),
    live: z.array(live),
    runs: z.array(jobRun),
  }),
);
export type JobResources = Wire<typeof jobResources>;

/** A run among those of all jobs. */
export const fleetRun = named("FleetRun", jobRun.extend({ job: z.string() }));

export const fleetRuns = named(
  "FleetRuns",
  z.object({
    runs: z.array(fleetRun),
    /** To be given as `before` for what came earlier; null at the end. */
    next: z.string().nullable(),
    source: openEnum(["durable", "memory"]),
  }),
);
export type FleetRuns = Wire<typeof fleetRuns>;

/** One run with where it stands: `running` has no outcome yet. */
export const runDetail = named(
  "RunDetail",
  z.object({
    job: z.string(),
    runId: z.string(),
    status: openEnum(["running", "finished"]),
    pid: z.int().nullable(),
    run: jobRun.nullable(),
    trigger: triggerShape.optional(),
    started_at: instant.nullable(),
    /** Where its output can be had: nowhere when null. */
    output: openEnum(["live", "memory", "archive"]).nullable(),
  }),
);
export type RunDetail = Wire<typeof runDetail>;
