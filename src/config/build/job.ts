/** Jobs from what their file says of them and what they inherit. */
import { quoted } from "../../schedule/schedule-error.ts";
import type { LoadFacts } from "../facts.ts";
import { mergeOver } from "../merge.ts";
import type { Command, JobConfig, LaunchConfig, ReportConfig, ReportHooks, RetryConfig } from "../model.ts";
import { builtIn, type JobDefaults, type WrittenJob } from "../options/job.ts";
import type { Subject } from "../subject.ts";
import type { BuildContext } from "./context.ts";
import { launchConfig, launchKeyNames } from "./launch.ts";
import { hasDestination, reportConfig } from "./report.ts";
import type { Due } from "./timing.ts";

/**
 * What the jobs of one file inherit. A job that overrides nothing of a part shares it with the others: a fleet of plain jobs costs
 * little more than their names, and what is wrong with an inherited part is told once.
 */
export interface JobBase {
  readonly options: JobDefaults;
  /** Each made when first needed; `job` is who needs it. Null: something is wrong with it, which has been told. */
  launch(job: string): LaunchConfig | null;
  retry(): RetryConfig;
  report(hook: keyof ReportHooks, job: string): ReportConfig;
}

/** @param subject of the file whose `defaults` these are */
export function jobBase(options: JobDefaults, context: BuildContext, subject: Subject): JobBase {
  let launch: LaunchConfig | null | undefined;
  let retry: RetryConfig | undefined;
  const reports = new Map<keyof ReportHooks, ReportConfig>();
  return {
    options,
    launch(job) {
      if (launch === undefined) launch = frozen(launchConfig(job, options, context, subject));
      return launch;
    },
    retry() {
      retry ??= Object.freeze(retryConfig(options));
      return retry;
    },
    report(hook, job) {
      const report =
        reports.get(hook) ?? Object.freeze(reportConfig(options[hook].report, job, subject, [hook, "report"]));
      reports.set(hook, report);
      return report;
    },
  };
}

function frozen<T extends object>(value: T | null): T | null {
  return value === null ? null : Object.freeze(value);
}

/** What a job or task is besides its options. */
interface Naming {
  readonly name: string;
  readonly command: Command;
  /** Whose report blocks these are, in messages (6.6). */
  readonly where: string;
  /** Null when its schedule was refused: what else is wrong is still told. */
  readonly due: Due | null;
}

/** Null, and problems of `subject`, when something about the job will not do. */
export function buildJob(
  { name, command, schedule, ...written }: WrittenJob,
  base: JobBase,
  context: BuildContext,
  subject: Subject,
): JobConfig | null {
  if (!isName(name)) {
    subject.problem(["name"], "a job name must be non-empty and free of control characters");
    return null;
  }
  const options = mergeOver(base.options, written);
  const due = context.timings.read(name, schedule, options, subject);
  return jobOf({ name, command, where: name, due }, options, base, context, subject);
}

/** Non-empty, and free of the C0 control characters, which would forge log lines. */
export function isName(name: string): boolean {
  return name !== "" && ![...name].some((character) => character < " ");
}

/** Null, and problems of `subject`, when something in the options will not do. */
export function jobOf(
  { name, command, where, due }: Naming,
  options: JobDefaults,
  base: JobBase,
  context: BuildContext,
  subject: Subject,
): JobConfig | null {
  const launch = launchKeyNames.every((key) => options[key] === base.options[key])
    ? base.launch(name)
    : launchConfig(name, options, context, subject);
  const report = (hook: keyof ReportHooks): ReportConfig =>
    options[hook].report === base.options[hook].report
      ? base.report(hook, where)
      : reportConfig(options[hook].report, where, subject, [hook, "report"]);
  const reports: ReportHooks = {
    onFailure: report("onFailure"),
    onPermanentFailure: report("onPermanentFailure"),
    onSuccess: report("onSuccess"),
    onLate: report("onLate"),
  };
  warnOfPriority(name, options.priority, context);
  const isConsistent = [checkScope(options, subject), checkLate(options, reports.onLate, subject)].every(
    (check) => check,
  );
  if (launch === null || due === null || !isConsistent) return null;
  return {
    name,
    place: subject.place([]),
    command,
    scheduleText: due.text,
    timing: due.timing,
    utc: options.utc,
    timezone: options.timezone ?? null,
    enabled: options.enabled,
    launch,
    retry: options.onFailure.retry === base.options.onFailure.retry ? base.retry() : retryConfig(options),
    reports,
    concurrencyPolicy: options.concurrencyPolicy,
    concurrencyScope: options.concurrencyScope,
    clusterPolicy: options.clusterPolicy,
    onlyIfLastSucceeded: options.onlyIfLastSucceeded,
    onMissed: options.onMissed,
    startingDeadlineSeconds: options.startingDeadlineSeconds ?? null,
    catchupJitterSeconds: options.catchupJitterSeconds,
    archiveOutput: options.archiveOutput,
    redactArchivedSecrets: options.redactArchivedSecrets,
    sla: options.sla,
  };
}

function retryConfig({ onFailure: { retry } }: JobDefaults): RetryConfig {
  return {
    maximumRetries: retry.maximumRetries === -1 ? "unlimited" : retry.maximumRetries,
    initialDelaySeconds: retry.initialDelay,
    maximumDelaySeconds: retry.maximumDelay,
    backoffMultiplier: retry.backoffMultiplier,
  };
}

function checkScope({ concurrencyScope, concurrencyPolicy }: JobDefaults, subject: Subject): boolean {
  if (concurrencyScope === "node" || concurrencyPolicy !== "Allow") return true;
  const problem =
    "concurrencyScope: cluster has no effect with concurrencyPolicy: Allow (the default); set Forbid or Replace, or drop concurrencyScope";
  subject.problem(["concurrencyScope"], problem);
  return false;
}

function checkLate({ sla }: JobDefaults, onLate: ReportConfig, subject: Subject): boolean {
  if (!hasDestination(onLate) || Object.values(sla).some((limit) => limit !== null)) return true;
  subject.problem(["onLate"], "onLate requires sla");
  return false;
}

/** What `priority` asks the kernel for; `normal` asks for nothing. */
const niceOf = { idle: 19, "below-normal": 10, normal: null, "above-normal": -5, high: -10 } as const;

function warnOfPriority(name: string, priority: JobDefaults["priority"], { facts, findings }: BuildContext): void {
  const nice = niceOf[priority];
  if (nice === null || facts.superuser || nice >= facts.nice || facts.platform === "windows") return;
  findings.warning(
    `job ${quoted(name)}: priority ${priority} raises it above cronstable's own, which takes root; it will run unraised`,
  );
}

/** What every job starts from; Windows runs commands by its own command processor. */
export function builtInFor(platform: LoadFacts["platform"]): JobDefaults {
  if (platform === "posix") return builtIn;
  const hook = <T extends { readonly report: JobDefaults["onSuccess"]["report"] }>(block: T): T => ({
    ...block,
    report: { ...block.report, shell: { ...block.report.shell, shell: "" } },
  });
  return {
    ...builtIn,
    shell: "",
    onFailure: hook(builtIn.onFailure),
    onPermanentFailure: hook(builtIn.onPermanentFailure),
    onSuccess: hook(builtIn.onSuccess),
    onLate: hook(builtIn.onLate),
  };
}
