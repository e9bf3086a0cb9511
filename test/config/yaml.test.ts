import { expect, test } from "vitest";
import { configOf, jobWith, onlyJob, problemsOf } from "./loading.ts";

const daily = 'schedule: "@daily"';

test.each(["0777", "1.10", "null", "~", "yes", "no", "on", "1e3", "0x1F", "012", "2001-01-01"])(
  "the scalar %s stays these characters, in block and in flow style",
  (scalar) => {
    const block = onlyJob(configOf(jobWith("environment:", "  - key: A", `    value: ${scalar}`)));
    const flow = onlyJob(configOf(jobWith(`environment: [{key: A, value: ${scalar}}]`)));
    expect(block.launch.environment).toEqual([["A", scalar]]);
    expect(flow.launch.environment).toEqual([["A", scalar]]);
  },
);

test("keys with nothing after them are blank, quotes never change a type", () => {
  const config = configOf(
    jobWith("environment: [{key: A, value: }, {key: B, value: ''}]", 'saveLimit: "5"', "enabled: 'yes'"),
  );
  expect(onlyJob(config).launch.environment).toEqual([
    ["A", ""],
    ["B", ""],
  ]);
  expect(onlyJob(config)).toMatchObject({ enabled: true, launch: { saveLimitLines: 5 } });
});

test("block scalars, quotes, comments and document marks work as usual", () => {
  const config = configOf(`%YAML 1.2
---
jobs: # all of them
  - name: "a\\u00e9"
    command: |-
      echo one
      echo two
    'schedule': '@daily'
...
`);
  expect(onlyJob(config)).toMatchObject({ name: "aé", command: "echo one\necho two" });
});

test("anchors stand for what they mark, wherever it is", () => {
  const config = configOf(
    `jobs:
  - &first {name: a, command: &c echo hi, ${daily}}
  - {name: b, command: *c, ${daily}}
  - *first
`.replace("  - *first\n", "web: {listen: [*c]}\n"),
  );
  expect(config.jobs.map(({ command }) => command)).toEqual(["echo hi", "echo hi"]);
  expect(config.web?.listen).toEqual(["echo hi"]);
});

test("the tags that say what a node is anyway are accepted", () => {
  const config = configOf(`jobs: !!seq\n  - !!map\n    name: !!str a\n    command: x\n    ${daily}\n`);
  expect(onlyJob(config).name).toBe("a");
});

test.each([
  ["\uFEFFjobs: []\r\n", "a byte order mark and CRLF"],
  ["", "nothing"],
  ["\n \n", "blank lines"],
  ["# only a comment\n", "comments alone"],
  ["---\n", "an empty document"],
  ["jobs: []", "an empty list"],
])("%j is an empty configuration (%s)", (text) => {
  expect(configOf(text).jobs).toEqual([]);
});

test.each([
  [`jobs: []\njobs: []\n`, "cron.yaml:2:1: Duplicate key 'jobs' found"],
  [`jobs:\n  - {name: a, name: b, command: x, ${daily}}\n`, "cron.yaml:2:15: Duplicate key 'name' found"],
  ["jobs: []\n---\njobs: []\n", "cron.yaml:2:1: expected a single document in the stream"],
  ["web:\n\tlisten: []\n", "cron.yaml:2:1: not valid YAML: Tabs are not allowed as indentation"],
  ["web: @x\n", "cron.yaml:1:6: not valid YAML: Plain value cannot start with reserved character @"],
  ["a: b: c\n", "cron.yaml:1:4: not valid YAML: Nested mappings are not allowed in compact mappings"],
  ['web: "x\n', 'cron.yaml:2:1: not valid YAML: Missing closing "quote'],
  [
    "web: {listen: [!!int 5]}\n",
    "cron.yaml:1:22: Found disallowed tag tag:yaml.org,2002:int; a key's own type reads its text, so leave the tag out",
  ],
  [
    "web: {listen: [!x 5]}\n",
    "cron.yaml:1:19: Found disallowed tag !x; a key's own type reads its text, so leave the tag out",
  ],
  ["? [a]\n: b\n", "cron.yaml:1:3: a key must be plain or quoted text"],
  ["web: {listen: [*nowhere]}\n", "cron.yaml:1:16: alias *nowhere has no anchor before it"],
  ['web: {listen: ["\\ud800"]}\n', "cron.yaml:1:16: half of a surrogate pair is not text"],
  ["just text\n", "cron.yaml:1:1: when expecting a mapping, found arbitrary text 'just text'"],
  ["- a\n", "cron.yaml:1:1: when expecting a mapping, found a sequence"],
  ["jobs: {}\n", "cron.yaml:1:7: jobs: when expecting a sequence, found a mapping"],
  ["jobs:\n", "cron.yaml:1:6: jobs: when expecting a sequence, found a blank string"],
])("%j is refused: %s", (text, problem) => {
  expect(problemsOf(text)).toEqual([problem]);
});

test.each([
  ["a: x\u0000y\n", "U+0000", 5],
  ["a: x\u0007\n", "U+0007", 5],
  ["a: x\u007f\n", "U+007F", 5],
])("%j holds a control character", (text, code, column) => {
  expect(problemsOf(text)).toEqual([`cron.yaml:1:${column}: control character ${code} is not text`]);
});

test("merge keys are ordinary keys, which no mapping has", () => {
  expect(problemsOf("<<: {}\n")).toEqual(["cron.yaml:1:1: [\"<<\"]: unexpected key not in schema '<<'"]);
});

test("aliases cannot stand for more than a bounded number of nodes", () => {
  const levels = Array.from({ length: 12 }, (_, level) =>
    level === 0
      ? "  - &l0 [x,x,x,x,x,x,x,x,x,x]"
      : `  - &l${level} [${Array(10)
          .fill(`*l${level - 1}`)
          .join(",")}]`,
  );
  expect(problemsOf(`jobs:\n${levels.join("\n")}\n`)).toContainEqual(
    expect.stringContaining("aliases stand for more than 100000 nodes in this file"),
  );
});

test("an alias inside its own anchor is refused, not followed for ever", () => {
  expect(problemsOf("web: {listen: &x [*x]}\n")).toContainEqual(
    expect.stringContaining("nested more than 100 levels deep"),
  );
});

test("deep nesting is refused", () => {
  expect(problemsOf(`include: ${"[".repeat(150)}${"]".repeat(150)}\n`)).toContainEqual(
    expect.stringContaining("nested more than 100 levels deep"),
  );
  expect(problemsOf(`include: ${"[".repeat(100_000)}\n`)).not.toEqual([]);
});
