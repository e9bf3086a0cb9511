import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { type ConfigReader, diskReader } from "../../src/config/reader.ts";
import { configAt, filesIn, problemsAt, someFacts } from "./loading.ts";

const job = (name: string): string => `{name: ${name}, command: x, schedule: "@daily"}`;
const jobs = (...names: readonly string[]): string => `jobs: [${names.map(job).join(", ")}]\n`;

function included(files: Readonly<Record<string, string>>) {
  return configAt(join(filesIn(files), "main.yaml"));
}

function includeProblems(files: Readonly<Record<string, string>>): string[] {
  return problemsAt(join(filesIn(files), "main.yaml"));
}

test("included jobs come first, in the order of the includes, whose paths start at the including file", () => {
  const config = included({
    "main.yaml": `include: [parts/a.yaml, parts/b.crontab]\n${jobs("inline")}`,
    "parts/a.yaml": `include: [c.yaml]\n${jobs("a")}`,
    "parts/b.crontab": "0 1 * * * x\n",
    "parts/c.yaml": jobs("c"),
  });
  expect(config.jobs.map(({ name }) => name)).toEqual(["c", "a", "b.crontab:1", "inline"]);
  expect(config.files).toHaveLength(4);
});

test("an included file's sections are adopted, and a second one is refused", () => {
  const files = {
    "main.yaml": "include: [a.yaml, b.yaml]\nstate: {path: /s}\n",
    "a.yaml": "web: {listen: ['http://127.0.0.1:1']}\n",
    "b.yaml": "pools: {p: {slots: 1}}\n",
  };
  expect(included(files)).toMatchObject({ web: { listen: ["http://127.0.0.1:1"] }, state: { path: "/s" } });
  expect(included(files).pools.get("p")).toEqual({ name: "p", slots: 1, maxQueued: 1000 });
  expect(includeProblems({ ...files, "b.yaml": "web: {listen: []}\nstate: {path: /t}\n" })).toEqual([
    "b.yaml:1:6: web: multiple web configs",
    "b.yaml:2:8: state: multiple state configs",
  ]);
  expect(includeProblems({ ...files, "a.yaml": "pools: {p: {slots: 2}}\n" })).toEqual([
    "b.yaml:1:9: pools.p: duplicate pool 'p'",
  ]);
});

test("each include's own defaults reach the inline jobs, built-in values do not come with them", () => {
  const config = included({
    "main.yaml": `include: [a.yaml, b.yaml]\ndefaults: {captureStdout: yes}\n${jobs("inline")}`,
    "a.yaml": `defaults: {utc: false, killTimeout: 7}\n${jobs("a")}`,
    "b.yaml": `defaults: {saveLimit: 9}\n${jobs("b")}`,
  });
  const [a, b, inline] = config.jobs;
  expect(a).toMatchObject({
    utc: false,
    launch: { killTimeoutSeconds: 7, captureStdout: false, saveLimitLines: 4096 },
  });
  expect(b).toMatchObject({ utc: true, launch: { killTimeoutSeconds: 30, captureStdout: false, saveLimitLines: 9 } });
  expect(inline).toMatchObject({
    utc: false,
    launch: { killTimeoutSeconds: 7, captureStdout: true, saveLimitLines: 9 },
  });
});

test("a cycle is refused, a diamond counts its far corner once and its defaults on each way", () => {
  expect(includeProblems({ "main.yaml": "include: [a.yaml]\n", "a.yaml": "include: [main.yaml]\n" })).toEqual([
    "a.yaml:1:11: include[0]: include cycle detected at main.yaml",
  ]);
  expect(includeProblems({ "main.yaml": "include: [./main.yaml]\n" })).toEqual([
    "main.yaml:1:11: include[0]: include cycle detected at ./main.yaml",
  ]);
  const config = included({
    "main.yaml": "include: [a.yaml, b.yaml]\n",
    "a.yaml": `include: [far.yaml]\n${jobs("a")}`,
    "b.yaml": `include: [far.yaml]\n${jobs("b")}`,
    "far.yaml": `defaults: {saveLimit: 5}\nweb: {listen: []}\n${jobs("far")}`,
  });
  expect(config.jobs.map(({ name, launch }) => [name, launch.saveLimitLines])).toEqual([
    ["far", 5],
    ["a", 5],
    ["b", 5],
  ]);
});

test("what cannot be included is told at the include", () => {
  const directory = filesIn({ "main.yaml": "include: [none.yaml, sub, ok.yaml]\n", "ok.yaml": jobs("a"), "sub/x": "" });
  expect(problemsAt(join(directory, "main.yaml"))).toEqual([
    "main.yaml:1:11: include[0]: include none.yaml: no such file or directory",
    "main.yaml:1:22: include[1]: include sub: is a directory",
  ]);
});

test("a chain of includes has a longest length", () => {
  const chain = Array.from({ length: 120 }, (_, index) => [`${index}.yaml`, `include: [${index + 1}.yaml]\n`]);
  const directory = filesIn({ ...Object.fromEntries(chain), "120.yaml": "" });
  expect(problemsAt(join(directory, "0.yaml"))).toEqual([
    "100.yaml:1:11: include[0]: included more than 100 levels deep",
  ]);
});

test("a directory is read in the order of names; hidden, unfinished and foreign files are not part of it", () => {
  const directory = filesIn({
    "b.yaml": jobs("b"),
    "X.YAML": jobs("x"),
    "a.cron": "0 0 * * * x\n",
    crontab: "0 0 * * * y\n",
    "_skip.yaml": "broken: [",
    ".hidden.yaml": "broken: [",
    "README.md": "broken: [",
    "é.yml": jobs("e"),
  });
  const config = configAt(directory);
  expect(config.jobs.map(({ name }) => name)).toEqual(["x", "a.cron:1", "b", "crontab:1", "e"]);
  expect(config.directory).toBe(directory);
});

test("an empty directory is an empty configuration", () => {
  expect(configAt(filesIn({}))).toMatchObject({ jobs: [], dags: [], web: null, state: null });
});

test("defaults do not cross the files of a directory, sections may stand in one of them", () => {
  const directory = filesIn({
    "a.yaml": `defaults: {saveLimit: 5}\nstate: {path: /s}\n${jobs("a")}`,
    "b.yaml": jobs("b"),
  });
  expect(configAt(directory).jobs.map(({ launch }) => launch.saveLimitLines)).toEqual([5, 4096]);
  const twice = filesIn({ "a.yaml": "web: {listen: []}\n", "b.yaml": "web: {listen: []}\n" });
  expect(problemsAt(twice)).toEqual([
    "b.yaml:1:6: web: Multiple 'web' configurations found: first in a.yaml, now in b.yaml",
  ]);
});

test("the problems of all files of a directory are told together", () => {
  const directory = filesIn({ "a.yaml": "nope: 1\n", "b.yaml": "\tx", "c.yaml": jobs("c"), "d.crontab": "x\n" });
  mkdirSync(join(directory, "e.yaml"));
  expect(problemsAt(directory)).toEqual([
    "a.yaml:1:1: nope: unexpected key not in schema 'nope'",
    "b.yaml:1:1: not valid YAML: Tabs are not allowed as indentation",
    "d.crontab:1:1: not a valid crontab line: expected 'minute hour day-of-month month day-of-week command', an @nickname entry, or a NAME=value assignment; got 'x'",
    "e.yaml:1:1: is a directory",
  ]);
});

test("names that must be unique are looked for over all files", () => {
  const directory = filesIn({ "a.yaml": jobs("one", "two"), "b.yaml": jobs("two", "three", "one") });
  expect(problemsAt(directory)).toEqual([
    'b.yaml:1:8: jobs[0].name (job "two"): duplicate job name(s): one, two; the scheduler tracks jobs by name, so all but ' +
      "the last definition of a name would silently never run. Rename the duplicates.",
  ]);
});

test("a link is followed, a broken one is a problem", () => {
  const directory = filesIn({ "real.txt": jobs("a") });
  symlinkSync("real.txt", join(directory, "link.yaml"));
  expect(configAt(directory).jobs).toHaveLength(1);
  symlinkSync("nothing", join(directory, "broken.yaml"));
  expect(problemsAt(directory).join()).toContain("broken.yaml:1:1: no such file or directory");
});

test("what the operating system refuses is a problem in words", () => {
  const path = join(filesIn({ "a.yaml": "" }), "a.yaml");
  const reader: ConfigReader = {
    ...diskReader,
    read: () => ({ kind: "unreadable", reason: "permission denied", missing: false }),
  };
  const result = loadConfig(path, someFacts, reader);
  expect(result).toEqual({
    ok: false,
    problems: [{ at: { file: path, line: 1, column: 1 }, path: "", job: null, problem: "permission denied" }],
  });
});
