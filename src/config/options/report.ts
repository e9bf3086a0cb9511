/** The `report` block under every hook (config 6.6). */
import type { z } from "zod";
import { listOf, mapOf, orAbsent, tableOf, within } from "./collections.ts";
import { eventTexts, lateTexts, type ReportTexts, runTexts, sentryBody, webhookBody } from "./report-texts.ts";
import { bool, float, integer, integerOrNone, oneOf, text, textOrNone } from "./scalars.ts";
import { noSecret } from "./secret.ts";

const command = text.or(listOf(text)).nullable();

function reportBlock(texts: ReportTexts) {
  const sentry = mapOf({
    dsn: noSecret.describe("Sentry's address for your project; sends events when set."),
    fingerprint: listOf(text)
      .default([...texts.sentryFingerprint])
      .describe("Templates that group events into issues. A list of yours replaces this one."),
    level: text.optional().describe("Severity of the event; without it, `error`."),
    extra: tableOf(text).optional().describe("Values shown beside the event."),
    body: text.default(sentryBody(texts)).describe("Template of the event's message."),
    environment: textOrNone.default(null).describe("Sentry environment the event belongs to."),
    maxStringLength: integer.default(8192).describe("Longer texts in the event are cut to this many characters."),
  });
  const mail = mapOf({
    from: textOrNone.describe("Sender. Required once `mail` is written."),
    to: textOrNone.describe(
      "Recipients, separated by commas. Required once `mail` is written; sends mail when both are set.",
    ),
    smtpHost: textOrNone.default(null).describe("Mail server."),
    smtpPort: integer.default(25).describe("Its port."),
    subject: text.default(texts.subject).describe("Template of the subject line."),
    body: text.default(texts.body).describe("Template of the message."),
    username: textOrNone.default(null).describe("Login name; logs in when name and password are set."),
    password: noSecret.describe("Login password."),
    tls: bool.default(false).describe("Speak TLS from the first byte (usually port 465)."),
    starttls: bool.default(false).describe("Insist on STARTTLS; without it, it is used where the server offers it."),
    html: bool.default(false).describe("The body is HTML."),
    validate_certs: bool.default(true).describe("Check the server's certificate."),
  });
  const shell = mapOf({
    command: command.describe(
      "Command to run; a text goes through the shell, a list is run as it stands. Required once `shell` is written.",
    ),
    shell: text.default("/bin/sh").describe("Shell for a command that is a text."),
    timeout: float.default(60).describe("Seconds after which the command is killed; 0 counts as 60."),
  });
  const webhook = mapOf({
    url: noSecret.describe("Address to call; calls it when set. It never appears in a log."),
    method: text.default("POST").describe("HTTP method."),
    contentType: text.default("application/json").describe("Content type of the body."),
    headers: tableOf(text).default({}).describe("Request headers, sent as they stand."),
    body: text.default(webhookBody(texts)).describe("Template of the request body."),
    timeout: float.default(10).describe("Seconds for the whole request."),
  });
  const push = mapOf({
    enabled: bool.default(false).describe("Notify the paired devices; needs the `push` section."),
    priority: oneOf("time-sensitive", "passive").default("time-sensitive").describe("How urgently devices show it."),
    includeLogTail: bool.default(true).describe("Send the last lines of output with it, encrypted."),
  });
  const eventlog = mapOf({
    enabled: bool
      .default(false)
      .describe("Write to the Windows event log; elsewhere a warning at load says that it is inert."),
    source: text.default("cronstable").describe("Name of the event source."),
    includeOutput: bool.default(false).describe("Write captured output too."),
  });
  const alert = mapOf({
    afterFailures: within(integer, (count) => count >= 1, "alert.afterFailures must be >= 1")
      .default(1)
      .describe("Report only from this many failures in a row."),
    onRecovery: bool
      .default(false)
      .describe("Report once when the job succeeds again after failures that were reported."),
    remindEverySeconds: within(
      integerOrNone,
      (seconds) => seconds === null || seconds > 0,
      "alert.remindEverySeconds must be > 0 when set",
    )
      .default(null)
      .describe("While the job stays failed, report again at most this often; unset: every failure is reported."),
  });
  return mapOf({
    sentry: orAbsent(sentry).describe("Sentry event."),
    mail: orAbsent(mail, { from: null, to: null }).describe("Mail through an SMTP server."),
    shell: orAbsent(shell, { command: null }).describe("A command that is told by its environment variables."),
    webhook: orAbsent(webhook).describe("HTTP request."),
    push: orAbsent(push).describe("Notification on paired devices."),
    eventlog: orAbsent(eventlog).describe("Windows event log."),
    alert: orAbsent(alert).describe("When a failing job is reported at all. All off by default."),
  });
}

/** Of `onFailure`, `onPermanentFailure`, `onSuccess`. */
export const runReport = reportBlock(runTexts).meta({ id: "report" });
/** Of `onLate`. */
export const lateReport = reportBlock(lateTexts).meta({ id: "lateReport" });
/** Of `notify`. */
export const eventReport = reportBlock(eventTexts).meta({ id: "eventReport" });

export type ReportOptions = z.output<typeof runReport>;
