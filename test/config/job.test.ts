import { expect, test } from "vitest";
import type { LoadFacts } from "../../src/config/facts.ts";
import type { JobConfig } from "../../src/config/model.ts";
import { configOf, jobWith, onlyJob, problemsOf } from "./loading.ts";

const withState = "state: {path: /s}\npools: {p: {slots: 3}}\n";

function job(...lines: readonly string[]): JobConfig {
  return onlyJob(configOf(withState + jobWith(...lines)));
}

/** The only problem of a job with these lines, without its place. */
function problem(lines: readonly string[], facts: Partial<LoadFacts> = {}): string {
  const problems = problemsOf(withState + jobWith(...lines), facts);
  expect(problems).toHaveLength(1);
  return problems[0]?.replace(/^.*?\(job "a"\): /, "") ?? "";
}

test("a job that says only what and when has the documented defaults", () => {
  expect(job()).toMatchObject({
    name: "a",
    place: { line: 4, column: 5 },
    command: "echo hi",
    scheduleText: "@daily",
    timing: { kind: "timetable", zone: { label: "UTC" } },
    utc: true,
    timezone: null,
    enabled: true,
    launch: {
      shell: "/bin/sh",
      captureStdout: false,
      captureStderr: true,
      saveLimitLines: 4096,
      maxLineLengthBytes: 16777216,
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
    },
    retry: { maximumRetries: 0, initialDelaySeconds: 1, maximumDelaySeconds: 300, backoffMultiplier: 2 },
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
  });
});

const retry = (key: string, value: string): string => {
  const values = { maximumRetries: "1", initialDelay: "1", maximumDelay: "1", backoffMultiplier: "1", [key]: value };
  return `onFailure: {retry: {${Object.entries(values)
    .map(([name, text]) => `${name}: ${text}`)
    .join(", ")}}}`;
};

test.each([
  [(value: string) => `saveLimit: ${value}`, ["0"], ["-1"], "saveLimit must be >= 0"],
  [(value: string) => `maxLineLength: ${value}`, ["1"], ["0"], "maxLineLength must be > 0"],
  [(value: string) => `killTimeout: ${value}`, ["0", "inf"], ["-0.1", "nan"], "killTimeout must be >= 0"],
  [
    (value: string) => `executionTimeout: ${value}`,
    ["0.001", "inf"],
    ["0", "-1", "nan"],
    "executionTimeout must be > 0 when set",
  ],
  [(value: string) => `catchupJitterSeconds: ${value}`, ["0"], ["-1"], "catchupJitterSeconds must be >= 0"],
  [
    (value: string) => `startingDeadlineSeconds: ${value}`,
    ["1", ""],
    ["0", "-1"],
    "startingDeadlineSeconds must be > 0 when set",
  ],
  [
    (value: string) => retry("maximumRetries", value),
    ["-1", "0"],
    ["-2"],
    "onFailure.retry.maximumRetries must be >= -1",
  ],
  [
    (value: string) => retry("initialDelay", value),
    ["0"],
    ["-0.1", "nan"],
    "onFailure.retry.initialDelay must be >= 0",
  ],
  [(value: string) => retry("maximumDelay", value), ["0.1"], ["0", "nan"], "onFailure.retry.maximumDelay must be > 0"],
  [
    (value: string) => retry("backoffMultiplier", value),
    ["0.1"],
    ["0", "nan"],
    "onFailure.retry.backoffMultiplier must be > 0",
  ],
  [
    (value: string) => `sla: {maxRuntimeSeconds: ${value}}`,
    ["1", ""],
    ["0"],
    "sla.maxRuntimeSeconds must be > 0 when set",
  ],
  [(value: string) => `sla: {lateAfterSeconds: ${value}}`, ["1"], ["0"], "sla.lateAfterSeconds must be > 0 when set"],
  [
    (value: string) => `sla: {maxTimeSinceSuccessSeconds: ${value}}`,
    ["1"],
    ["-5"],
    "sla.maxTimeSinceSuccessSeconds must be > 0 when set",
  ],
  [
    (value: string) => `monitorResources: {interval: ${value}}`,
    ["0.1"],
    ["0.09", "nan"],
    "monitorResources.interval must be >= 0.1 (seconds)",
  ],
  [
    (value: string) => `monitorResources: {history: ${value}}`,
    ["0", "2000"],
    ["-1", "2001"],
    "monitorResources.history must be between 0 and 2000 (points)",
  ],
  [
    (value: string) => `verify: {command: x, timeout: ${value}}`,
    ["0.1"],
    ["0", "inf", "nan"],
    "verify.timeout must be finite and > 0",
  ],
  [(value: string) => `verify: {command: ${value}}`, ["x", "[x]"], ["''", "[]"], "verify.command must be non-empty"],
  [
    (value: string) => `resourceLimits: {cpu: ${value}}`,
    ["0.1"],
    ["0", "inf", "nan"],
    "resourceLimits.cpu must be finite and > 0",
  ],
  [(value: string) => `resourceLimits: {processes: ${value}}`, ["1"], ["0"], "resourceLimits.processes must be >= 1"],
  [
    (value: string) => `resourceLimits: {memory: ${value}}`,
    ["1M", "1048576", "1024 KiB"],
    ["1048575", "1023K"],
    "resourceLimits.memory must be >= 1 MiB",
  ],
  [
    (value: string) => `resourceLimits: {memory: ${value}}`,
    ["1.5g"],
    ["lots", "-5M", "5 X", ""],
    "resourceLimits.memory must be a number of bytes, or a number with K, M, G or T (powers of 1024)",
  ],
  [
    (value: string) => `resourceLimits: ${value}`,
    ["{cpu: 1, required: yes}"],
    ["{}", "{required: yes}"],
    "resourceLimits must set at least one of cpu, memory, processes",
  ],
  [
    (value: string) => `umask: ${value}`,
    ["022", "0027", "'777'"],
    ["22", "0o27", "00022", "089"],
    "umask must be 3 or 4 octal digits",
  ],
  [(value: string) => `command: ${value}`, ["x", "[x, '']"], ["''", "'  '", "[]", "['']"], "command must be non-empty"],
  [
    (value: string) => `streamPrefix: "${value}"`,
    ["", "{job_name}", "{{x}} {stream_name}"],
    ["{nope}", "{", "}", "{job_name", "{{{nope}}}"],
    "streamPrefix may hold only the placeholders {job_name} and {stream_name}; write {{ and }} for braces",
  ],
  [(value: string) => `pool: p\n    poolSlots: ${value}`, ["1", "3"], ["0"], "poolSlots must be >= 1"],
  [
    (value: string) => `pool: p\n    queueTimeout: ${value}`,
    ["0.1"],
    ["0", "inf", "nan"],
    "queueTimeout must be finite and > 0",
  ],
])("%s takes %j and refuses %j", (line, inside, outside, text) => {
  for (const value of inside) expect(job(line(value)).name).toBe("a");
  for (const value of outside) expect(problem([line(value)])).toBe(text);
});

test.each(["poolSlots: 2", "queuePriority: -1", "queueTimeout: 5"])("%s means nothing without a pool", (line) => {
  expect(problem([line])).toBe("poolSlots, queuePriority and queueTimeout need pool");
});

test("a pool must exist and have room", () => {
  expect(problem(["pool: q"])).toBe("job 'a': unknown pool 'q'");
  expect(problem(["pool: p", "poolSlots: 4"])).toBe("job 'a': poolSlots exceeds pool capacity");
  expect(job("pool: p", "queuePriority: -2").launch.pool).toEqual({
    pool: "p",
    slots: 1,
    priority: -2,
    timeoutSeconds: 3600,
  });
});

test("sizes are powers of 1024 and may have fractions", () => {
  const bytes = (memory: string): number | null | undefined =>
    job(`resourceLimits: {memory: ${memory}}`).launch.resourceLimits?.memoryBytes;
  expect([bytes("512M"), bytes("1.5GiB"), bytes("2 tb"), bytes("1048577")]).toEqual([
    512 * 1024 ** 2,
    1.5 * 1024 ** 3,
    2 * 1024 ** 4,
    1048577,
  ]);
});

test.each([
  ['schedule: {minute: "08", hour: 09}', "08 09 * * *"],
  ["schedule: {minute: 0, year: 2030}", "0 * * * * 2030"],
  ["schedule: {second: 5, dayOfWeek: mon}", "5 * * * * mon *"],
  ["schedule: {}", "* * * * *"],
  ['schedule: "@reboot"', "@reboot"],
])("%s is the line %s", (line, text) => {
  expect(job(line).scheduleText).toBe(text);
});

test("a schedule by name must be one token a column", () => {
  const why =
    " (a blank value would drop this column and an embedded space would add one, silently shifting every later field; omit the key " +
    "entirely for its default)";
  const start = "must be a single non-empty cron field with no whitespace, got";
  expect(problem(['schedule: {minute: "1 2"}'])).toBe(`schedule.minute: ${start} '1 2'${why}`);
  expect(problem(["schedule: {hour: }"])).toBe(`schedule.hour: ${start} ''${why}`);
  expect(problem(['schedule: {hour: "1\\u00a02"}'])).toBe(`schedule.hour: ${start} '1\\xa02'${why}`);
  expect(problem(["schedule: {hours: 1}"])).toBe("unexpected key not in schema 'hours'; did you mean 'hour'?");
});

test.each([
  ["schedule: 99 0 * * *", "invalid schedule '99 0 * * *': minute value 99 out of range [0, 59]"],
  ["schedule: '*/60 * * * *'", "invalid schedule '*/60 * * * *': minute step 60 too large (max 59)"],
  [
    "schedule: '@REBOOT'",
    "invalid schedule '@REBOOT': expected 5 to 7 whitespace-separated cron fields (or a supported @-nickname), got 1",
  ],
  [
    "schedule: ''",
    "invalid schedule '': expected 5 to 7 whitespace-separated cron fields (or a supported @-nickname), got 0",
  ],
])("%s: %s", (line, text) => {
  expect(problem([line])).toBe(text);
});

test.each(["+05:30", "america/new_york", "Mars/Base", ""])("the zone %j is unknown", (zone) => {
  expect(problem([`timezone: "${zone}"`])).toBe(`unknown timezone: ${zone}`);
});

test.each([
  [["timezone: US/Eastern"], "US/Eastern"],
  [["timezone: EST5EDT", "utc: no"], "EST5EDT"],
  [["utc: no"], "local"],
])("%j is read in the zone %s", (lines, label) => {
  expect(job(...lines).timing).toMatchObject({ kind: "timetable", zone: { label } });
});

test("findings about schedules are told at load, at their level", () => {
  const { warnings } = configOf(`jobs:
  - {name: dead, command: x, schedule: "0 0 1 1 * 2020", enabled: no}
  - {name: hashed, command: x, schedule: "H 3 * * *"}
  - {name: gap, command: x, schedule: "30 2 8 3 * 2026", timezone: America/New_York}
`);
  expect(warnings.map(({ level, message }) => `${level}: ${message.replace(/(\[[\w-]+\]).*/, "$1")}`)).toEqual([
    "warning: job 'dead': schedule '0 0 1 1 * 2020': [never-fires]",
    "info: job 'hashed': schedule 'H 3 * * *': [hashed-slot]",
    "info: job 'gap': schedule '30 2 8 3 * 2026': [dst-skipped-time]",
  ]);
});

test("a job has a printable name; DEL is no C0 character", () => {
  const name = (text: string): string[] => problemsOf(`jobs: [{name: ${text}, command: x, schedule: "@daily"}]`);
  expect(name("''")).toEqual([
    'cron.yaml:1:15: jobs[0].name (job ""): a job name must be non-empty and free of control characters',
  ]);
  expect(name('"a\\nb"')).toHaveLength(1);
  expect(name('"a\\x7f"')).toEqual([]);
});

test("directories become absolute, `~` is the daemon's home", () => {
  const directory = (text: string): string | null => job(`workingDirectory: ${text}`).launch.workingDirectory;
  expect([directory("/a"), directory("b"), directory("~"), directory("~/c"), directory("~other")].join()).toBe(
    "/a,/work-dir/b,/home/daemon,/home/daemon/c,/work-dir/~other",
  );
});

test("an identity is looked up at load", () => {
  const identity = (...lines: readonly string[]) => job(...lines).launch.identity;
  expect(identity("user: alice")).toEqual({ user: "alice", group: null, uid: 1000, gid: 1000, login: "alice" });
  expect(identity("user: 1000", "group: staff")).toEqual({
    user: 1000,
    group: "staff",
    uid: 1000,
    gid: 50,
    login: "alice",
  });
  expect(identity("user: 4242")).toEqual({ user: 4242, group: null, uid: 4242, gid: null, login: null });
  expect(identity("group: 7")).toEqual({ user: null, group: 7, uid: null, gid: 7, login: null });
  expect(problem(["user: nobody-here"])).toBe("User not found: 'nobody-here'");
  expect(problem(["user: -1"])).toBe("User not found: '-1'");
  expect(problem(["group: 4294967295"])).toBe("Group not found: '4294967295'");
  expect(problem(["user: alice", "group: none"])).toBe("Group not found: 'none'");
  expect(problem(["user: 1000"], { superuser: false })).toBe(
    "Job a wants to change user or group, but cronstable is not running as superuser",
  );
  expect(problem(["group: 5"], { platform: "windows" })).toBe("Job a: changing user/group is not supported on Windows");
});

test("a raise of priority that takes root is a warning", () => {
  const warnings = (priority: string, facts: Partial<LoadFacts>) =>
    configOf(jobWith(`priority: ${priority}`), facts).warnings;
  expect(warnings("high", { superuser: false })).toEqual([
    {
      level: "warning",
      message: "job 'a': priority high raises it above cronstable's own, which takes root; it will run unraised",
    },
  ]);
  expect(warnings("below-normal", { superuser: false, nice: 15 })).toHaveLength(1);
  expect(warnings("idle", { superuser: false })).toEqual([]);
  expect(warnings("high", { superuser: true })).toEqual([]);
  expect(problem(["priority: realtime"])).toBe(
    "when expecting one of: idle, below-normal, normal, above-normal, high; found 'realtime'",
  );
});

test("a concurrency scope needs a policy that refuses something, and a store", () => {
  expect(problem(["concurrencyScope: cluster"])).toBe(
    "concurrencyScope: cluster has no effect with concurrencyPolicy: Allow (the default); set Forbid or Replace, or drop concurrencyScope",
  );
  const scoped = `jobs:
  - {name: b, command: x, schedule: "@daily", concurrencyScope: cluster, concurrencyPolicy: Forbid}
  - {name: a, command: x, schedule: "@daily", concurrencyScope: cluster, concurrencyPolicy: Replace}
`;
  expect(problemsOf(scoped)).toEqual([
    'cron.yaml:2:5: jobs[0].concurrencyScope (job "b"): concurrencyScope: cluster requires a `state` section (the shared store is ' +
      "what coordinates the nodes), but none is configured; offending job(s): a, b",
  ]);
  expect(problemsOf(`${scoped}state: {path: /s}\n`)).toEqual([]);
});

test("CFG-2: secrets need a source, and the endpoint that hands them out", () => {
  expect(problem(["secrets: [{name: s, value: }]"])).toBe(
    "job 'a': secret 's' needs a value, fromFile or fromEnvVar source",
  );
  const secretive = jobWith("secrets: [{name: s, fromEnvVar: S}]");
  expect(problemsOf(secretive)).toEqual([
    'cron.yaml:2:5: jobs[0].secrets (job "a"): job `secrets` are staged over the state loopback endpoint, which requires a `state` ' +
      "section; none is configured, offending job(s): a",
  ]);
  expect(problemsOf(`${secretive}state: {path: /s, jobApi: {enabled: no}}\n`)).toEqual([
    'cron.yaml:2:5: jobs[0].secrets (job "a"): job `secrets` need the state loopback endpoint, but state.jobApi.enabled is false; ' +
      "offending job(s): a",
  ]);
});

test("CFG-1: options that do nothing without a store are told once", () => {
  const text = `defaults: {onMissed: run-all, archiveOutput: yes}\n${jobWith()}`;
  expect(configOf(text).warnings.map(({ message }) => message)).toEqual([
    "onMissed catch-up is set on 1 job(s) but needs a `state` backend for the last-run watermark; skipping",
    "archiveOutput is set on 1 job(s) but archives nothing without a `state` backend",
  ]);
  expect(configOf(`${text}state: {path: /s}\n`).warnings).toEqual([]);
});

test("on Windows commands go to its own command processor", () => {
  const windows = onlyJob(configOf(jobWith(), { platform: "windows" }));
  expect(windows.launch.shell).toBe("");
  expect(windows.reports.onFailure.shell.shell).toBe("");
});
