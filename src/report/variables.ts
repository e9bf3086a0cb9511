import type { LimitsRecord, Verification } from "../contract/run.ts";
import { instantText } from "./instant-text.ts";
import { cpuSeconds, type Story } from "./story.ts";
import { Float, type Key, type Value, type ValueMap, type Variables } from "./template/value.ts";

/** The names a template knows (running 11.2 and 13). Those of a run are there in every report, null where there is no run. */
export function variables(story: Story): Variables {
  const all = new Map<string, Value>([
    ["name", story.name],
    ["success", story.success],
    ["fail_reason", story.failReason],
    ["stdout", story.stdout],
    ["stderr", story.stderr],
    ["exit_code", story.exitCode],
    ["command", story.command],
    ["shell", story.shell],
    ["environment", story.environment === null ? null : new Map<Key, Value>(Object.entries(story.environment))],
    ["host", story.host],
    ["schedule", story.schedule],
    ["started_at", story.startedAt],
    ["run_id", story.runId],
    ["cpu_seconds", float(cpuSeconds(story))],
    ["cpu_user_seconds", float(story.cpuUserSeconds)],
    ["cpu_system_seconds", float(story.cpuSystemSeconds)],
    ["max_rss_bytes", story.maxRssBytes],
    ["verification", story.verification === null ? null : verificationMap(story.verification)],
    ["limits", story.limits === null ? null : limitsMap(story.limits)],
    ["note", null],
  ]);
  const { facts } = story;
  switch (facts.kind) {
    case "run":
      all.set("note", facts.note);
      break;
    case "late":
      all.set("sla_check", facts.check);
      all.set("threshold_seconds", facts.thresholdSeconds);
      all.set("observed_seconds", float(facts.observedSeconds));
      all.set("last_success_at", facts.lastSuccessAt === null ? null : instantText(facts.lastSuccessAt));
      break;
    case "event":
      for (const [name, value] of Object.entries(facts.extras)) all.set(name, value);
      all.set("event", facts.event);
      all.set("subject", facts.subject);
      all.set("message", facts.message);
  }
  return all;
}

function float(value: number | null): Float | null {
  return value === null ? null : new Float(value);
}

function verificationMap(verification: Verification): ValueMap {
  return new Map<Key, Value>([
    ["outcome", verification.outcome],
    ["exit_code", verification.exitCode],
    ["started_at", instantText(verification.startedAt)],
    ["finished_at", instantText(verification.finishedAt)],
    ["duration", new Float((verification.finishedAt - verification.startedAt) / 1_000)],
    ["reason", verification.reason],
    ["stdout", verification.stdout],
    ["stderr", verification.stderr],
    ["output_truncated", verification.outputTruncated],
  ]);
}

function limitsMap(limits: LimitsRecord): ValueMap {
  const { cpu, memoryBytes, processes } = limits.requested;
  const requested = new Map<Key, Value>();
  if (cpu !== undefined) requested.set("cpu", new Float(cpu));
  if (memoryBytes !== undefined) requested.set("memory_bytes", memoryBytes);
  if (processes !== undefined) requested.set("processes", processes);
  return new Map<Key, Value>([
    ["requested", requested],
    ["enforced", limits.enforced],
    [
      "not_enforced",
      limits.notEnforced.map(({ cap, reason }) => new Map<Key, Value>([["cap", cap], ["reason", reason]])), // biome-ignore format: a pair
    ],
    ["memory_exceeded", limits.memoryExceeded],
    ["memory_peak_bytes", limits.memoryPeakBytes],
    ["cpu_throttled_seconds", float(limits.cpuThrottledSeconds)],
    ["processes_peak", limits.processesPeak],
  ]);
}
