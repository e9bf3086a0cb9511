/** The keys of a job (config 6), of a `defaults` block, and those of them a DAG task has too (7.4). */
import type { z } from "zod";
import { listOf, mapOf, orAbsent, within } from "./collections.ts";
import { lateReport, runReport } from "./report.ts";
import { bool, float, integer, integerOrNone, integerOrText, none, oneOf, text, textOrNone } from "./scalars.ts";
import { secretKeys } from "./secret.ts";
import { type Written, writtenKeys } from "./written.ts";

export const command = text.or(listOf(text));

const scheduleColumn = text.optional();
/** Crontab text, or its columns by name (6.1). */
export const schedule = text.or(
  mapOf({
    second: scheduleColumn.describe("Seconds; writing it makes the schedule one by the second."),
    minute: scheduleColumn.describe("Minutes; `*` when absent."),
    hour: scheduleColumn.describe("Hours; `*` when absent."),
    dayOfMonth: scheduleColumn.describe("Days of the month; `*` when absent."),
    month: scheduleColumn.describe("Months; `*` when absent."),
    year: scheduleColumn.describe("Years."),
    dayOfWeek: scheduleColumn.describe("Days of the week; `*` when absent."),
  }),
);

/** When a missed slot is made up for, and where: shared by jobs and DAGs. */
export const placementKeys = {
  onMissed: oneOf("skip", "run-once", "run-all")
    .default("skip")
    .describe("What becomes of slots missed while no daemon ran. Needs the `state` section."),
  clusterPolicy: oneOf("Leader", "PreferLeader", "EveryNode")
    .default("Leader")
    .describe("Which nodes of a cluster with leader election run it."),
};

const verify = mapOf({
  command: within(command, (value) => value.length > 0, "verify.command must be non-empty").describe(
    "Command that judges the result: exit code 0 is success. Same forms as `command`.",
  ),
  timeout: within(float, (seconds) => seconds > 0 && Number.isFinite(seconds), "verify.timeout must be finite and > 0")
    .default(60)
    .describe("Seconds after which the check counts as failed."),
});

const resourceLimits = within(
  mapOf({
    cpu: within(float, (cpus) => cpus > 0 && Number.isFinite(cpus), "resourceLimits.cpu must be finite and > 0")
      .optional()
      .describe("Processors' worth of time the run may use, such as `1.5`."),
    memory: text.optional().describe("Memory the run may use: bytes, or a number with K, M, G or T (powers of 1024)."),
    processes: within(integer, (count) => count >= 1, "resourceLimits.processes must be >= 1")
      .optional()
      .describe("Processes the run may have at a time; on Linux threads count too."),
    required: bool.optional().describe("Fail the run where a cap cannot be enforced, instead of running without it."),
  }),
  (limits) => Object.keys(limits).length > 0,
  "resourceLimits must set at least one of cpu, memory, processes",
);

const monitoring = mapOf({
  enabled: bool.default(true).describe("Whether to sample."),
  interval: within(float, (seconds) => seconds >= 0.1, "monitorResources.interval must be >= 0.1 (seconds)")
    .default(1)
    .describe("Seconds between samples."),
  history: within(
    integer,
    (points) => points >= 0 && points <= 2000,
    "monitorResources.history must be between 0 and 2000 (points)",
  )
    .default(240)
    .describe("Points kept of the run's curve."),
});

const failsWhen = mapOf({
  producesStdout: bool.describe("Output on stdout is a failure. Required once `failsWhen` is written."),
  producesStderr: bool.default(true).describe("Output on stderr is a failure."),
  nonzeroReturn: bool.default(true).describe("An exit code other than 0 is a failure."),
  always: bool.default(false).describe("Every run is a failure."),
});

const retry = mapOf({
  maximumRetries: within(integer, (count) => count >= -1, "onFailure.retry.maximumRetries must be >= -1").describe(
    "Runs after the first; 0 none, -1 for ever.",
  ),
  initialDelay: within(float, (seconds) => seconds >= 0, "onFailure.retry.initialDelay must be >= 0").describe(
    "Seconds before the first retry.",
  ),
  maximumDelay: within(float, (seconds) => seconds > 0, "onFailure.retry.maximumDelay must be > 0").describe(
    "Longest wait before a later retry, in seconds.",
  ),
  backoffMultiplier: within(float, (factor) => factor > 0, "onFailure.retry.backoffMultiplier must be > 0").describe(
    "The wait grows by this factor from retry to retry.",
  ),
});

const statsd = mapOf({
  prefix: text.describe("Prefix of the metric names."),
  host: text.describe("Where the statsd server listens."),
  port: integer.describe("Its UDP port."),
});

const reportOnly = mapOf({ report: orAbsent(runReport).describe("Who is told.") });

function limitSeconds(key: string) {
  return within(integerOrNone, (seconds) => seconds === null || seconds > 0, `sla.${key} must be > 0 when set`);
}

/** What a process needs; a DAG task has these keys too (7.4), and inherits them from `defaults` as a job does. */
export const launchKeys = {
  shell: text.default("/bin/sh").describe("Shell that runs a `command` that is a text; ignored for a list."),
  environment: listOf(
    mapOf({ key: text.describe("Name of the variable."), value: text.describe("Its value, byte for byte.") }),
  )
    .default([])
    .describe("Variables added to the daemon's environment. Merged with `defaults` by name."),
  env_file: text.optional().describe("A file of `NAME=value` lines, read at load; `environment` wins over it."),
  captureStdout: bool.default(false).describe("Read what the command writes to stdout."),
  captureStderr: bool.default(true).describe("Read what the command writes to stderr."),
  saveLimit: within(integer, (lines) => lines >= 0, "saveLimit must be >= 0")
    .default(4096)
    .describe("Lines kept of each stream: the first half and the last half."),
  maxLineLength: within(integer, (bytes) => bytes > 0, "maxLineLength must be > 0")
    .default(16_777_216)
    .describe("Longest line in bytes; a longer one is left out."),
  streamPrefix: text
    .default("[{job_name} {stream_name}] ")
    .describe("Stands before each captured line on the daemon's own streams; empty for none."),
  failsWhen: orAbsent(failsWhen, { producesStdout: false }).describe("What makes a run a failure."),
  verify: verify.or(none).optional().describe("A second command that judges the result of a run that passed so far."),
  executionTimeout: within(float, (seconds) => seconds > 0, "executionTimeout must be > 0 when set")
    .optional()
    .describe("Seconds after which a run is stopped; its exit code is -100."),
  killTimeout: within(float, (seconds) => seconds >= 0, "killTimeout must be >= 0")
    .default(30)
    .describe("Seconds between SIGTERM and SIGKILL when a run is stopped."),
  priority: oneOf("idle", "below-normal", "normal", "above-normal", "high")
    .default("normal")
    .describe("Process priority; on POSIX nice 19, 10, untouched, -5, -10."),
  workingDirectory: textOrNone
    .optional()
    .describe("Directory the command starts in, `~` for the daemon's home; blank: the daemon's own."),
  umask: text.optional().describe("File mode creation mask, such as `027`; without it the daemon's."),
  secrets: listOf(mapOf({ name: text.describe("Name under which the run asks for it."), ...secretKeys }))
    .default([])
    .describe("Secrets a run can ask for. Needs the `state` section. Merged with `defaults` by name."),
  stateAllowedScopes: listOf(text)
    .default([])
    .describe("Scopes, besides its own, that the job's state commands may use. Added to those of `defaults`."),
  user: integerOrText.optional().describe("User to run as, by name or id; the daemon must be root."),
  group: integerOrText.optional().describe("Group to run as; without it the user's own."),
  statsd: statsd.optional().describe("Sends start, stop and outcome of each run to statsd."),
  monitorResources: bool.or(monitoring).default(false).describe("Sample processor time and memory of each run."),
  pool: text.optional().describe("Pool whose slots the runs wait for (`pools`)."),
  poolSlots: within(integer, (slots) => slots >= 1, "poolSlots must be >= 1")
    .default(1)
    .describe("Slots one run takes."),
  queuePriority: integer.default(0).describe("Higher goes first in the pool's queue."),
  queueTimeout: within(
    float,
    (seconds) => seconds > 0 && Number.isFinite(seconds),
    "queueTimeout must be finite and > 0",
  )
    .default(3600)
    .describe("Longest wait in the queue, in seconds."),
  resourceLimits: resourceLimits.or(none).optional().describe("Caps on what a run may use (Linux control groups)."),
};

/** Everything a `defaults` block may carry: all of a job but what makes it that job. */
export const defaultableKeys = {
  ...launchKeys,
  ...placementKeys,
  enabled: bool.default(true).describe("A disabled job is checked and listed, and never starts."),
  utc: bool
    .default(true)
    .describe("Read the schedule in UTC; `false`: in the host's time zone. Ignored with `timezone`."),
  timezone: text.optional().describe("IANA name of the time zone the schedule is read in."),
  onFailure: orAbsent(
    mapOf({
      retry: retry
        .default({ maximumRetries: 0, initialDelay: 1, maximumDelay: 300, backoffMultiplier: 2 })
        .describe("Whether and when a failed run is repeated. All four keys are required once `retry` is written."),
      report: orAbsent(runReport).describe("Who is told of every failed run."),
    }),
  ).describe("After each failed run, retries included."),
  onPermanentFailure: orAbsent(reportOnly).describe("After a failure that will not be retried."),
  onSuccess: orAbsent(reportOnly).describe("After each successful run."),
  sla: orAbsent(
    mapOf({
      maxTimeSinceSuccessSeconds: limitSeconds("maxTimeSinceSuccessSeconds")
        .default(null)
        .describe("Overdue when the last success is longer ago than this."),
      lateAfterSeconds: limitSeconds("lateAfterSeconds")
        .default(null)
        .describe("Overdue when a due run has not started after this."),
      maxRuntimeSeconds: limitSeconds("maxRuntimeSeconds")
        .default(null)
        .describe("Overdue when a run takes longer than this; the run goes on."),
    }),
  ).describe("When the job counts as overdue."),
  onLate: orAbsent(mapOf({ report: orAbsent(lateReport).describe("Who is told.") })).describe(
    "When the job becomes overdue; needs a limit in `sla`.",
  ),
  concurrencyPolicy: oneOf("Allow", "Forbid", "Replace")
    .default("Allow")
    .describe("A run that is due while one is running: start it beside, drop it, or stop the running one first."),
  concurrencyScope: oneOf("node", "cluster")
    .default("node")
    .describe("Whether `concurrencyPolicy` sees this node's runs or those of all nodes on the shared store."),
  startingDeadlineSeconds: within(
    integerOrNone,
    (seconds) => seconds === null || seconds > 0,
    "startingDeadlineSeconds must be > 0 when set",
  )
    .optional()
    .describe("Missed slots older than this are not made up for."),
  catchupJitterSeconds: within(integer, (seconds) => seconds >= 0, "catchupJitterSeconds must be >= 0")
    .default(0)
    .describe("Catch-up runs start at a random moment within this many seconds."),
  onlyIfLastSucceeded: bool.default(false).describe("Skip a due run when the last one did not succeed."),
  archiveOutput: bool.default(false).describe("Keep captured output in the store."),
  redactArchivedSecrets: bool.default(true).describe("Mask the job's secrets in archived output."),
};

const identityKeys = {
  name: text.describe("Name, unique in the whole configuration."),
  command: within(command, isCommand, "command must be non-empty").describe(
    "What to run: a text goes through `shell`, a list is run as it stands.",
  ),
  schedule: schedule.describe(
    "When: 5, 6 or 7 crontab columns, a nickname such as `@daily`, `@reboot`, or the columns by name.",
  ),
};

/** A blank text runs an empty shell script, an empty list nothing at all; nobody means that. */
function isCommand(value: string | readonly string[]): boolean {
  return typeof value === "string" ? value.trim() !== "" : value.length > 0 && value[0] !== "";
}

/** A job with every default in place; describes jobs to editors and in the manual. */
export const job = mapOf({ ...identityKeys, ...defaultableKeys }).meta({ id: "job" });
/** The same for a `defaults` block. */
export const defaults = mapOf(defaultableKeys).meta({ id: "defaults" });

export type JobOptions = z.output<typeof job>;
/** What a job is when its file says nothing but name, command and schedule. */
export type JobDefaults = z.output<typeof defaults>;
export type WrittenJob = Written<JobOptions> & Pick<JobOptions, "name" | "command" | "schedule">;
export type WrittenDefaults = Written<JobDefaults>;

/** What a file's job says, its keys' types read and their ranges checked. */
export const writtenJob = mapOf({
  ...identityKeys,
  ...writtenKeys(defaultableKeys),
}) as unknown as z.ZodType<WrittenJob>;
export const writtenDefaults = mapOf(writtenKeys(defaultableKeys)) as unknown as z.ZodType<WrittenDefaults>;

/** What a job is when neither it nor a `defaults` block says anything. */
export const builtIn: JobDefaults = defaults.parse({});

/** What the keys of an optional block are once the block is written. */
export const whenWritten = {
  verify: { timeout: verify.shape.timeout.parse(undefined) },
  monitorResources: monitoring.parse({}),
};
