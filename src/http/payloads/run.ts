import type { HistoryRow, InterruptedRow, RanRow, SkippedRow } from "../../contract/history.ts";
import type { LimitsRecord, ResourceUsage, Trigger, Verification } from "../../contract/run.ts";
import type { RunStats } from "../../contract/run-stats.ts";
import type { JobRun, WireRunStats } from "../../contract/wire/run.ts";
import { isoInstant } from "../../journal/instant.ts";
import type { EpochMs } from "../../platform/clock.ts";

/** Whether the curves of monitored runs are shown: in one answer only, they are long. */
export type SeriesShown = "with series" | "without series";

/** A row of a job's history as the API shows it (http 7.2). */
export function runPayload(row: HistoryRow, series: SeriesShown = "without series"): JobRun {
  switch (row.kind) {
    case "ran":
      return ranPayload(row, series);
    case "skipped":
      return skippedPayload(row);
    case "interrupted":
      return interruptedPayload(row);
  }
}

/** From start to finish; null for a row that did not start. */
export function durationSeconds(row: HistoryRow): number | null {
  if (row.kind !== "ran" || row.startedAt === null) return null;
  return Math.round((row.finishedAt - row.startedAt) * 1000) / 1e6;
}

export function outcomeOf(row: HistoryRow): "success" | "failure" | "cancelled" | "skipped" | "unknown" {
  if (row.kind === "ran") return row.outcome;
  return row.kind === "skipped" ? "skipped" : "unknown";
}

export function instantOrNull(at: EpochMs | null): string | null {
  return at === null ? null : isoInstant(at);
}

export function triggerPayload(trigger: Trigger) {
  return "slot" in trigger ? { kind: trigger.kind, slot: isoInstant(trigger.slot) } : trigger;
}

export function statsPayload(stats: RunStats): WireRunStats {
  return {
    total: stats.total,
    success: stats.success,
    failure: stats.failure,
    cancelled: stats.cancelled,
    unknown: stats.unknown,
    success_rate: stats.successRate,
    avg_duration: stats.averageDurationSeconds,
    min_duration: stats.minDurationSeconds,
    max_duration: stats.maxDurationSeconds,
    last_duration: stats.lastDurationSeconds,
    avg_cpu_seconds: stats.averageCpuSeconds,
    max_cpu_seconds: stats.maxCpuSeconds,
    last_cpu_seconds: stats.lastCpuSeconds,
    avg_rss_bytes: stats.averageRssBytes,
    max_rss_bytes: stats.maxRssBytes,
    last_rss_bytes: stats.lastRssBytes,
  };
}

function ranPayload(row: RanRow, series: SeriesShown): JobRun {
  return {
    outcome: row.outcome,
    exit_code: row.exitCode,
    started_at: instantOrNull(row.startedAt),
    finished_at: isoInstant(row.finishedAt),
    duration: durationSeconds(row),
    fail_reason: row.failReason,
    skip_reason: null,
    resources: row.resources === null ? null : usagePayload(row.resources, series),
    ranAt: isoInstant(row.ranAt),
    ...(row.verification === null ? {} : { verification: verificationPayload(row.verification) }),
    ...(row.limits === null ? {} : { limits: limitsPayload(row.limits) }),
    ...(row.runId === null ? {} : { runId: row.runId }),
    ...(row.trigger === null ? {} : { trigger: triggerPayload(row.trigger) }),
  };
}

function skippedPayload({ finishedAt, skipReason, slot }: SkippedRow): JobRun {
  return {
    outcome: "skipped",
    exit_code: null,
    started_at: null,
    finished_at: isoInstant(finishedAt),
    duration: null,
    fail_reason: null,
    skip_reason: skipReason,
    resources: null,
    ...(slot === null ? {} : { trigger: triggerPayload({ kind: "schedule", slot }) }),
  };
}

function interruptedPayload({ interruptedAt, failReason }: InterruptedRow): JobRun {
  const at = isoInstant(interruptedAt);
  return {
    outcome: "unknown",
    exit_code: null,
    started_at: null,
    finished_at: at,
    duration: null,
    fail_reason: failReason,
    skip_reason: null,
    resources: null,
    ranAt: at,
  };
}

function usagePayload(usage: ResourceUsage, series: SeriesShown) {
  const { cpuUserSeconds, cpuSystemSeconds } = usage;
  return {
    cpu_user_seconds: cpuUserSeconds,
    cpu_system_seconds: cpuSystemSeconds,
    cpu_total_seconds: cpuUserSeconds + cpuSystemSeconds,
    max_rss_bytes: Math.round(usage.maxRssBytes),
    samples: usage.samples,
    ...(series === "with series" ? { series: usage.series } : {}),
  };
}

function verificationPayload(found: Verification) {
  return {
    outcome: found.outcome,
    exit_code: found.exitCode,
    started_at: isoInstant(found.startedAt),
    finished_at: isoInstant(found.finishedAt),
    duration: Math.round((found.finishedAt - found.startedAt) * 1000) / 1e6,
    reason: found.reason,
    stdout: found.stdout,
    stderr: found.stderr,
    output_truncated: found.outputTruncated,
  };
}

function limitsPayload(held: LimitsRecord) {
  const { cpu, memoryBytes, processes } = held.requested;
  return {
    requested: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryBytes === undefined ? {} : { memory_bytes: memoryBytes }),
      ...(processes === undefined ? {} : { processes }),
    },
    enforced: held.enforced,
    not_enforced: held.notEnforced,
    memory_exceeded: held.memoryExceeded,
    memory_peak_bytes: held.memoryPeakBytes,
    cpu_throttled_seconds: held.cpuThrottledSeconds,
    processes_peak: held.processesPeak,
  };
}
