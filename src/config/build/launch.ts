/** What one process needs: the keys that jobs and DAG tasks have in common (7.4). */
import { isAbsolute, resolve } from "node:path";
import { quoted } from "../../schedule/schedule-error.ts";
import type { LoadFacts } from "../facts.ts";
import type { LaunchConfig, PoolClaim } from "../model.ts";
import { builtIn, type JobDefaults, whenWritten } from "../options/job.ts";
import type { Subject } from "../subject.ts";
import type { BuildContext } from "./context.ts";
import type { Variable } from "./env-file.ts";
import { identityOf } from "./identity.ts";
import { isNamed } from "./report.ts";
import { resourceLimits } from "./resource-limits.ts";

/** Keys that `launchConfig` reads; a job that overrides none of them shares its file's. */
export const launchKeyNames = [
  "shell",
  "environment",
  "env_file",
  "captureStdout",
  "captureStderr",
  "saveLimit",
  "maxLineLength",
  "streamPrefix",
  "failsWhen",
  "verify",
  "executionTimeout",
  "killTimeout",
  "priority",
  "workingDirectory",
  "umask",
  "secrets",
  "stateAllowedScopes",
  "user",
  "group",
  "statsd",
  "monitorResources",
  "pool",
  "poolSlots",
  "queuePriority",
  "queueTimeout",
  "resourceLimits",
] as const satisfies readonly (keyof JobDefaults)[];

export type LaunchOptions = Pick<JobDefaults, (typeof launchKeyNames)[number]>;

/** Null, and problems of `subject`, when something in it will not do. */
export function launchConfig(
  name: string,
  options: LaunchOptions,
  { facts, envFiles }: BuildContext,
  subject: Subject,
): LaunchConfig | null {
  const environment = environmentOf(options, envFiles.read.bind(envFiles), subject);
  const identity = identityOf(name, options, facts, subject);
  const pool = poolClaim(options, subject);
  const limits = options.resourceLimits ? resourceLimits(options.resourceLimits, subject) : null;
  const isWhole = [
    checkSecrets(name, options.secrets, subject),
    checkStreamPrefix(options.streamPrefix, subject),
    checkUmask(options.umask, subject),
  ].every((check) => check);
  if (environment === null || identity === "refused" || pool === "refused" || !isWhole) return null;
  if (options.resourceLimits && limits === null) return null;
  return {
    shell: options.shell,
    captureStdout: options.captureStdout,
    captureStderr: options.captureStderr,
    saveLimitLines: options.saveLimit,
    maxLineLengthBytes: options.maxLineLength,
    streamPrefix: options.streamPrefix,
    failsWhen: options.failsWhen,
    verify: options.verify ? { command: options.verify.command, timeoutSeconds: options.verify.timeout } : null,
    executionTimeoutSeconds: options.executionTimeout ?? null,
    killTimeoutSeconds: options.killTimeout,
    priority: options.priority,
    environment,
    envFile: options.env_file ?? null,
    workingDirectory: absolutePath(options.workingDirectory ?? "", facts),
    umask: options.umask === undefined ? null : Number.parseInt(options.umask, 8),
    identity,
    secrets: options.secrets.map(({ name: secret, ...source }) => ({ name: secret, source })),
    stateAllowedScopes: options.stateAllowedScopes,
    statsd: options.statsd ?? null,
    monitorResources: monitoringOf(options.monitorResources),
    pool,
    resourceLimits: limits,
  };
}

/** The file's variables below `environment`, each name once, where it first stood. */
function environmentOf(
  { env_file: path, environment }: LaunchOptions,
  readFile: BuildContext["envFiles"]["read"],
  subject: Subject,
): readonly Variable[] | null {
  const fromFile = path === undefined ? [] : readFile(path, subject, ["env_file"]);
  if (fromFile === null) return null;
  const variables = new Map(fromFile);
  for (const { key, value } of environment) variables.set(key, value);
  return [...variables];
}

function poolClaim(options: LaunchOptions, subject: Subject): PoolClaim | null | "refused" {
  const { pool, poolSlots: slots, queuePriority: priority, queueTimeout: timeoutSeconds } = options;
  if (pool !== undefined) return { pool, slots, priority, timeoutSeconds };
  const isPlain = slots === builtIn.poolSlots && priority === builtIn.queuePriority;
  if (isPlain && timeoutSeconds === builtIn.queueTimeout) return null;
  subject.problem([], "poolSlots, queuePriority and queueTimeout need pool");
  return "refused";
}

function checkSecrets(job: string, secrets: LaunchOptions["secrets"], subject: Subject): boolean {
  const without = secrets.filter((secret) => !isNamed(secret));
  for (const { name } of without)
    subject.problem(
      ["secrets"],
      `job ${quoted(job)}: secret ${quoted(name)} needs a value, fromFile or fromEnvVar source`,
    );
  return without.length === 0;
}

/** `{{` and `}}` are literal braces; an unknown placeholder would lose every line of the run (running 2). */
function checkStreamPrefix(prefix: string, subject: Subject): boolean {
  const rest = prefix.replace(/\{\{|\}\}|\{(?:job_name|stream_name)\}/g, "");
  if (!/[{}]/.test(rest)) return true;
  const problem =
    "streamPrefix may hold only the placeholders {job_name} and {stream_name}; write {{ and }} for braces";
  subject.problem(["streamPrefix"], problem);
  return false;
}

function checkUmask(umask: string | undefined, subject: Subject): boolean {
  if (umask === undefined || /^[0-7]{3,4}$/.test(umask)) return true;
  subject.problem(["umask"], "umask must be 3 or 4 octal digits");
  return false;
}

/** `~` is the daemon's home, a relative path is relative to where the daemon runs; blank is none (6.4). */
export function absolutePath(path: string, { homeDirectory, workingDirectory }: LoadFacts): string | null {
  if (path === "") return null;
  const expanded = path === "~" || path.startsWith("~/") ? homeDirectory + path.slice(1) : path;
  return isAbsolute(expanded) ? expanded : resolve(workingDirectory, expanded);
}

function monitoringOf(monitoring: LaunchOptions["monitorResources"]): LaunchConfig["monitorResources"] {
  const { enabled, interval, history } =
    typeof monitoring === "boolean" ? { ...whenWritten.monitorResources, enabled: monitoring } : monitoring;
  return enabled ? { intervalSeconds: interval, historyPoints: history } : null;
}
