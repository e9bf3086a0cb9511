import { z } from "zod";
import { anyObject, epochSeconds, instant, named, openEnum, type Wire } from "./shape.ts";

const runState = openEnum(["running", "success", "failed"]);
const runKind = openEnum(["scheduled", "catchup", "manual", "backfill", "recovery"]);

export const dagTask = z.object({
  id: z.string(),
  type: openEnum(["task", "sensor", "approval"]),
  dependsOn: z.array(z.string()),
  triggerRule: openEnum(["all_success", "all_done"]),
  retries: z.int(),
  mapped: z.boolean(),
});

export const dag = named(
  "Dag",
  z.object({
    name: z.string(),
    enabled: z.boolean(),
    scheduled: z.boolean(),
    retainRuns: z.int(),
    tasks: z.array(dagTask),
    latestRun: z
      .object({
        runKey: z.string(),
        state: runState,
        kind: runKind,
        createdAt: epochSeconds,
        updatedAt: epochSeconds,
      })
      .optional(),
    runCounts: z.record(z.string(), z.int()).optional(),
    totalRuns: z.int().optional(),
    schedule: z.string().optional(),
    /** Gates that wait for a decision. */
    awaiting: z.array(z.object({ runKey: z.string(), taskkey: z.string(), since: epochSeconds.nullable() })).optional(),
    failedRuns: z.int().optional(),
    nextFireAt: instant.nullable().optional(),
  }),
);
export type Dag = Wire<typeof dag>;

export const dagRunSummary = named(
  "DagRunSummary",
  z.object({
    runKey: z.string(),
    runId: z.string(),
    state: runState,
    kind: runKind,
    logicalDate: instant.nullable(),
    createdAt: epochSeconds,
    updatedAt: epochSeconds,
    taskStates: z.record(z.string(), z.int()),
  }),
);
export type DagRunSummary = Wire<typeof dagRunSummary>;

export const dagRuns = named("DagRuns", z.object({ dag: z.string(), name: z.string(), runs: z.array(dagRunSummary) }));
export type DagRuns = Wire<typeof dagRuns>;

/** As it lies in the store. */
export const dagRunDocument = named(
  "DagRunDocument",
  z.looseObject({
    createdAt: epochSeconds,
    dag: z.string(),
    kind: runKind,
    logicalDate: instant.nullable(),
    mapped: anyObject,
    runId: z.string(),
    runKey: z.string(),
    state: runState,
    tasks: z.record(z.string(), anyObject),
    updatedAt: epochSeconds,
  }),
);
export type DagRunDocument = Wire<typeof dagRunDocument>;

export const dagXcom = named(
  "DagXcom",
  z.object({
    dag: z.string(),
    runKey: z.string(),
    runId: z.string(),
    entries: z.array(
      z.object({
        taskkey: z.string(),
        key: z.string(),
        sha256: z.string(),
        size: z.int(),
        at: epochSeconds,
        value: z.string().optional(),
        binary: z.boolean().optional(),
        oversize: z.boolean().optional(),
      }),
    ),
    truncated: z.boolean(),
  }),
);
export type DagXcom = Wire<typeof dagXcom>;

export const dagTriggered = named("DagTriggered", z.object({ dag: z.string(), name: z.string(), runKey: z.string() }));

export const backfillRequest = named("BackfillRequest", z.object({ from: instant, to: instant }));

export const backfilled = named(
  "Backfilled",
  z.object({
    ok: z.boolean(),
    /** Dates that were visited, those that had a run already included. */
    created: z.int(),
    /** Runs that were not there before. */
    new: z.int().optional(),
    /** Whether the range had more dates than one request creates. */
    truncated: z.boolean().optional(),
    /** The first of those. */
    next: instant.optional(),
  }),
);

export const recoveryRequest = named(
  "RecoveryRequest",
  z.object({
    mode: z.enum(["failed", "from"]).optional(),
    tasks: z.array(z.string()).optional(),
    dryRun: z.boolean().optional(),
    planToken: z.string().optional(),
    allowConfigChange: z.boolean().optional(),
  }),
);

export const rangeRecoveryRequest = named(
  "RangeRecoveryRequest",
  z.object({
    from: instant,
    to: instant,
    dryRun: z.boolean().optional(),
    planToken: z.string().optional(),
    allowConfigChange: z.boolean().optional(),
  }),
);

/** A plan with its token, or what carrying it out has made. */
export const recoveryAnswer = named(
  "RecoveryAnswer",
  z.looseObject({
    dryRun: z.boolean(),
    planToken: z.string().optional(),
    runKey: z.string().optional(),
    /** Whether the run was not there before. */
    created: z.boolean().optional(),
    /** Task instances that run again. */
    tasks: z.array(z.string()).optional(),
    /** Those whose results are reused. */
    preserved: z.array(z.string()).optional(),
    /** Mapped tasks whose instances are made anew. */
    resetMappings: z.array(z.string()).optional(),
    /** Whether the source ran, or may have run, with another configuration. */
    configurationChanged: z.boolean().optional(),
  }),
);
export type RecoveryAnswer = Wire<typeof recoveryAnswer>;

export const decisionRequest = named(
  "DecisionRequest",
  z.object({ decision: z.enum(["approve", "reject"]), by: z.string().optional() }),
);

export const decided = named(
  "Decided",
  z.object({ ok: z.boolean(), state: openEnum(["success", "failed", "skipped"]) }),
);
