import { z } from "zod";
import type { HistoryRow, InterruptedRow, RanRow, SkippedRow } from "../../contract/history.ts";
import type { LimitsRecord, ResourceUsage, Verification } from "../../contract/run.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { type JsonObject, jsonFloat } from "../../store/json.ts";
import { isoInstant } from "../instant.ts";
import { SERIES_POINTS_MAX } from "../limits.ts";
import {
  instantField,
  isoOrNull,
  optionalInstant,
  optionalInteger,
  optionalNumber,
  optionalText,
  orNull,
  portableOrNull,
  type RecordCodec,
  recordCodec,
} from "../record-codec.ts";
import { triggerBody, triggerField } from "./trigger-field.ts";

const triple = z.tuple([z.number(), z.number(), z.number()]);

const finiteTriples = (point: unknown) => {
  const read = triple.safeParse(point);
  return read.success ? [read.data] : [];
};

const resourcesShape = z.object({
  cpu_user_seconds: z.number(),
  cpu_system_seconds: z.number(),
  max_rss_bytes: z.number(),
  samples: z.number(),
  series: z
    .array(z.unknown())
    .catch([])
    .transform((points) => points.slice(0, SERIES_POINTS_MAX).flatMap(finiteTriples)),
});

const verificationShape = z.object({
  outcome: z.enum(["passed", "failed", "timeout", "error", "cancelled"]),
  exit_code: optionalInteger,
  started_at: instantField,
  finished_at: instantField,
  reason: optionalText,
  stdout: optionalText,
  stderr: optionalText,
  output_truncated: z.boolean().catch(false),
});

const cap = z.enum(["cpu", "memory", "processes"]);

const limitsShape = z.object({
  requested: z.object({
    cpu: z.number().optional(),
    memory_bytes: z.number().optional(),
    processes: z.number().optional(),
  }),
  enforced: z.array(cap),
  not_enforced: z.array(z.object({ cap, reason: z.string() })),
  memory_exceeded: z.boolean(),
  memory_peak_bytes: optionalNumber,
  cpu_throttled_seconds: optionalNumber,
  processes_peak: optionalInteger,
});

/** Every field by itself is tolerant: one that other builds write differently must not take the whole row away. */
const rowShape = z.object({
  outcome: z.enum(["success", "failure", "cancelled", "skipped", "unknown"]).catch("unknown"),
  exit_code: optionalInteger,
  started_at: optionalInstant,
  finished_at: optionalInstant,
  interruptedAt: optionalInstant,
  ranAt: optionalInstant,
  fail_reason: optionalText,
  skip_reason: orNull(z.literal("paused")),
  resources: orNull(resourcesShape),
  verification: orNull(verificationShape),
  limits: orNull(limitsShape),
  runId: optionalText,
  trigger: triggerField,
});

type RowFields = z.infer<typeof rowShape>;

/**
 * A row of the ledger (RUN-2), which is also what `GET /jobs/{name}/runs` shows of it. `runId` and `trigger` are ours: they tie a run
 * to its slot, and other builds pass over them.
 */
export const runRecord: RecordCodec<HistoryRow> = recordCodec({
  shape: rowShape,
  write(row) {
    switch (row.kind) {
      case "ran":
        return ranBody(row);
      case "skipped":
        return skippedBody(row);
      case "interrupted":
        return interruptedBody(row);
    }
  },
  read: readRow,
});

/** Null for a row that stands at no instant: it cannot take part in anything (REH-3). */
function readRow(fields: RowFields): HistoryRow | null {
  const { outcome, finished_at: finishedAt, interruptedAt } = fields;
  if (finishedAt === null) {
    if (interruptedAt === null) return null;
    return { kind: "interrupted", interruptedAt, owed: true, failReason: fields.fail_reason };
  }
  if (outcome === "skipped") {
    const slot = fields.trigger?.kind === "schedule" ? fields.trigger.slot : null;
    return { kind: "skipped", slot, finishedAt, skipReason: fields.skip_reason };
  }
  if (outcome === "unknown" && fields.started_at === null) {
    return { kind: "interrupted", interruptedAt: finishedAt, owed: false, failReason: fields.fail_reason };
  }
  return {
    kind: "ran",
    runId: fields.runId,
    trigger: fields.trigger,
    outcome,
    exitCode: fields.exit_code,
    startedAt: fields.started_at,
    finishedAt,
    ranAt: fields.ranAt ?? finishedAt,
    failReason: fields.fail_reason,
    resources: readResources(fields.resources),
    verification: readVerification(fields.verification),
    limits: readLimits(fields.limits),
  };
}

function ranBody(row: RanRow): JsonObject {
  const { startedAt, finishedAt } = row;
  return {
    outcome: row.outcome,
    exit_code: row.exitCode,
    started_at: isoOrNull(startedAt),
    finished_at: isoInstant(finishedAt),
    duration: startedAt === null ? null : jsonFloat(secondsBetween(startedAt, finishedAt)),
    fail_reason: portableOrNull(row.failReason),
    skip_reason: null,
    resources: row.resources === null ? null : resourcesBody(row.resources),
    ranAt: isoInstant(row.ranAt),
    ...(row.verification === null ? {} : { verification: verificationBody(row.verification) }),
    ...(row.limits === null ? {} : { limits: limitsBody(row.limits) }),
    ...(row.runId === null ? {} : { runId: row.runId }),
    ...(row.trigger === null ? {} : { trigger: triggerBody(row.trigger) }),
  };
}

function skippedBody(row: SkippedRow): JsonObject {
  return {
    outcome: "skipped",
    exit_code: null,
    started_at: null,
    finished_at: isoInstant(row.finishedAt),
    duration: null,
    fail_reason: null,
    skip_reason: row.skipReason,
    resources: null,
    ...(row.slot === null ? {} : { trigger: triggerBody({ kind: "schedule", slot: row.slot }) }),
  };
}

/** An owed slot has no `finished_at`: the catch-up watermark must not pass it (INF-8). */
function interruptedBody(row: InterruptedRow): JsonObject {
  const at = isoInstant(row.interruptedAt);
  return {
    outcome: "unknown",
    exit_code: null,
    started_at: null,
    duration: null,
    fail_reason: portableOrNull(row.failReason),
    ...(row.owed ? { interruptedAt: at } : { finished_at: at, ranAt: at }),
  };
}

/** Whole microseconds, as instants have them. */
function secondsBetween(from: EpochMs, until: EpochMs): number {
  return Math.round((until - from) * 1000) / 1e6;
}

/** Of a run, as its row has it. */
export function resourcesBody(usage: ResourceUsage): JsonObject {
  const { cpuUserSeconds, cpuSystemSeconds, series } = usage;
  return {
    cpu_user_seconds: jsonFloat(cpuUserSeconds),
    cpu_system_seconds: jsonFloat(cpuSystemSeconds),
    cpu_total_seconds: jsonFloat(cpuUserSeconds + cpuSystemSeconds),
    max_rss_bytes: Math.round(usage.maxRssBytes),
    samples: usage.samples,
    ...(series.length === 0
      ? {}
      : { series: series.map(([at, cpu, rss]) => [jsonFloat(at), jsonFloat(cpu), Math.round(rss)]) }),
  };
}

function readResources(fields: RowFields["resources"]): ResourceUsage | null {
  if (fields === null) return null;
  return {
    cpuUserSeconds: fields.cpu_user_seconds,
    cpuSystemSeconds: fields.cpu_system_seconds,
    maxRssBytes: fields.max_rss_bytes,
    samples: fields.samples,
    series: fields.series,
  };
}

function verificationBody(found: Verification): JsonObject {
  return {
    outcome: found.outcome,
    exit_code: found.exitCode,
    started_at: isoInstant(found.startedAt),
    finished_at: isoInstant(found.finishedAt),
    duration: jsonFloat(secondsBetween(found.startedAt, found.finishedAt)),
    reason: portableOrNull(found.reason),
    stdout: portableOrNull(found.stdout),
    stderr: portableOrNull(found.stderr),
    output_truncated: found.outputTruncated,
  };
}

function readVerification(fields: RowFields["verification"]): Verification | null {
  if (fields === null) return null;
  return {
    outcome: fields.outcome,
    exitCode: fields.exit_code,
    startedAt: fields.started_at,
    finishedAt: fields.finished_at,
    reason: fields.reason,
    stdout: fields.stdout,
    stderr: fields.stderr,
    outputTruncated: fields.output_truncated,
  };
}

/** Of a run, as its row has it. */
export function limitsBody(held: LimitsRecord): JsonObject {
  const { cpu, memoryBytes, processes } = held.requested;
  return {
    requested: {
      ...(cpu === undefined ? {} : { cpu: jsonFloat(cpu) }),
      ...(memoryBytes === undefined ? {} : { memory_bytes: memoryBytes }),
      ...(processes === undefined ? {} : { processes }),
    },
    enforced: [...held.enforced],
    not_enforced: held.notEnforced.map(({ cap, reason }) => ({ cap, reason })),
    memory_exceeded: held.memoryExceeded,
    memory_peak_bytes: held.memoryPeakBytes,
    cpu_throttled_seconds: held.cpuThrottledSeconds === null ? null : jsonFloat(held.cpuThrottledSeconds),
    processes_peak: held.processesPeak,
  };
}

function readLimits(fields: RowFields["limits"]): LimitsRecord | null {
  if (fields === null) return null;
  const { cpu, memory_bytes: memoryBytes, processes } = fields.requested;
  return {
    requested: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      ...(processes === undefined ? {} : { processes }),
    },
    enforced: fields.enforced,
    notEnforced: fields.not_enforced,
    memoryExceeded: fields.memory_exceeded,
    memoryPeakBytes: fields.memory_peak_bytes,
    cpuThrottledSeconds: fields.cpu_throttled_seconds,
    processesPeak: fields.processes_peak,
  };
}
