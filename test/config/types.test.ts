import { expect, test } from "vitest";
import type { JobConfig } from "../../src/config/model.ts";
import { configOf, jobWith, onlyJob, problemsOf } from "./loading.ts";

function job(line: string): JobConfig {
  return onlyJob(configOf(jobWith(line)));
}

function problem(line: string): string {
  const [only = "", ...others] = problemsOf(jobWith(line)).map((text) => text.replace(/^.*? \(job "a"\): /, ""));
  expect(others).toEqual([]);
  return only;
}

test.each([
  ["5", 5],
  ["0777", 777],
  ["+5", 5],
  ["1_000", 1000],
  ["_1", 1],
  ["1_", 1],
  ["-0", 0],
])("the integer %s is %d", (text, value) => {
  expect(job(`saveLimit: ${text}`).launch.saveLimitLines).toBe(value);
});

test.each([
  ["1.0", "found an arbitrary number '1.0'"],
  ["1e3", "found an arbitrary number '1e3'"],
  ["0x1F", "found arbitrary text '0x1F'"],
  ["٣", "found arbitrary text '٣'"],
  ["five", "found arbitrary text 'five'"],
  ["_", "found arbitrary text '_'"],
  ["", "found a blank string"],
  ["[1]", "found a sequence"],
  ["{a: 1}", "found a mapping"],
])("%s is no integer", (text, found) => {
  expect(problem(`saveLimit: ${text}`)).toBe(`when expecting an integer, ${found}`);
});

test.each([
  ["1", 1],
  [".5", 0.5],
  ["5.", 5],
  ["+.5", 0.5],
  ["1e3", 1000],
  ["1.5e-3", 0.0015],
  ["1_000.5", 1000.5],
  ["inf", Number.POSITIVE_INFINITY],
  [".inf", Number.POSITIVE_INFINITY],
  ["1e309", Number.POSITIVE_INFINITY],
])("the float %s is %d", (text, value) => {
  expect(job(`executionTimeout: ${text}`).launch.executionTimeoutSeconds).toBe(value);
});

test.each(["0x1F", "1,5", "Infinity", "soon", "1e", "."])("%s is no float", (text) => {
  expect(problem(`killTimeout: ${text}`)).toBe(`when expecting a float, found arbitrary text '${text}'`);
});

test.each(["yes", "true", "on", "1", "y", "oN", "TRUE"])("%s is true", (word) => {
  expect(job(`captureStdout: ${word}`).launch.captureStdout).toBe(true);
});

test.each(["no", "false", "off", "0", "n", "Off"])("%s is false", (word) => {
  expect(job(`captureStderr: ${word}`).launch.captureStderr).toBe(false);
});

test.each([
  ["maybe", "found arbitrary text 'maybe'"],
  ["2", "found an arbitrary number '2'"],
  ["", "found a blank string"],
])("%s is neither true nor false", (word, found) => {
  expect(problem(`enabled: ${word}`)).toBe(
    `when expecting a boolean value (one of "yes", "true", "on", "1", "y", "no", "false", "off", "0", "n"), ${found}`,
  );
});

test.each([
  ["forbid", "found 'forbid', did you mean 'Forbid'?"],
  ["Repalce", "found 'Repalce', did you mean 'Replace'?"],
  ["whatever", "found 'whatever'"],
  ["", "found a blank string"],
  ["[Allow]", "found a sequence"],
])("the enumeration refuses %s", (word, found) => {
  expect(problem(`concurrencyPolicy: ${word}`)).toBe(`when expecting one of: Allow, Forbid, Replace; ${found}`);
});

test.each(["", "null", "~"])("%j unsets a number that may be unset", (word) => {
  expect(job(`startingDeadlineSeconds: ${word}`).startingDeadlineSeconds).toBeNull();
});

test("words are text on keys that may be blank text", () => {
  expect(job("workingDirectory: null").launch.workingDirectory).toBe("/work-dir/null");
  expect(job("workingDirectory: ").launch.workingDirectory).toBeNull();
});

test.each([
  ["command: {}", "when expecting a sequence, found a mapping"],
  ["environment: A=1", "when expecting a sequence, found arbitrary text 'A=1'"],
  ["environment: [A=1]", "when expecting a mapping, found arbitrary text 'A=1'"],
  ["environment: [{key: A}]", "required key(s) 'value' not found"],
  ["environment: [{}]", "required key(s) 'key', 'value' not found"],
  ["shell: []", "when expecting text, found a sequence"],
  ["failsWhen: yes", "when expecting a mapping, found arbitrary text 'yes'"],
  ["failsWhen: ", "when expecting a mapping, found a blank string"],
  ["failsWhen: {always: yes}", "required key(s) 'producesStdout' not found"],
  [
    "onFailure: {retry: {maximumRetries: 2}}",
    "required key(s) 'backoffMultiplier', 'initialDelay', 'maximumDelay' not found",
  ],
  ["onFailure: {report: {mail: {to: x}}}", "required key(s) 'from' not found"],
  ["onFailure: {report: {shell: {}}}", "required key(s) 'command' not found"],
  ["statsd: {host: h}", "required key(s) 'port', 'prefix' not found"],
  ["monitorResources: {interval: 1, histroy: 5}", "unexpected key not in schema 'histroy'; did you mean 'history'?"],
  ["max_line_length: 5", "unexpected key not in schema 'max_line_length'; did you mean 'maxLineLength'?"],
  ["nothingLikeIt: 5", "unexpected key not in schema 'nothingLikeIt'"],
])("%s: %s", (line, text) => {
  expect(problem(line)).toBe(text);
});

test("a problem names file, line, column, path and job, and all of a file's stand together in its order", () => {
  expect(
    problemsOf(`jobs:
  - name: one
    comand: x
    schedule: "61 * * * *"
  - name: two
    command: x
    schedule: "61 * * * *"
    saveLimit: -1
    onFailure:
      report:
        webhook: {url: {valeu: x}}
  - command: x
    schedule: "@daily"
wbe: {}
`),
  ).toEqual([
    `cron.yaml:2:5: jobs[0] (job "one"): required key(s) 'command' not found`,
    `cron.yaml:3:5: jobs[0].comand (job "one"): unexpected key not in schema 'comand'; did you mean 'command'?`,
    `cron.yaml:4:15: jobs[0].schedule (job "one"): invalid schedule '61 * * * *': minute value 61 out of range [0, 59]`,
    `cron.yaml:7:15: jobs[1].schedule (job "two"): invalid schedule '61 * * * *': minute value 61 out of range [0, 59]`,
    `cron.yaml:8:16: jobs[1].saveLimit (job "two"): saveLimit must be >= 0`,
    `cron.yaml:11:25: jobs[1].onFailure.report.webhook.url.valeu (job "two"): unexpected key not in schema 'valeu'; did you mean 'value'?`,
    `cron.yaml:12:5: jobs[2]: required key(s) 'name' not found`,
    `cron.yaml:14:1: wbe: unexpected key not in schema 'wbe'; did you mean 'web'?`,
  ]);
});
