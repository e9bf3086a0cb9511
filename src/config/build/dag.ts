/** Workflows: their graph, and their tasks as jobs (config 7.4). */
import { quoted } from "../../schedule/schedule-error.ts";
import { mergeOver } from "../merge.ts";
import type { DagConfig, DagTaskConfig, JobConfig, Timing } from "../model.ts";
import type { WrittenDag, WrittenTask } from "../options/dag.ts";
import { builtIn, type JobDefaults } from "../options/job.ts";
import type { Subject } from "../subject.ts";
import type { BuildContext } from "./context.ts";
import { graphProblems } from "./dag-graph.ts";
import { isName, type JobBase, jobBase, jobOf } from "./job.ts";
import { launchKeyNames } from "./launch.ts";
import type { Due, Timetable } from "./timing.ts";

const byDag: Timing = { kind: "by-dag" };

/** What the tasks of one file inherit from its `defaults`. */
export interface TaskBases {
  readonly task: JobBase;
  /** An approval gate runs no process, so what it inherits for one is dropped. */
  readonly gate: JobBase;
}

/** @param subject of the file */
export function taskBases(defaults: JobDefaults, context: BuildContext, subject: Subject): TaskBases {
  const inherited = Object.fromEntries(launchKeyNames.map((key) => [key, defaults[key]]));
  const options: JobDefaults = {
    ...builtIn,
    ...(inherited as Pick<JobDefaults, (typeof launchKeyNames)[number]>),
    onFailure: { retry: builtIn.onFailure.retry, report: defaults.onFailure.report },
    onSuccess: defaults.onSuccess,
  };
  const { pool: _pool, verify: _verify, resourceLimits: _limits, ...gate } = options;
  const { poolSlots, queuePriority, queueTimeout } = builtIn;
  return {
    task: jobBase(options, context, subject),
    gate: jobBase({ ...gate, poolSlots, queuePriority, queueTimeout }, context, subject),
  };
}

/** Null, and problems of `subject`, when something about the DAG will not do. */
export function buildDag(
  written: WrittenDag,
  bases: TaskBases,
  context: BuildContext,
  subject: Subject,
): DagConfig | null {
  const { name } = written;
  if (!isName(name)) {
    subject.problem(["name"], "a dag name must be non-empty and free of control characters");
    return null;
  }
  const dag = `dag ${quoted(name)}`;
  const frame = frameOf(written, context, worded(subject, dag));
  const tasks = written.tasks.map((task, index) => {
    const inside = subject.inside(["tasks", index], `${name}.${task.id}`);
    return buildTask(name, task, frame?.text ?? "", bases, context, worded(inside, `${dag}: task ${quoted(task.id)}`));
  });
  const problems = graphProblems(written.tasks);
  for (const { path, problem } of problems) subject.problem(["tasks", ...path], `${dag}: ${problem}`);
  const whole = tasks.filter((task) => task !== null);
  if (frame === null || problems.length > 0 || whole.length < tasks.length) return null;
  return {
    name,
    place: subject.place([]),
    tasks: whole,
    scheduleText: frame.text,
    timing: frame.timing,
    utc: written.utc,
    timezone: written.timezone ?? null,
    onMissed: written.onMissed,
    startingDeadlineSeconds: written.startingDeadlineSeconds ?? null,
    catchupJitterSeconds: written.catchupJitterSeconds,
    clusterPolicy: written.clusterPolicy,
    enabled: written.enabled,
    retainRuns: written.retainRuns,
  };
}

/** The subject, its problems told under the name of a DAG or a task. */
function worded(subject: Subject, under: string): Subject {
  return {
    ...subject,
    problem: (path, problem, target) => subject.problem(path, `${under}: ${problem}`, target),
    inside: (path, job) => worded(subject.inside(path, job), under),
  };
}

interface Frame {
  readonly text: string | null;
  readonly timing: Timetable | null;
}

/** When the DAG is due: its own keys alone decide, `defaults` do not reach it. Its synthetic job's name is what `H` hashes. */
function frameOf(dag: WrittenDag, context: BuildContext, subject: Subject): Frame | null {
  if (dag.schedule === undefined) return { text: null, timing: null };
  const deadline = dag.startingDeadlineSeconds ?? null;
  const isDeadline = deadline === null || deadline > 0;
  const isJitter = dag.catchupJitterSeconds >= 0;
  const synthetic = `dag:${dag.name}`;
  if (!isDeadline)
    subject.problem(["startingDeadlineSeconds"], `Job ${synthetic}: startingDeadlineSeconds must be > 0 when set`);
  if (!isJitter) subject.problem(["catchupJitterSeconds"], `Job ${synthetic}: catchupJitterSeconds must be >= 0`);
  const due = context.timings.read(synthetic, dag.schedule, dag, subject);
  if (due === null || !isDeadline || !isJitter) return null;
  if (due.timing.kind === "timetable") return { text: due.text, timing: due.timing };
  const problem = `schedule ${quoted(due.text)} is not a cron expression; DAG schedules must be cron expressions (@reboot is not supported for dags)`;
  subject.problem(["schedule"], problem);
  return null;
}

/** @param subject of the task, its problems told under its name */
function buildTask(
  dag: string,
  task: WrittenTask,
  scheduleText: string,
  { task: taskBase, gate: gateBase }: TaskBases,
  context: BuildContext,
  subject: Subject,
): DagTaskConfig | null {
  const isGate = task.type === "approval";
  if (!isGate && (task.command === undefined || task.command.length === 0)) {
    subject.problem(["command"], "needs a command");
    return null;
  }
  const problem = isGate ? gateProblem(task) : null;
  if (problem !== null) {
    subject.problem([], problem);
    return null;
  }
  const job = jobOfTask(dag, task, scheduleText, isGate ? gateBase : taskBase, context, subject);
  if (job === null) return null;
  return {
    id: task.id,
    type: task.type,
    dependsOn: [...new Set(task.dependsOn)],
    triggerRule: task.triggerRule,
    retries: task.retries,
    retryDelaySeconds: task.retryDelaySeconds,
    expand: task.expand ?? null,
    pokeIntervalSeconds: task.pokeIntervalSeconds,
    pokeTimeoutSeconds: task.pokeTimeoutSeconds,
    pokeJitterSeconds: task.pokeJitterSeconds,
    onReject: task.onReject,
    job: task.command === undefined ? null : job,
  };
}

/** A gate runs no process, so what is for processes is a misunderstanding there. */
function gateProblem({ pool, verify, resourceLimits }: WrittenTask): string | null {
  if (pool !== undefined || (verify ?? null) !== null) return "approval gates cannot use pool or verify";
  if ((resourceLimits ?? null) === null) return null;
  return "resourceLimits is not allowed on an approval gate (it runs no process)";
}

function jobOfTask(
  dag: string,
  task: WrittenTask,
  scheduleText: string,
  base: JobBase,
  context: BuildContext,
  subject: Subject,
): JobConfig | null {
  const { id, command, type, dependsOn, triggerRule, retries, retryDelaySeconds, expand, ...rest } = task;
  const { pokeIntervalSeconds, pokeTimeoutSeconds, pokeJitterSeconds, onReject, ...launch } = rest;
  const due: Due = { text: scheduleText, timing: byDag };
  const naming = { name: `${dag}.${id}`, command: command ?? "", where: `dag ${dag} task ${id}`, due };
  return jobOf(naming, mergeOver(base.options, launch), base, context, subject);
}
