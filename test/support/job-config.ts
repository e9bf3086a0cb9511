import type { JobConfig, LaunchConfig, ReportConfig } from "../../src/config/model.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { utcZone } from "../../src/schedule/zone.ts";

const noSecret = { value: null, fromFile: null, fromEnvVar: null };

/** A report block in which nothing acts. */
export const silentReport: ReportConfig = {
  sentry: {
    dsn: noSecret,
    fingerprint: [],
    level: null,
    extra: null,
    body: "",
    environment: null,
    maxStringLength: 8192,
  },
  mail: {
    from: null,
    to: null,
    smtpHost: null,
    smtpPort: 25,
    subject: "",
    body: "",
    username: null,
    password: noSecret,
    tls: false,
    starttls: false,
    html: false,
    validateCerts: true,
  },
  shell: { command: null, shell: "/bin/sh", timeoutSeconds: 60 },
  webhook: {
    url: noSecret,
    method: "POST",
    contentType: "application/json",
    headers: {},
    body: "",
    timeoutSeconds: 10,
  },
  push: { enabled: false, priority: "time-sensitive", includeLogTail: true },
  eventlog: { enabled: false, source: "cronstable", includeOutput: false },
  alert: { afterFailures: 1, onRecovery: false, remindEverySeconds: null },
};

const launch: LaunchConfig = {
  shell: "/bin/sh",
  captureStdout: false,
  captureStderr: true,
  saveLimitLines: 4096,
  maxLineLengthBytes: 16_777_216,
  streamPrefix: "[{job_name} {stream_name}] ",
  failsWhen: { producesStdout: false, producesStderr: true, nonzeroReturn: true, always: false },
  verify: null,
  executionTimeoutSeconds: null,
  killTimeoutSeconds: 30,
  priority: "normal",
  environment: [],
  envFile: null,
  workingDirectory: null,
  umask: null,
  identity: null,
  secrets: [],
  stateAllowedScopes: [],
  statsd: null,
  monitorResources: null,
  pool: null,
  resourceLimits: null,
};

/** A job with the built-in defaults, `true` every minute, and what a test says instead. `launch` is laid over the default one. */
export function jobConfig(
  over: Partial<Omit<JobConfig, "launch">> & { readonly launch?: Partial<LaunchConfig> } = {},
): JobConfig {
  const name = over.name ?? "job";
  return {
    name,
    place: { file: "test.yaml", line: 1, column: 1 },
    command: "true",
    scheduleText: "* * * * *",
    timing: { kind: "timetable", schedule: parseSchedule("* * * * *", name), zone: utcZone },
    utc: true,
    timezone: null,
    enabled: true,
    retry: { maximumRetries: 0, initialDelaySeconds: 1, maximumDelaySeconds: 300, backoffMultiplier: 2 },
    reports: {
      onFailure: silentReport,
      onPermanentFailure: silentReport,
      onSuccess: silentReport,
      onLate: silentReport,
    },
    concurrencyPolicy: "Allow",
    concurrencyScope: "node",
    clusterPolicy: "Leader",
    onlyIfLastSucceeded: false,
    onMissed: "skip",
    startingDeadlineSeconds: null,
    catchupJitterSeconds: 0,
    archiveOutput: false,
    redactArchivedSecrets: true,
    sla: { maxTimeSinceSuccessSeconds: null, lateAfterSeconds: null, maxRuntimeSeconds: null },
    ...over,
    launch: { ...launch, ...over.launch },
  };
}
