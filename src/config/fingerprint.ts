/**
 * What a job is, as one text and its hash (config 11). Nodes of a cluster, and records that outlive a reload, know by it whether they
 * mean the same job. Existing stores and other nodes hold these hashes: a new option must be left out while it has its default.
 */
import { createHash } from "node:crypto";
import { collapsed } from "./blanks.ts";
import { canonicalJson, type Json, objectOf } from "./canonical-json.ts";
import { byCodePoint } from "./code-points.ts";
import type { Command, JobConfig, LaunchConfig, ReportConfig, RetryConfig, SecretSource } from "./model.ts";

const digests = new WeakMap<JobConfig, string>();

/** Lower-case hex SHA-256 of the job's canonical text; made once per job, when first asked for. */
export function jobDigest(job: JobConfig): string {
  const known = digests.get(job);
  if (known !== undefined) return known;
  const digest = sha256(canonicalJob(job));
  digests.set(job, digest);
  return digest;
}

/** `v1:` and the hash of all digests, whatever the order of the jobs; of jobs with one name the last counts. */
export function jobSetId(jobs: readonly JobConfig[]): string {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const sorted = [...byName.values()].map(jobDigest).sort();
  return `v1:${sha256(`v1\n${sorted.join("\n")}`)}`;
}

/** The text that is hashed (11.1). Secrets, environment values and what does not change a run are not in it. */
export function canonicalJob(job: JobConfig): string {
  const own: Record<string, Json | undefined> = {
    name: job.name,
    command: commandJson(job.command),
    schedule: collapsed(job.scheduleText),
    clusterPolicy: job.clusterPolicy,
    concurrencyPolicy: job.concurrencyPolicy,
    concurrencyScope: job.concurrencyScope === "cluster" ? "cluster" : undefined,
    enabled: job.enabled,
    onlyIfLastSucceeded: job.onlyIfLastSucceeded,
    timezone: job.timezone ?? (job.utc ? "UTC" : null),
  };
  const { onFailure, onPermanentFailure, onSuccess } = job.reports;
  const hook = (report: ReportConfig): string => objectOf([["report", reportText(report)]]);
  return objectOf([
    ...texts(own),
    ...launchTexts(job.launch),
    [
      "onFailure",
      objectOf([
        ["report", reportText(onFailure)],
        ["retry", retryText(job.retry)],
      ]),
    ],
    ["onPermanentFailure", hook(onPermanentFailure)],
    ["onSuccess", hook(onSuccess)],
  ]);
}

/** How a job's process is started, in the same form; a DAG's recoveries compare it (dags 15). */
export function canonicalLaunch({ command, launch }: Pick<JobConfig, "command" | "launch">): string {
  return objectOf([...texts({ command: commandJson(command) }), ...launchTexts(launch)]);
}

type Texts = readonly (readonly [key: string, text: string])[];

function texts(values: Readonly<Record<string, Json | undefined>>): Texts {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, canonicalJson(value)] as const],
  );
}

/** Parts that many jobs share are written once. */
function cached<T extends object, R>(make: (value: T) => R): (value: T) => R {
  const known = new WeakMap<T, { readonly made: R }>();
  return (value) => {
    const entry = known.get(value) ?? { made: make(value) };
    known.set(value, entry);
    return entry.made;
  };
}

const launchTexts = cached((launch: LaunchConfig): Texts => {
  const { identity, pool, verify, resourceLimits: limits } = launch;
  return texts({
    captureStderr: launch.captureStderr,
    captureStdout: launch.captureStdout,
    environment: launch.environment.map(([name]) => name).sort(byCodePoint),
    executionTimeout: launch.executionTimeoutSeconds,
    failsWhen: { ...launch.failsWhen },
    group: identity?.group ?? null,
    killTimeout: launch.killTimeoutSeconds,
    maxLineLength: launch.maxLineLengthBytes,
    pool:
      pool === null
        ? undefined
        : { name: pool.pool, slots: pool.slots, priority: pool.priority, timeout: pool.timeoutSeconds },
    priority: launch.priority === "normal" ? undefined : launch.priority,
    resourceLimits:
      limits === null
        ? undefined
        : {
            cpu: limits.cpu ?? undefined,
            memory: limits.memoryBytes ?? undefined,
            processes: limits.processes ?? undefined,
            required: limits.required ? true : undefined,
          },
    saveLimit: launch.saveLimitLines,
    shell: launch.shell,
    statsd: launch.statsd === null ? null : { ...launch.statsd },
    streamPrefix: launch.streamPrefix,
    umask: launch.umask === null ? undefined : `0${launch.umask.toString(8).padStart(3, "0")}`.slice(-4),
    user: identity?.user ?? null,
    verify: verify === null ? undefined : { command: verify.command, timeout: verify.timeoutSeconds },
  });
});

const retryText = cached((retry: RetryConfig): string =>
  canonicalJson({
    maximumRetries: retry.maximumRetries === "unlimited" ? -1 : retry.maximumRetries,
    initialDelay: retry.initialDelaySeconds,
    maximumDelay: retry.maximumDelaySeconds,
    backoffMultiplier: retry.backoffMultiplier,
  }),
);

/** A report block's text; what is secret in it is only said to be there, what is newer only when it is not its default. */
const reportText = cached(({ sentry, mail, shell, webhook, push, eventlog, alert }: ReportConfig): string =>
  canonicalJson({
    sentry: {
      body: sentry.body,
      dsn: redacted(sentry.dsn),
      environment: sentry.environment,
      extra: sentry.extra ?? undefined,
      fingerprint: sentry.fingerprint,
      level: sentry.level ?? undefined,
      maxStringLength: sentry.maxStringLength,
    },
    mail: {
      body: mail.body,
      from: mail.from,
      html: mail.html,
      password: redacted(mail.password),
      smtpHost: mail.smtpHost,
      smtpPort: mail.smtpPort,
      starttls: mail.starttls,
      subject: mail.subject,
      tls: mail.tls,
      to: mail.to,
      username: mail.username,
      validate_certs: mail.validateCerts,
    },
    shell: {
      command: shell.command,
      shell: shell.shell,
      timeout: shell.timeoutSeconds === defaults.shell.timeout ? undefined : shell.timeoutSeconds,
    },
    webhook: {
      body: webhook.body,
      contentType: webhook.contentType,
      headers: Object.fromEntries(Object.keys(webhook.headers).map((name) => [name, hidden])),
      method: webhook.method,
      timeout: webhook.timeoutSeconds,
      url: redacted(webhook.url),
    },
    push: unlessDefault({ ...push }, defaults.push),
    eventlog: unlessDefault({ ...eventlog }, defaults.eventlog),
    alert: unlessDefault({ ...alert }, defaults.alert),
  }),
);

/** What is left out of the text. Written out, not taken from the schema: the hashes of old stores hold on to it. */
const defaults = {
  shell: { timeout: 60 },
  push: { enabled: false, priority: "time-sensitive", includeLogTail: true },
  eventlog: { enabled: false, source: "cronstable", includeOutput: false },
  alert: { afterFailures: 1, onRecovery: false, remindEverySeconds: null },
};

const hidden = "<redacted>";

function redacted({ value, fromFile, fromEnvVar }: SecretSource): Json {
  return { value: value === null ? null : hidden, fromFile, fromEnvVar };
}

function unlessDefault(block: Json, byDefault: Json): Json | undefined {
  return canonicalJson(block) === canonicalJson(byDefault) ? undefined : block;
}

function commandJson(command: Command): Json {
  return typeof command === "string" ? { shell_command: command } : { argv: command };
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "ascii").digest("hex");
}
