import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { ReportConfig } from "../../src/config/model.ts";
import { configOf, jobWith, onlyJob, problemsOf } from "./loading.ts";

function report(block: string): ReportConfig {
  return onlyJob(configOf(jobWith(`onFailure: {report: ${block}}`))).reports.onFailure;
}

function problem(block: string): string {
  const [only = "", ...others] = problemsOf(jobWith(`onFailure: {report: ${block}}`));
  expect(others).toEqual([]);
  return only.replace(/^.*?\(job "a"\): /, "");
}

test("the default texts of run hooks are fixed, because job digests are made from them", () => {
  const { mail, webhook, sentry } = report("{}");
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
  expect(hash(mail.subject)).toBe("bdcc38314c2f97f8e58b8873961dbbc89c23ceb33492b12cc10b6f9ae8feeccd");
  expect(hash(mail.body)).toBe("0d15626146871de6099908474371f661a712f5b4e6e238f22d7ed924a248546d");
  expect(hash(webhook.body)).toBe("fcb33c2ace343b29f6c5bcadc8d572423698ae3be94b1149abf4b1395a73e859");
  expect(sentry.body).toBe(`${mail.subject}\n${mail.body}`);
});

test("a block that says nothing tells nobody, and has the documented defaults", () => {
  const none = { value: null, fromFile: null, fromEnvVar: null };
  expect(report("{}")).toMatchObject({
    sentry: {
      dsn: none,
      fingerprint: ["cronstable", "{{ environment.HOSTNAME }}", "{{ name }}"],
      level: null,
      extra: null,
      environment: null,
      maxStringLength: 8192,
    },
    mail: {
      from: null,
      to: null,
      smtpHost: null,
      smtpPort: 25,
      username: null,
      password: none,
      tls: false,
      starttls: false,
      html: false,
      validateCerts: true,
    },
    shell: { command: null, shell: "/bin/sh", timeoutSeconds: 60 },
    webhook: { url: none, method: "POST", contentType: "application/json", headers: {}, timeoutSeconds: 10 },
    push: { enabled: false, priority: "time-sensitive", includeLogTail: true },
    eventlog: { enabled: false, source: "cronstable", includeOutput: false },
    alert: { afterFailures: 1, onRecovery: false, remindEverySeconds: null },
  });
});

test("overdue and event reports have words of their own", () => {
  const config = configOf(`notify: {}\n${jobWith()}`);
  const { onLate } = onlyJob(config).reports;
  expect(onLate.mail.subject).toContain("overdue");
  expect(onLate.sentry.fingerprint).toEqual(["cronstable", "sla", "{{ name }}"]);
  expect(onLate.webhook.body).toMatch(/^\{"text": \{% filter tojson %\}/);
  expect(config.notify?.report.sentry.fingerprint).toEqual(["cronstable", "{{ event }}", "{{ name }}"]);
  expect(config.notify?.events).toEqual(["dag_failure", "approval_waiting", "leader_change", "quorum_loss"]);
  expect(configOf("notify: {events: [quorum_loss, quorum_loss]}").notify?.events).toEqual(["quorum_loss"]);
  expect(problemsOf("notify: {events: [quorum_los]}")).toEqual([
    "cron.yaml:1:19: notify.events[0]: when expecting one of: dag_failure, approval_waiting, leader_change, quorum_loss; " +
      "found 'quorum_los', did you mean 'quorum_loss'?",
  ]);
});

test("what extra and headers hold is text", () => {
  const { sentry, webhook } = report(
    "{sentry: {extra: {n: 5, t: true}, level: warning}, webhook: {headers: {X: 0x1}}}",
  );
  expect(sentry).toMatchObject({ extra: { n: "5", t: "true" }, level: "warning" });
  expect(webhook.headers).toEqual({ X: "0x1" });
});

test("the alert policy has its ranges", () => {
  expect(report("{alert: {afterFailures: 3, onRecovery: yes, remindEverySeconds: 60}}").alert).toEqual({
    afterFailures: 3,
    onRecovery: true,
    remindEverySeconds: 60,
  });
  expect(problem("{alert: {afterFailures: 0}}")).toBe("alert.afterFailures must be >= 1");
  expect(problem("{alert: {remindEverySeconds: 0}}")).toBe("alert.remindEverySeconds must be > 0 when set");
  expect(report("{alert: {remindEverySeconds: }}").alert.remindEverySeconds).toBeNull();
});

test("two ways of TLS exclude each other", () => {
  expect(problem("{mail: {from: a, to: b, tls: yes, starttls: yes}}")).toBe(
    "mail.tls and mail.starttls exclude each other: tls speaks TLS from the first byte, starttls asks for it later",
  );
});

test.each([
  ["''", "must be a non-empty name with no path separator (it becomes a key of the registry)"],
  ["a/b", "must be a non-empty name with no path separator (it becomes a key of the registry)"],
  [
    "SECURITY",
    "'SECURITY' is the name of a LOG, not of a source within one; choose a name of your own such as cronstable",
  ],
])("the event source %s is refused in an enabled block", (source, why) => {
  expect(problem(`{eventlog: {enabled: yes, source: ${source}}}`)).toBe(`a: report.eventlog.source ${why}`);
  expect(report(`{eventlog: {source: ${source}}}`).eventlog.enabled).toBe(false);
});

const everywhere = (block: string): string => `state: {path: /s}
notify: {report: ${block}}
jobs:
  - {name: a, command: x, schedule: "@daily", onSuccess: {report: ${block}}}
  - {name: b, command: x, schedule: "@daily"}
dags:
  - {name: d, tasks: [{id: t, command: x, onFailure: {report: ${block}}}]}
`;

test("an event log that is not there is one warning that names its users", () => {
  expect(configOf(everywhere("{eventlog: {enabled: yes}}")).warnings).toEqual([
    {
      level: "warning",
      message:
        "report.eventlog is enabled (job a, dag d task t, notify) but there is no Windows event log on this host; it does nothing here",
    },
  ]);
  expect(configOf(everywhere("{eventlog: {enabled: yes}}"), { platform: "windows" }).warnings).toEqual([]);
});

test("push needs its section", () => {
  expect(problemsOf(everywhere("{push: {enabled: yes}}"))).toEqual([
    'cron.yaml:4:5: jobs[0].report (job "a"): report.push.enabled is set (job a, dag d task t, notify) but no `push:` section is ' +
      "configured; add one, or disable the reporter",
  ]);
  expect(problemsOf(`${everywhere("{push: {enabled: yes}}")}push: {relay: {url: "https://r"}}\n`)).toEqual([]);
});

test.each([
  "mail: {to: b, from: }",
  "mail: {to: , from: a}",
  "sentry: {dsn: {fromFile: /d}}",
  "webhook: {url: {value: http://x}}",
  "shell: {command: x}",
  "eventlog: {enabled: yes}",
])("an overdue report to %s needs a limit to be overdue by", (destination) => {
  const onLate = `onLate: {report: {${destination}}}`;
  expect(problemsOf(jobWith(onLate)).join()).toMatch(/: jobs\[0\]\.onLate \(job "a"\): onLate requires sla$/);
  expect(problemsOf(jobWith(onLate, "sla: {lateAfterSeconds: 5}"))).toEqual([]);
});
