import fc from "fast-check";
import { expect, test } from "vitest";
import { jobSetId } from "../../src/config/fingerprint.ts";
import { piecedFileCharactersMin } from "../../src/config/limits.ts";
import type { Config } from "../../src/config/model.ts";
import { piecesOf } from "../../src/config/yaml/pieces.ts";
import { configOf, problemsOf } from "./loading.ts";

/** A file long enough to be parsed piece by piece: these lines, with jobs around them. */
function longFile({ head = "", indent = "  ", middle = "", tail = "" }): string {
  const job = (index: number): string =>
    `${indent}- name: job-${index}\n${indent}  command: |\n${indent}    echo "- not an item"\n\n${indent}  schedule: "${index % 60} * * * *"\n`;
  const many = Array.from({ length: 240 }, (_, index) => job(index));
  return `${head}jobs: # many\n${many.slice(0, 120).join("")}${middle}${many.slice(120).join("")}${tail}`;
}

/** The same file with its key in quotes, which is never cut. */
function uncut(text: string): Config {
  const whole = text.replace(/^jobs:/m, '"jobs":');
  expect(piecesOf(whole)).toBeNull();
  return configOf(whole);
}

test.each([
  [{}],
  [{ indent: "" }],
  [{ head: "defaults: {saveLimit: 5}\n" }],
  [{ tail: "defaults: {saveLimit: 5}\nstate:\n  path: /s\n" }],
  [{ tail: "# the end\n  # indented\n" }],
  [{ middle: "  # a comment between\n\n" }],
  [{ middle: '  - {name: flow, command: "x", schedule: "@daily"}\n' }],
  [{ middle: '  -\n    name: alone\n    command: "two\n      lines"\n    schedule: "@daily"\n' }],
  [{ head: "--- \n", indent: "    " }],
])("a long file %j says the same in pieces as whole", (parts) => {
  const text = longFile(parts);
  expect(text.length).toBeGreaterThan(piecedFileCharactersMin);
  expect(piecesOf(text)?.parts.length).toBeGreaterThan(3);
  const pieced = configOf(text);
  const whole = uncut(text);
  expect(pieced.jobs.map(({ name, place }) => [name, place.line])).toEqual(
    whole.jobs.map(({ name, place }) => [name, place.line]),
  );
  expect(jobSetId(pieced.jobs)).toBe(jobSetId(whole.jobs));
});

test("places in a long file are those of the file", () => {
  const text = longFile({ head: "# one\n# two\n", middle: "  - name: bad\n    comand: x\n", tail: "nope: 1\n" });
  const line = text.slice(0, text.indexOf("comand")).split("\n").length;
  const last = text.split("\n").length - 1;
  expect(problemsOf(text)).toEqual([
    `cron.yaml:${line - 1}:5: jobs[120] (job "bad"): required key(s) 'command', 'schedule' not found`,
    `cron.yaml:${line}:5: jobs[120].comand (job "bad"): unexpected key not in schema 'comand'; did you mean 'command'?`,
    `cron.yaml:${last}:1: nope: unexpected key not in schema 'nope'`,
  ]);
});

test("an alias to another piece is followed", () => {
  const text = longFile({
    head: "x: &when '@hourly'\n".replace("x", "include"),
    middle: '  - {name: &n anchor, command: &c echo, schedule: "@daily"}\n',
    tail: "  - {name: last, command: *c, schedule: '@daily'}\n",
  }).replace("include: &when '@hourly'\n", "");
  expect(configOf(text).jobs.at(-1)).toMatchObject({ name: "last", command: "echo" });
});

test.each([
  [{ middle: '  - name: "unclosed\n' }, "not valid YAML"],
  [{ middle: "  - [open,\n" }, "not valid YAML"],
  [{ middle: " - too: far left\n" }, "not valid YAML"],
  [{ middle: "---\n" }, "expected a single document in the stream"],
  [{ tail: "jobs: []\n" }, "Duplicate key 'jobs' found"],
  [{ tail: "web: {listen: [*gone]}\n" }, "alias *gone has no anchor before it"],
  [{ middle: "  - name: a\n    name: b\n" }, "Duplicate key 'name' found"],
])("what is wrong in %j is found however the file is cut", (parts, text) => {
  expect(problemsOf(longFile(parts)).join("\n")).toContain(text);
});

test("cutting never changes what random lists of jobs mean", () => {
  const scalar = fc.constantFrom(
    "x",
    "'- y'",
    '"a\\n  b"',
    "|\n      - text\n        deeper: no\n",
    ">-\n      folded\n      - more\n",
    "a b\n      - c",
  );
  const item = fc.record({ first: scalar, blank: fc.constantFrom("", "\n", "  # note\n", "# note\n") });
  fc.assert(
    fc.property(fc.array(item, { minLength: 3, maxLength: 12 }), (items) => {
      const unique = Array.from({ length: 12 }, (_, round) =>
        items
          .map(
            ({ first, blank }, index) =>
              `  - name: j${round}-${index}\n    schedule: '@daily'\n    command: ${first}\n${blank}`,
          )
          .join(""),
      );
      const padding = `# ${"p".repeat(piecedFileCharactersMin)}\n`;
      const text = `${padding}jobs:\n${unique.join("")}`;
      return (
        JSON.stringify(configOf(text).jobs.map(({ command }) => command)) ===
        JSON.stringify(uncut(text).jobs.map(({ command }) => command))
      );
    }),
    { numRuns: 15 },
  );
});
