import { expect, test } from "vitest";
import { configOf, onlyJob, problemsOf } from "./loading.ts";

const job = '  - {name: a, command: x, schedule: "@daily"}\n';

test("a job has its file's defaults where it says nothing", () => {
  const config = configOf(`defaults:
  captureStdout: yes
  timezone: Asia/Tokyo
  concurrencyPolicy: Forbid
  onFailure: {retry: {maximumRetries: 3, initialDelay: 1, maximumDelay: 2, backoffMultiplier: 1}}
jobs:
${job}  - {name: b, command: x, schedule: "@daily", captureStdout: no, concurrencyPolicy: Allow}
`);
  expect(config.jobs[0]).toMatchObject({
    timezone: "Asia/Tokyo",
    concurrencyPolicy: "Forbid",
    launch: { captureStdout: true },
    retry: { maximumRetries: 3 },
  });
  expect(config.jobs[1]).toMatchObject({ concurrencyPolicy: "Allow", launch: { captureStdout: false } });
});

test("defaults may stand below the jobs", () => {
  expect(onlyJob(configOf(`jobs:\n${job}defaults: {saveLimit: 7}\n`)).launch.saveLimitLines).toBe(7);
});

test("mappings merge key by key, lists by the kind of list they are", () => {
  const config = configOf(`state: {path: /s}
defaults:
  environment: [{key: A, value: d}, {key: B, value: d}]
  secrets: [{name: s, value: d}, {name: t, fromFile: /t}]
  stateAllowedScopes: [one]
  onFailure:
    retry: {maximumRetries: 9, initialDelay: 1, maximumDelay: 2, backoffMultiplier: 1}
    report:
      mail: {from: f, to: t, smtpPort: 26}
      sentry: {fingerprint: [d], dsn: {fromEnvVar: DSN}}
      shell: {command: [d, e]}
      webhook: {headers: {X: d, Y: d}}
jobs:
  - name: a
    command: x
    schedule: "@daily"
    environment: [{key: B, value: j}, {key: C, value: j}]
    secrets: [{name: s, fromEnvVar: S}]
    stateAllowedScopes: [two]
    onFailure:
      report:
        mail: {from: j, to: }
        sentry: {fingerprint: [j, k]}
        shell: {command: [j]}
        webhook: {headers: {Y: j}}
`);
  const { launch, reports, retry } = onlyJob(config);
  expect(launch.environment).toEqual([
    ["A", "d"],
    ["B", "j"],
    ["C", "j"],
  ]);
  expect(launch.secrets).toEqual([
    { name: "s", source: { value: null, fromFile: null, fromEnvVar: "S" } },
    { name: "t", source: { value: null, fromFile: "/t", fromEnvVar: null } },
  ]);
  expect(launch.stateAllowedScopes).toEqual(["one", "two"]);
  expect(retry.maximumRetries).toBe(9);
  expect(reports.onFailure).toMatchObject({
    mail: { from: "j", to: null, smtpPort: 26 },
    sentry: { fingerprint: ["j", "k"], dsn: { fromEnvVar: "DSN" } },
    shell: { command: ["j"] },
    webhook: { headers: { X: "d", Y: "j" } },
  });
  expect(reports.onSuccess.mail.from).toBeNull();
});

test("a repeated variable has its last value", () => {
  const text =
    'jobs:\n  - {name: a, command: x, schedule: "@daily", environment: [{key: A, value: 1}, {key: B, value: 2}, {key: A, value: 3}]}\n';
  expect(onlyJob(configOf(text)).launch.environment).toEqual([
    ["A", "3"],
    ["B", "2"],
  ]);
});

test("a blank key takes away an inherited check or caps, and leaves other blocks as they are", () => {
  const config = configOf(`defaults:
  verify: {command: check, timeout: 5}
  resourceLimits: {cpu: 2}
  monitorResources: {interval: 2}
jobs:
${job}  - {name: b, command: x, schedule: "@daily", verify: , resourceLimits: null, monitorResources: no}
  - {name: c, command: x, schedule: "@daily", verify: {command: other}, monitorResources: {history: 5}}
`);
  const [a, b, c] = config.jobs.map(({ launch }) => launch);
  expect(a).toMatchObject({ verify: { command: "check", timeoutSeconds: 5 }, resourceLimits: { cpu: 2 } });
  expect(b).toMatchObject({ verify: null, resourceLimits: null, monitorResources: null });
  expect(c?.verify).toEqual({ command: "other", timeoutSeconds: 5 });
  expect(c?.monitorResources).toEqual({ intervalSeconds: 2, historyPoints: 5 });
});

test("F-49: each hook has a report block of its own", () => {
  const [job] = configOf(`defaults:
  onFailure: {report: {shell: {command: every failure}}}
jobs:
  - name: a
    command: x
    schedule: "@daily"
    onPermanentFailure: {report: {shell: {command: last failure}}}
`).jobs;
  const { onFailure, onPermanentFailure, onSuccess, onLate } = job?.reports ?? expect.fail("no job");
  expect([onFailure, onPermanentFailure, onSuccess, onLate].map(({ shell }) => shell.command)).toEqual([
    "every failure",
    "last failure",
    null,
    null,
  ]);
});

test("a block that is written must be whole, whatever defaults supply (F-3, F-14)", () => {
  expect(
    problemsOf(`defaults:
  failsWhen: {producesStdout: yes}
  onFailure: {retry: {maximumRetries: 1, initialDelay: 1, maximumDelay: 1, backoffMultiplier: 1}, report: {mail: {from: a, to: b}}}
jobs:
  - name: a
    command: x
    schedule: "@daily"
    failsWhen: {always: yes}
    onFailure: {retry: {maximumRetries: 2}, report: {mail: {to: c}}}
`),
  ).toEqual([
    `cron.yaml:8:16: jobs[0].failsWhen (job "a"): required key(s) 'producesStdout' not found`,
    `cron.yaml:9:24: jobs[0].onFailure.retry (job "a"): required key(s) 'backoffMultiplier', 'initialDelay', 'maximumDelay' not found`,
    `cron.yaml:9:60: jobs[0].onFailure.report.mail (job "a"): required key(s) 'from' not found`,
  ]);
});

test("defaults cannot say who a job is", () => {
  expect(problemsOf("defaults: {name: a, command: b, schedule: c}\n")).toEqual([
    "cron.yaml:1:12: defaults.name: unexpected key not in schema 'name'",
    "cron.yaml:1:21: defaults.command: unexpected key not in schema 'command'",
    "cron.yaml:1:33: defaults.schedule: unexpected key not in schema 'schedule'",
  ]);
});

test("what is wrong with defaults is told once, where they stand", () => {
  const jobs = ["a", "b", "c"].map((name) => `  - {name: ${name}, command: x, schedule: "@daily"}\n`).join("");
  expect(problemsOf(`defaults: {user: nobody-here, umask: 9}\njobs:\n${jobs}`)).toEqual([
    "cron.yaml:1:18: defaults.user: User not found: 'nobody-here'",
    "cron.yaml:1:38: defaults.umask: umask must be 3 or 4 octal digits",
  ]);
});

test("jobs that override nothing of a part share it", () => {
  const [a, b, c] = configOf(
    `jobs:\n${job}${job.replace("name: a", "name: b")}  - {name: c, command: x, schedule: "@daily", saveLimit: 1}\n`,
  ).jobs;
  expect(a?.launch).toBe(b?.launch);
  expect(a?.reports.onFailure).toBe(c?.reports.onFailure);
  expect(a?.timing).toBe(c?.timing);
  expect(a?.launch).not.toBe(c?.launch);
  expect(Object.isFrozen(a?.launch)).toBe(true);
});
