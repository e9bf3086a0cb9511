import type { ClusterFigures } from "../../contract/cluster-control.ts";
import type { ControlPlane } from "../../contract/control-plane.ts";
import type { JobView } from "../../contract/job-view.ts";
import { version } from "../../contract/version.ts";
import type { Summary } from "../../contract/wire/identity.ts";
import type { StatusRow } from "../../contract/wire/job.ts";
import { isoInstant } from "../../journal/instant.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { Sliced } from "../../schedule/fleet.ts";
import { pidsOf, scheduledIn } from "./job.ts";
import { outcomeOf } from "./run.ts";

/** One row per job, for people and for scripts (http 7.1). */
export interface StatusTexts {
  readonly row: StatusRow;
  readonly line: string;
}

export function statusOf(view: JobView, now: EpochMs): StatusTexts {
  const { config, instances, neverFires } = view;
  const job = config.name;
  if (instances.length > 0) {
    const pid = pidsOf(instances);
    return {
      row: { job, status: "running", pid, ...(neverFires ? { never_fires: true } : {}) },
      line: `${job}: running (pid: ${pid.join(", ")})`,
    };
  }
  if (!config.enabled) return { row: { job, status: "disabled" }, line: `${job}: disabled` };
  if (neverFires)
    return {
      row: { job, status: "scheduled", scheduled_in: null, never_fires: true },
      line: `${job}: never fires (schedule has no future occurrence)`,
    };
  if (config.timing.kind === "reboot")
    return { row: { job, status: "scheduled", scheduled_in: "@reboot" }, line: `${job}: scheduled (@reboot)` };
  const seconds = scheduledIn(view, now) ?? 0;
  return {
    row: { job, status: "scheduled", scheduled_in: seconds },
    line: `${job}: scheduled (${countdown(seconds)})`,
  };
}

/** `in 54 seconds`: cut to whole units, in the plural from 2 on (http 7.1). */
export function countdown(seconds: number): string {
  if (seconds < 120) return unit(seconds, "second");
  if (seconds < 120 * 60) return unit(seconds / 60, "minute");
  if (seconds < 48 * 3600) return unit(seconds / 3600, "hour");
  return unit(seconds / 86_400, "day");
}

function unit(value: number, name: string): string {
  return `in ${Math.trunc(value)} ${name}${value >= 2 ? "s" : ""}`;
}

/** The daemon at a glance (http 7.1). */
export function* summaryPayload(control: ControlPlane, now: EpochMs): Sliced<Summary> {
  const jobs = { total: 0, enabled: 0, disabled: 0, running: 0, paused: 0, failing: 0, never_fires: 0 };
  let next: { readonly job: string; readonly at: EpochMs } | null = null;
  for (const view of control.jobs()) {
    jobs.total++;
    jobs[view.config.enabled ? "enabled" : "disabled"]++;
    if (view.instances.length > 0) jobs.running++;
    if (view.pause !== null) jobs.paused++;
    if (view.lastRow !== null && outcomeOf(view.lastRow) === "failure") jobs.failing++;
    if (view.neverFires) jobs.never_fires++;
    const at = fireToExpect(view);
    if (at !== null && (next === null || at < next.at)) next = { job: view.config.name, at };
    yield;
  }
  const dags = control.dagConfigs().length;
  return {
    version,
    node_name: control.nodeName(),
    generated_at: isoInstant(now),
    jobs,
    next_fire: next === null ? null : { job: next.job, in: Math.max(0, next.at - now) / 1000, at: isoInstant(next.at) },
    ...(dags === 0 ? {} : { dags: { total: dags } }),
    cluster: clusterSummary(control.cluster?.figures() ?? null),
    draining: control.isDraining(),
  };
}

/** Null for a job that will not fire by itself next: running, without a fire, or paused until after it. */
function fireToExpect({ nextFireAt, instances, pause }: JobView): EpochMs | null {
  if (nextFireAt === null || instances.length > 0) return null;
  return pause !== null && nextFireAt < pause.until ? null : nextFireAt;
}

function clusterSummary(figures: ClusterFigures | null): Summary["cluster"] {
  if (figures === null) return { enabled: false };
  const { distribution, quorate, isLeader, leader } = figures;
  return { enabled: true, distribution, quorate, is_leader: isLeader, leader };
}
