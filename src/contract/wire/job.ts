import { z } from "zod";
import { jobRun, triggerShape } from "./run.ts";
import { instant, named, openEnum, type Wire } from "./shape.ts";

export const scheduleFinding = named(
  "ScheduleFinding",
  z.object({ code: z.string(), level: openEnum(["warning", "note"]), message: z.string() }),
);

export const pause = named(
  "Pause",
  z.object({
    since: instant,
    until: instant,
    note: z.string(),
    by: z.string(),
    channel: openEnum(["api", "mcp", "cli"]),
  }),
);
export type Pause = Wire<typeof pause>;

export const pauseRequest = named(
  "PauseRequest",
  z.object({
    durationSeconds: z.int().min(1).max(2_592_000).optional(),
    until: instant.optional(),
    note: z.string().max(500).optional(),
    by: z.string().max(100).optional(),
  }),
);

const sla = z.object({
  thresholds: z.record(z.string(), z.number()),
  state: openEnum(["ok", "late"]),
  breaches: z.array(
    z.object({
      check: openEnum(["maxTimeSinceSuccess", "lateAfter", "maxRuntime"]),
      since: instant,
      observed_seconds: z.number(),
      threshold_seconds: z.number(),
    }),
  ),
});

const retry = z.object({
  attempt: z.int(),
  /** Null: unlimited. */
  maxAttempts: z.int().nullable(),
  nextRetryAt: instant,
  delaySeconds: z.number(),
});

const liveRun = z.object({
  runId: z.string(),
  pid: z.int().nullable(),
  started_at: instant.nullable(),
  attempt: z.int(),
  trigger: triggerShape,
});

export const job = named(
  "Job",
  z.object({
    name: z.string(),
    enabled: z.boolean(),
    schedule: z.string(),
    command: z.string(),
    captureStdout: z.boolean(),
    captureStderr: z.boolean(),
    utc: z.boolean(),
    timezone: z.string().nullable(),
    running: z.boolean(),
    pids: z.array(z.int()),
    scheduled_in: z.number().nullable(),
    never_fires: z.boolean(),
    schedule_findings: z.array(scheduleFinding),
    last_run: jobRun.nullable(),
    history: z.array(z.object({ outcome: z.string(), duration: z.number().nullable() })),
    paused: pause.nullable(),
    schedule_resolved: z.string().optional(),
    running_resources: z
      .object({
        cpu_percent: z.number(),
        cpu_seconds: z.number(),
        rss_bytes: z.int(),
        instances: z.int(),
      })
      .optional(),
    retry: retry.optional(),
    sla: sla.optional(),
    rebootPending: z.boolean().optional(),
    concurrencyScope: openEnum(["cluster"]).optional(),
    slot: z.object({ held: z.boolean(), holder: z.string().nullable(), refs: z.int() }).optional(),
    clusterPolicy: openEnum(["Leader", "PreferLeader", "EveryNode"]).optional(),
    clusterOwner: z.string().nullable().optional(),
    priority: z.string().optional(),
    /** The live runs, when there are any. */
    live: z.array(liveRun).optional(),
  }),
);
export type Job = Wire<typeof job>;

export const statusRow = named(
  "StatusRow",
  z.object({
    job: z.string(),
    status: openEnum(["running", "disabled", "scheduled"]),
    pid: z.array(z.int()).optional(),
    /** Seconds, `@reboot`, or null for a schedule that never fires. */
    scheduled_in: z.union([z.number(), z.string()]).nullable().optional(),
    never_fires: z.boolean().optional(),
  }),
);
export type StatusRow = Wire<typeof statusRow>;

export const started = named(
  "Started",
  z.object({
    started: z.string(),
    /** Whether a run was really launched; `reason` says why not. */
    launched: z.boolean().optional(),
    runId: z.string().optional(),
    reason: z.string().optional(),
  }),
);

export const queuedStart = named(
  "QueuedStart",
  z.object({ queued: z.boolean(), queueId: z.string(), pool: z.string() }),
);

export const cancelled = named("Cancelled", z.object({ cancelled: z.string(), instances: z.int() }));

export const pausedAnswer = named("PausedAnswer", z.object({ paused: pause.nullable() }));

export const resumeRequest = named("ResumeRequest", z.object({ by: z.string().optional() }));
