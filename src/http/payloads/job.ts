import type { JobConfig } from "../../config/model.ts";
import type { HistoryRow } from "../../contract/history.ts";
import type { JobInstance, JobOwner, JobView, PendingRetry, SlaStanding } from "../../contract/job-view.ts";
import type { JobPause } from "../../contract/pause.ts";
import type { Job, Pause } from "../../contract/wire/job.ts";
import { isoInstant } from "../../journal/instant.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { findingsOf } from "./findings.ts";
import { durationSeconds, instantOrNull, outcomeOf, runPayload, triggerPayload } from "./run.ts";

/** Rows of the short history in a job's own answer. */
const SHORT_HISTORY_ROWS = 20;

/** A job as `GET /jobs` and `GET /jobs/{name}` show it (http 7.2). */
export function jobPayload(view: JobView, now: EpochMs): Job {
  return { ...leading(view), scheduled_in: scheduledIn(view, now), ...following(view, now) };
}

/**
 * The same as JSON text, and the text its version is known by: there the countdown is replaced by the instant it counts down to, so that
 * passing time alone makes no new version (http 3.5).
 */
export function jobTexts(view: JobView, now: EpochMs): { readonly text: string; readonly versionText: string } {
  const before = JSON.stringify(leading(view)).slice(0, -1);
  const after = JSON.stringify(following(view, now)).slice(1);
  const countdown = scheduledIn(view, now);
  return {
    text: `${before},"scheduled_in":${countdown},${after}`,
    versionText: `${before}${countdown === null ? null : view.nextFireAt}${after}`,
  };
}

/** Seconds to the next fire; null when there is none to wait for (http 7.2). */
export function scheduledIn({ nextFireAt, instances }: JobView, now: EpochMs): number | null {
  return nextFireAt === null || instances.length > 0 ? null : Math.max(0, nextFireAt - now) / 1000;
}

/** Pids of the instances whose process exists. */
export function pidsOf(instances: readonly JobInstance[]): number[] {
  return instances.flatMap(({ pid }) => (pid === null ? [] : [pid]));
}

export function pausePayload({ since, until, note, by, channel }: JobPause): Pause {
  return { since: isoInstant(since), until: isoInstant(until), note, by, channel };
}

function leading({ config, instances }: JobView) {
  return {
    name: config.name,
    enabled: config.enabled,
    schedule: config.scheduleText,
    command: typeof config.command === "string" ? config.command : config.command.join(" "),
    captureStdout: config.launch.captureStdout,
    captureStderr: config.launch.captureStderr,
    utc: config.utc,
    timezone: timezoneShown(config),
    running: instances.length > 0,
    pids: pidsOf(instances),
  };
}

function following(view: JobView, now: EpochMs) {
  const { config, instances, lastRow, rows, pause, retry, sla, slot, owner } = view;
  return {
    never_fires: view.neverFires,
    schedule_findings: findingsOf(config, now),
    last_run: lastRow === null ? null : runPayload(lastRow),
    history: rows.slice(-SHORT_HISTORY_ROWS).map(shortRow),
    paused: pause === null ? null : pausePayload(pause),
    ...resolvedSchedule(config),
    ...runningResources(instances),
    ...(retry === null ? {} : { retry: retryPayload(retry, config) }),
    ...(sla === null ? {} : { sla: slaPayload(sla) }),
    ...(view.rebootPending ? { rebootPending: true } : {}),
    ...(slot === null ? {} : { concurrencyScope: "cluster", slot }),
    ...(owner === null ? {} : ownership(config, owner)),
    ...(config.launch.priority === "normal" ? {} : { priority: config.launch.priority }),
    ...(instances.length === 0 ? {} : { live: instances.map(liveRun) }),
  };
}

/** The label of its zone; null for the machine's local time. */
function timezoneShown({ timezone, utc }: JobConfig): string | null {
  return timezone ?? (utc ? "UTC" : null);
}

function shortRow(row: HistoryRow) {
  return { outcome: outcomeOf(row), duration: durationSeconds(row) };
}

function resolvedSchedule({ timing }: JobConfig) {
  if (timing.kind !== "timetable" || timing.schedule.resolved === timing.schedule.source) return {};
  return { schedule_resolved: timing.schedule.resolved };
}

function runningResources(instances: readonly JobInstance[]) {
  const sampled = instances.flatMap(({ resources }) => (resources === null ? [] : [resources]));
  if (sampled.length === 0) return {};
  const total = { cpu_percent: 0, cpu_seconds: 0, rss_bytes: 0, instances: sampled.length };
  for (const { cpuPercent, cpuSeconds, rssBytes } of sampled) {
    total.cpu_percent += cpuPercent;
    total.cpu_seconds += cpuSeconds;
    total.rss_bytes += Math.round(rssBytes);
  }
  return { running_resources: total };
}

function retryPayload({ attempt, dueAt, delaySeconds }: PendingRetry, { retry }: JobConfig) {
  const maxAttempts = retry.maximumRetries === "unlimited" ? null : retry.maximumRetries;
  return { attempt, maxAttempts, nextRetryAt: isoInstant(dueAt), delaySeconds };
}

function slaPayload({ thresholds, state, breaches }: SlaStanding) {
  return {
    thresholds,
    state,
    breaches: breaches.map(({ check, since, observedSeconds, thresholdSeconds }) => ({
      check,
      since: isoInstant(since),
      observed_seconds: observedSeconds,
      threshold_seconds: thresholdSeconds,
    })),
  };
}

function ownership({ clusterPolicy }: JobConfig, owner: JobOwner) {
  return { clusterPolicy, ...(owner.kind === "by job" ? { clusterOwner: owner.name } : {}) };
}

function liveRun({ runId, trigger, pid, startedAt }: JobInstance) {
  return {
    runId,
    pid,
    started_at: instantOrNull(startedAt),
    attempt: trigger.kind === "retry" ? trigger.attempt : 0,
    trigger: triggerPayload(trigger),
  };
}
