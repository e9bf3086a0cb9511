/** A `report` block as reporters use it, and what is checked of it at load (6.6). */
import type { ReportConfig, SecretSource } from "../model.ts";
import type { ReportOptions } from "../options/report.ts";
import type { Step } from "../problem.ts";
import type { Subject } from "../subject.ts";

/**
 * The block's configuration; what is wrong with it becomes problems of `subject`.
 *
 * @param where whose block it is, as messages name it: a job, `dag d task t`, `notify`
 * @param at where in the subject the block stands
 */
export function reportConfig(
  options: ReportOptions,
  where: string,
  subject: Subject,
  at: readonly Step[],
): ReportConfig {
  const { sentry, mail, shell, webhook, push, eventlog, alert } = options;
  if (mail.tls && mail.starttls) {
    const problem =
      "mail.tls and mail.starttls exclude each other: tls speaks TLS from the first byte, starttls asks for it later";
    subject.problem([...at, "mail", "starttls"], problem);
  }
  const sourceProblem = eventlog.enabled ? eventSourceProblem(eventlog.source) : null;
  if (sourceProblem !== null)
    subject.problem([...at, "eventlog", "source"], `${where}: report.eventlog.source ${sourceProblem}`);
  return {
    sentry: {
      dsn: sentry.dsn,
      fingerprint: sentry.fingerprint,
      level: sentry.level ?? null,
      extra: sentry.extra ?? null,
      body: sentry.body,
      environment: sentry.environment,
      maxStringLength: sentry.maxStringLength,
    },
    mail: {
      from: mail.from,
      to: mail.to,
      smtpHost: mail.smtpHost,
      smtpPort: mail.smtpPort,
      subject: mail.subject,
      body: mail.body,
      username: mail.username,
      password: mail.password,
      tls: mail.tls,
      starttls: mail.starttls,
      html: mail.html,
      validateCerts: mail.validate_certs,
    },
    shell: { command: shell.command, shell: shell.shell, timeoutSeconds: shell.timeout },
    webhook: {
      url: webhook.url,
      method: webhook.method,
      contentType: webhook.contentType,
      headers: webhook.headers,
      body: webhook.body,
      timeoutSeconds: webhook.timeout,
    },
    push,
    eventlog,
    alert,
  };
}

function eventSourceProblem(source: string): string | null {
  if (source === "" || /[\\/]/.test(source))
    return "must be a non-empty name with no path separator (it becomes a key of the registry)";
  if (/^(application|system|security)$/i.test(source))
    return `'${source}' is the name of a LOG, not of a source within one; choose a name of your own such as cronstable`;
  return null;
}

/** Whether a source is named at all, whatever it will yield. */
export function isNamed({ value, fromFile, fromEnvVar }: SecretSource): boolean {
  return value !== null || fromFile !== null || fromEnvVar !== null;
}

/** Whether a block names any destination (6.2, `onLate`). */
export function hasDestination({ sentry, mail, shell, webhook, push, eventlog }: ReportConfig): boolean {
  const isAddressed = mail.to !== null || mail.from !== null || isNamed(sentry.dsn) || isNamed(webhook.url);
  return isAddressed || shell.command !== null || push.enabled || eventlog.enabled;
}
