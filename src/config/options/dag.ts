/** Workflows: the keys of a DAG and of its tasks (config 7.4). */
import type { z } from "zod";
import { listOf, mapOf, orAbsent, within } from "./collections.ts";
import { command, launchKeys, placementKeys, schedule, type WrittenDefaults } from "./job.ts";
import { runReport } from "./report.ts";
import { bool, float, integer, integerOrNone, oneOf, text } from "./scalars.ts";
import { writtenKeys } from "./written.ts";

function waitSeconds(key: string, fallback: number) {
  return within(float, (seconds) => seconds >= 0 && Number.isFinite(seconds), `${key} must be finite and >= 0`).default(
    fallback,
  );
}

const graphKeys = {
  id: text.describe("Name of the task, unique in its DAG; no `#`, `/` or control characters."),
  command: command.optional().describe("What to run, as for a job; required but on an approval gate."),
  type: oneOf("task", "sensor", "approval")
    .default("task")
    .describe("Run once, run again until it succeeds, or wait for a person."),
  dependsOn: listOf(text).default([]).describe("Ids of the tasks before this one."),
  triggerRule: oneOf("all_success", "all_done")
    .default("all_success")
    .describe("Whether the tasks before must have succeeded or only ended."),
  retries: within(
    integer,
    (count) => count >= 0,
    "retries must be >= 0 (the job-level -1 retry-forever sentinel is not supported for dag tasks)",
  )
    .default(0)
    .describe("Attempts after the first."),
  retryDelaySeconds: waitSeconds("retryDelaySeconds", 0).describe("Wait before each retry."),
  expand: mapOf({
    fromTask: text.describe("Task before this one whose list is mapped."),
    key: text.describe("Key under which it pushed the list."),
  })
    .optional()
    .describe("Run once for each item of a list that another task pushed."),
  pokeIntervalSeconds: waitSeconds("pokeIntervalSeconds", 30).describe("Sensor: wait between two attempts."),
  pokeTimeoutSeconds: waitSeconds("pokeTimeoutSeconds", 3600).describe("Sensor: fail after this long."),
  pokeJitterSeconds: waitSeconds("pokeJitterSeconds", 0).describe("Sensor: random addition to each wait."),
  onReject: oneOf("fail", "skip").default("fail").describe("Approval: what a rejection does to the gate."),
};

const reportOnly = mapOf({ report: orAbsent(runReport).describe("Who is told.") });

const taskLaunchKeys = {
  ...launchKeys,
  onFailure: orAbsent(reportOnly).describe("After each failed attempt."),
  onSuccess: orAbsent(reportOnly).describe("After a successful attempt."),
};

function dagKeys<Task extends z.ZodType>(task: Task) {
  return {
    name: text.describe("Name, unique in the whole configuration."),
    tasks: listOf(task).describe("The tasks."),
    schedule: schedule
      .optional()
      .describe("When a run starts, as for a job but without `@reboot`; absent: by hand only."),
    timezone: text.optional().describe("IANA name of the time zone the schedule is read in."),
    utc: bool.default(true).describe("Read the schedule in UTC; `false`: in the host's time zone."),
    ...placementKeys,
    startingDeadlineSeconds: integerOrNone.optional().describe("Missed slots older than this are not made up for."),
    catchupJitterSeconds: integer
      .default(0)
      .describe("Catch-up runs start at a random moment within this many seconds."),
    enabled: bool.default(true).describe("A disabled DAG starts by hand only."),
    retainRuns: within(integer, (count) => count >= 1, "retainRuns must be >= 1")
      .default(50)
      .describe("Finished runs that are kept."),
  };
}

/** A DAG with every default in place; describes DAGs to editors and in the manual. */
export const dagTask = mapOf({ ...graphKeys, ...taskLaunchKeys }).meta({ id: "dagTask" });
export const dag = mapOf(dagKeys(dagTask)).meta({ id: "dag" });

const graph = mapOf(graphKeys);
type TaskLaunch = Pick<WrittenDefaults, keyof typeof launchKeys | "onSuccess" | "onFailure">;
export type WrittenTask = z.output<typeof graph> & TaskLaunch;
export type WrittenDag = Omit<z.output<typeof dag>, "tasks"> & { readonly tasks: readonly WrittenTask[] };

/** A DAG as its file has it: graph keys with their defaults, which `defaults` never touch; launch keys as written. */
export const writtenDag = mapOf(
  dagKeys(mapOf({ ...graphKeys, ...writtenKeys(taskLaunchKeys) })),
) as unknown as z.ZodType<WrittenDag>;
