import { join } from "node:path";
import { expect, test } from "vitest";
import { configAt, filesIn, jobWith, onlyJob, problemsAt } from "./loading.ts";

function withEnvFile(content: string | Uint8Array, ...lines: readonly string[]) {
  const directory = filesIn({ env: content, "cron.yaml": jobWith("env_file: ${D}/env", ...lines) });
  return { path: join(directory, "cron.yaml"), facts: { environment: { D: directory } } };
}

function variables(content: string | Uint8Array, ...lines: readonly string[]) {
  const { path, facts } = withEnvFile(content, ...lines);
  return onlyJob(configAt(path, facts)).launch.environment;
}

function problems(content: string | Uint8Array): string[] {
  const { path, facts } = withEnvFile(content);
  return problemsAt(path, facts);
}

test("lines are taken as they are, but for spaces, comments and the byte order mark", () => {
  expect(
    variables('\uFEFFA=1\r\nB=a=b # c\r\nC="q v"\r\n D = x \r\n\r\n# note\r\n  # note too\r\nE=\r\nF=\ttab\t\r\nA=2'),
  ).toEqual([
    ["A", "2"],
    ["B", "a=b # c"],
    ["C", '"q v"'],
    ["D", "x"],
    ["E", ""],
    ["F", "\ttab\t"],
  ]);
});

test("the job's own environment wins over the file, names stay in the file's order", () => {
  expect(variables("A=file\nB=file\n", "environment: [{key: C, value: job}, {key: A, value: job}]")).toEqual([
    ["A", "job"],
    ["B", "file"],
    ["C", "job"],
  ]);
});

test("a line that assigns nothing is a problem at its own place", () => {
  expect(problems("A=1\nexport\n=x\n \u00a0 \n")).toEqual([
    `env:2:1: jobs[0].env_file (job "a"): Invalid line in env_file: 'export'`,
    `env:3:1: jobs[0].env_file (job "a"): Invalid line in env_file: '=x'`,
    `env:4:1: jobs[0].env_file (job "a"): Invalid line in env_file: ''`,
  ]);
});

test("a name with blanks is legal and hardly meant", () => {
  const { path, facts } = withEnvFile('export Q="x y"\n');
  const config = configAt(path, facts);
  expect(onlyJob(config).launch.environment).toEqual([["export Q", '"x y"']]);
  expect(config.warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /env:1: the variable is named 'export Q', blanks included; write NAME=value, without export$/,
    ),
  ]);
});

test("a file that cannot be read as text is a problem where it is named, told once", () => {
  expect(problems(new Uint8Array([0x41, 0x3d, 0xff]))).toEqual([
    `cron.yaml:5:15: jobs[0].env_file (job "a"): Could not load env_file: env: not valid UTF-8 text`,
  ]);
  const directory = filesIn({
    "cron.yaml": `defaults: {env_file: /nowhere/env}\n${jobWith()}  - {name: b, command: x, schedule: "@daily", saveLimit: 1}\n`,
  });
  expect(problemsAt(join(directory, "cron.yaml"))).toEqual([
    "cron.yaml:1:22: defaults.env_file: Could not load env_file: /nowhere/env: no such file or directory",
  ]);
});

test("env files are among the files whose change is a change of configuration", () => {
  const { path, facts } = withEnvFile("A=1\n");
  expect(configAt(path, facts).files).toEqual([path, join(facts.environment.D, "env")]);
});
