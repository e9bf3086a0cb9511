import type { JobConfig, ReportConfig } from "../../../src/config/model.ts";
import type { ReportFacts } from "../../../src/contract/report.ts";
import type { RunResult } from "../../../src/contract/run.ts";
import { jobConfig, silentReport } from "../../support/job-config.ts";

/** The default texts of the run hooks, as configurations have them (config 6.6). */
export const SUBJECT = "Cron job '{{name}}' {% if success %}completed{% else %}failed{% endif %}";
export const BODY =
  "\n{% if fail_reason -%}\n(job failed because {{fail_reason}})\n{% endif %}\n{% if stdout and stderr -%}\nSTDOUT:\n---\n{{stdout}}\n---\nSTDERR:\n{{stderr}}\n{% elif stdout -%}\n{{stdout}}\n{% elif stderr -%}\n{{stderr}}\n{% else -%}\n(no output was captured)\n{% endif %}\n";
export const WEBHOOK = `{"text": {% filter tojson %}${SUBJECT}\n${BODY}{% endfilter %}}`;

export const startedAt = Date.parse("2026-03-01T12:00:00.250Z");

/** A result; a failed one by default, with its reason. */
export function result(over: Partial<RunResult> = {}): RunResult {
  return {
    startedAt,
    endedAt: startedAt + 1_000,
    finishedAt: startedAt + 1_000,
    exitCode: 1,
    launchError: null,
    stopped: null,
    stdout: null,
    stderr: null,
    environment: null,
    failReason: "command exited with code 1",
    verification: null,
    resources: null,
    limits: null,
    ...over,
  };
}

export function captured(text: string): { readonly text: string; readonly discardedLines: number } {
  return { text, discardedLines: 0 };
}

/** A failed run of job `backup`, changed as said. */
export function failedRun(
  over: Partial<RunResult> = {},
  job: Partial<Omit<JobConfig, "launch">> = {},
): Extract<ReportFacts, { kind: "run" }> {
  return {
    kind: "run",
    hook: "onFailure",
    job: jobConfig({ name: "backup", command: "./backup.sh", ...job }),
    runId: null,
    result: result(over),
    note: null,
  };
}

export function succeededRun(
  over: Partial<RunResult> = {},
  job: Partial<Omit<JobConfig, "launch">> = {},
): Extract<ReportFacts, { kind: "run" }> {
  return { ...failedRun({ exitCode: 0, failReason: null, ...over }, job), hook: "onSuccess" };
}

/** What a block is, part by part laid over one in which nothing acts and the texts are the default ones. */
export function block(parts: { readonly [K in keyof ReportConfig]?: Partial<ReportConfig[K]> }): ReportConfig {
  return {
    sentry: { ...silentReport.sentry, body: `${SUBJECT}\n${BODY}`, ...parts.sentry },
    mail: { ...silentReport.mail, subject: SUBJECT, body: BODY, ...parts.mail },
    shell: { ...silentReport.shell, ...parts.shell },
    webhook: { ...silentReport.webhook, body: WEBHOOK, ...parts.webhook },
    push: { ...silentReport.push, ...parts.push },
    eventlog: { ...silentReport.eventlog, ...parts.eventlog },
    alert: { ...silentReport.alert, ...parts.alert },
  };
}

export function secret(value: string) {
  return { value, fromFile: null, fromEnvVar: null };
}
