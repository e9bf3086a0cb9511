import type { Config, DagConfig, JobConfig, Timing } from "../config/model.ts";
import { parseSchedule } from "../schedule/expression.ts";
import { localZone, utcZone, type Zone, zoneNamed } from "../schedule/zone.ts";

/**
 * A configuration on its way from the thread that read it. Timetables and zones stay behind: they are made anew from their texts where
 * they are used, so that jobs go on sharing them.
 */
export type ConfigMessage =
  | { readonly kind: "bad"; readonly detail: string }
  | {
      readonly kind: "frame";
      readonly config: Omit<Config, "jobs" | "dags">;
      readonly dags: readonly SentDag[];
      readonly jobSetId: string;
      readonly jobs: number;
    }
  | { readonly kind: "jobs"; readonly jobs: readonly SentJob[] };

/** "next" asks for the next message: the receiver takes one at a time, so that none of its turns is long. */
export type ConfigRequest = "next";

export type SentJob = Omit<JobConfig, "timing"> & { readonly timing: SentTiming };
export type SentDag = Omit<DagConfig, "timing" | "tasks"> & {
  readonly timing: SentTiming | null;
  readonly tasks: readonly (Omit<DagConfig["tasks"][number], "job"> & { readonly job: SentJob | null })[];
};

/** A timetable goes as the zone it is in; its expression is the job's text. */
type SentTiming =
  | Exclude<Timing, { kind: "timetable" }>
  | { readonly kind: "timetable"; readonly zoneLabel: string; readonly zoneName: string };

export function sentJob(job: JobConfig): SentJob {
  return { ...job, timing: sentTiming(job.timing) };
}

export function sentDag(dag: DagConfig): SentDag {
  return {
    ...dag,
    timing: dag.timing === null ? null : sentTiming(dag.timing),
    tasks: dag.tasks.map((task) => ({ ...task, job: task.job === null ? null : sentJob(task.job) })),
  };
}

export function receivedJob({ timing, ...job }: SentJob): JobConfig {
  return { ...job, timing: timing.kind === "timetable" ? timetable(job.scheduleText, job.name, timing) : timing };
}

export function receivedDag({ timing, tasks, ...dag }: SentDag): DagConfig {
  return {
    ...dag,
    timing: timing?.kind === "timetable" ? timetable(dag.scheduleText ?? "", `dag:${dag.name}`, timing) : null,
    tasks: tasks.map((task) => ({ ...task, job: task.job === null ? null : receivedJob(task.job) })),
  };
}

function sentTiming(timing: Timing): SentTiming {
  if (timing.kind !== "timetable") return timing;
  return { kind: "timetable", zoneLabel: timing.zone.label, zoneName: timing.zone.name };
}

function timetable(
  text: string,
  hashKey: string,
  { zoneLabel, zoneName }: Extract<SentTiming, { kind: "timetable" }>,
): Extract<Timing, { kind: "timetable" }> {
  const zone: Zone | null =
    zoneLabel === "local" ? localZone(zoneName) : zoneLabel === "UTC" ? utcZone : zoneNamed(zoneLabel);
  if (zone === null)
    throw new Error(`the thread that read the configuration knew the zone ${zoneLabel}, this one does not`);
  return { kind: "timetable", schedule: parseSchedule(text, hashKey), zone };
}
