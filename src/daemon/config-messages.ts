import type { Config, DagConfig, JobConfig, Timing } from "../config/model.ts";
import { parseSchedule } from "../schedule/expression.ts";
import { localZone, utcZone, type Zone, zoneNamed } from "../schedule/zone.ts";

/**
 * A configuration on its way from the thread that read it. Timetables and zones stay behind: they are made anew from their texts where
 * they are used, so that jobs go on sharing them.
 */
export type ConfigMessage =
  | { readonly kind: "bad"; readonly detail: string }
  | { readonly kind: "frame"; readonly config: Omit<Config, "jobs" | "dags">; readonly dags: readonly SentDag[]; readonly jobs: number }
  | { readonly kind: "jobs"; readonly jobs: readonly SentJob[] };

/** "next" asks for the next message: the receiver takes one at a time, so that none of its turns is long. */
export type ConfigRequest = "next";

export type SentJob = Omit<JobConfig, "timing"> & { readonly zone: SentZone | null };
export type SentDag = Omit<DagConfig, "timing" | "tasks"> & {
  readonly zone: SentZone | null;
  readonly tasks: readonly (Omit<DagConfig["tasks"][number], "job"> & { readonly job: SentJob | null })[];
};

interface SentZone {
  readonly label: string;
  readonly name: string;
}

export function sentJob({ timing, ...job }: JobConfig): SentJob {
  return { ...job, zone: sentZone(timing) };
}

export function sentDag({ timing, tasks, ...dag }: DagConfig): SentDag {
  return {
    ...dag,
    zone: timing === null ? null : sentZone(timing),
    tasks: tasks.map(({ job, ...task }) => ({ ...task, job: job === null ? null : sentJob(job) })),
  };
}

export function receivedJob({ zone, ...job }: SentJob): JobConfig {
  return { ...job, timing: zone === null ? { kind: "reboot" } : timetable(job.scheduleText, job.name, zone) };
}

export function receivedDag({ zone, tasks, ...dag }: SentDag): DagConfig {
  return {
    ...dag,
    timing: zone === null || dag.scheduleText === null ? null : timetable(dag.scheduleText, `dag:${dag.name}`, zone),
    tasks: tasks.map(({ job, ...task }) => ({ ...task, job: job === null ? null : receivedJob(job) })),
  };
}

function sentZone(timing: Timing): SentZone | null {
  return timing.kind === "reboot" ? null : { label: timing.zone.label, name: timing.zone.name };
}

function timetable(text: string, hashKey: string, { label, name }: SentZone): Extract<Timing, { kind: "timetable" }> {
  const zone: Zone | null = label === "local" ? localZone(name) : label === "UTC" ? utcZone : zoneNamed(label);
  if (zone === null) throw new Error(`the zone ${label} was known to the thread that read the configuration, and is not here`);
  return { kind: "timetable", schedule: parseSchedule(text, hashKey), zone };
}
