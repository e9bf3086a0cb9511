import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { problemsText } from "../../src/config/problem.ts";
import { configAt, filesIn, problemsAt, problemsOf, someFacts } from "./loading.ts";

test("a file that is not there, a name that cannot be", () => {
  const directory = filesIn({ file: "" });
  expect(problemsAt(join(directory, "none.yaml"))).toEqual(["none.yaml:1:1: no such file or directory"]);
  expect(problemsAt(join(directory, "file/x.yaml"))).toEqual([
    "file/x.yaml:1:1: a part of the path is not a directory",
  ]);
  expect(problemsAt("/".padEnd(5000, "x")).join()).toContain("the name is too long");
  expect(problemsAt("/a\0b").join()).toContain(":1:1: ");
});

test("text that is not UTF-8 is told with its place, and other files of the directory go on", () => {
  const directory = filesIn({
    "a.yaml": new Uint8Array([...Buffer.from("jobs: []\n# caf"), 0xe9, 0x0a]),
    "b.crontab": new Uint8Array([...Buffer.from("0 0 * * * x\n"), 0xff]),
    "c.yaml": "nope: 1\n",
  });
  expect(problemsAt(directory)).toEqual([
    "a.yaml:2:6: not valid UTF-8 text",
    "b.crontab:2:1: not valid UTF-8 text",
    "c.yaml:1:1: nope: unexpected key not in schema 'nope'",
  ]);
});

test("a binary file is refused as what it is", () => {
  expect(problemsOf(randomBytes(100_000))).toEqual([expect.stringMatching(/not valid UTF-8 text|control character/)]);
  expect(problemsOf(new Uint8Array(1000))).toEqual(["cron.yaml:1:1: control character U+0000 is not text"]);
  expect(problemsOf(new Uint8Array(1000), {}, "x.crontab")[0]).toMatch(/^x\.crontab:1:1: control character in /);
});

test("a file of 50 MB is refused without being read whole", () => {
  const directory = filesIn({ "big.yaml": "jobs: []\n" });
  truncateSync(join(directory, "big.yaml"), 50 * 1024 * 1024);
  expect(problemsAt(join(directory, "big.yaml"))).toEqual([
    "big.yaml:1:1: larger than a configuration file may be (32 MiB)",
  ]);
});

test("a pipe is read when it is the configuration, and refused in its parts", () => {
  const directory = filesIn({
    "main.yaml": "include: [pipe]\n",
    "jobs.yaml": 'jobs: [{name: a, command: x, schedule: "@daily"}]\n',
  });
  execFileSync("mkfifo", [join(directory, "pipe"), join(directory, "also.yaml")]);
  expect(problemsAt(join(directory, "main.yaml"))).toEqual([
    "main.yaml:1:11: include[0]: include pipe: not a regular file",
  ]);
  expect(problemsAt(directory)).toContain("also.yaml:1:1: not a regular file");
  execFileSync("sh", ["-c", "cat jobs.yaml > pipe & sleep 0 < /dev/null"], { cwd: directory, stdio: "ignore" });
  expect(configAt(join(directory, "pipe")).jobs).toHaveLength(1);
});

test("however many problems there are, a bounded number is listed", () => {
  const result = loadConfig(
    join(filesIn({ "x.yaml": Array.from({ length: 1500 }, (_, index) => `key-${index}: 1\n`).join("") }), "x.yaml"),
    someFacts,
  );
  const problems = result.ok ? [] : result.problems;
  expect(problems).toHaveLength(1001);
  expect(problems.at(-1)?.problem).toBe("and 500 more problems that are not listed");
});

test("however much there is to warn of, a bounded number is kept", () => {
  const entries = Array.from({ length: 10_005 }, (_, index) => `H ${index % 24} * * * x\n`).join("");
  const { warnings } = configAt(join(filesIn({ crontab: entries }), "crontab"));
  expect(warnings).toHaveLength(10_001);
  expect(warnings.at(-1)?.message).toBe("and 5 more findings about this configuration that are not listed");
});

test("problems read as blocks, one for each file", () => {
  const at = (file: string, line: number) => ({ at: { file, line, column: 1 }, path: "", job: null, problem: "p" });
  expect(problemsText([at("a", 1), at("a", 2), at("b", 1)])).toBe("a:1:1: p\na:2:1: p\n---\nb:1:1: p");
});

test("no text whatever makes a load throw", () => {
  const pieces = [
    "jobs:",
    "\n",
    "  ",
    "- ",
    "name: a",
    "&x ",
    "*x",
    "[",
    "]",
    "{",
    "}",
    ": ",
    "|\n",
    '"',
    "'",
    "#",
    "!!str ",
    "---\n",
    "\t",
    "é",
    "${A",
    "web:",
    "@daily",
    "state: {path: /s}",
    "dags:",
    "? ",
    ">",
  ];
  const directory = filesIn({});
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
      const path = join(directory, "x.yaml");
      const reader = {
        look: () => ({ kind: "file", stamp: null }) as const,
        read: () => ({ kind: "bytes", bytes: Buffer.from(parts.join("")) }) as const,
        names: () => ({ kind: "names", names: [] }) as const,
      };
      const result = loadConfig(path, someFacts, reader);
      return result.ok || result.problems.every(({ at }) => at.line > 0 && at.column > 0);
    }),
    { numRuns: 500 },
  );
});
