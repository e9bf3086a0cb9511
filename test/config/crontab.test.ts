import { join } from "node:path";
import { expect, test } from "vitest";
import { jobSetId } from "../../src/config/fingerprint.ts";
import type { JobConfig } from "../../src/config/model.ts";
import { configAt, configOf, filesIn, problemsOf } from "./loading.ts";

function jobs(text: string, name = "legacy.crontab"): readonly JobConfig[] {
  return configOf(text, {}, name).jobs;
}

function problem(line: string): string {
  const [only = "", ...others] = problemsOf(`${line}\n`, {}, "t.crontab");
  expect(others).toEqual([]);
  return only;
}

test("entries become jobs named after file and line, with the built-in defaults", () => {
  const [first, second] = jobs("# nightly\n\n  30  4 * *\t1-5   run   two  spaces \n@midnight clean up\n");
  expect(first).toMatchObject({
    name: "legacy.crontab:3",
    place: { line: 3, column: 1 },
    command: "run   two  spaces",
    scheduleText: "30 4 * * 1-5",
    utc: true,
    launch: { shell: "/bin/sh", captureStderr: true, environment: [] },
  });
  expect(second).toMatchObject({ name: "legacy.crontab:4", command: "clean up", scheduleText: "@daily" });
});

test("the last line needs no newline, CRLF and a byte order mark go", () => {
  const [job] = jobs("\uFEFFSHELL=/bin/bash\r\n*/5 * * * * echo hi\r\n");
  expect(job).toMatchObject({ command: "echo hi", launch: { shell: "/bin/bash" } });
  expect(jobs("0 1 * * * echo last")).toMatchObject([{ name: "legacy.crontab:1", command: "echo last" }]);
});

test("assignments hold for the entries below, exported in the order they first came", () => {
  const [one, two, three] = jobs(`A=1
* * * * * one
B = "quoted '#' value"
A=2
CRON_TZ=Asia/Tokyo
SHELL='/bin/bash'
MAILTO=ops@example.com
* * * * * two
A=
SHELL=
Q="half
* * * * * three
`);
  expect(one).toMatchObject({ timezone: null, launch: { shell: "/bin/sh", environment: [["A", "1"]] } });
  expect(two).toMatchObject({ timezone: "Asia/Tokyo", launch: { shell: "/bin/bash" } });
  expect(two?.launch.environment).toEqual([
    ["A", "2"],
    ["B", "quoted '#' value"],
    ["CRON_TZ", "Asia/Tokyo"],
    ["SHELL", "/bin/bash"],
    ["MAILTO", "ops@example.com"],
  ]);
  expect(three?.launch.environment.map(([, value]) => value)).toEqual([
    "",
    "quoted '#' value",
    "Asia/Tokyo",
    "",
    "ops@example.com",
    '"half',
  ]);
  expect(three?.launch.shell).toBe("/bin/sh");
});

test("a percent sign is written with a backslash, a hash inside a command is part of it", () => {
  expect(jobs("0 0 * * * date +\\%F \\\\% # not a comment\n")[0]?.command).toBe("date +%F \\% # not a comment");
});

test.each(["@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"])(
  "%s is a schedule",
  (nickname) => {
    expect(jobs(`${nickname} x\n`)[0]?.scheduleText).toBe(nickname);
  },
);

test("the user column of a system crontab is no column here", () => {
  expect(jobs("0 0 * * * root echo x\n")[0]?.command).toBe("root echo x");
});

test.each([
  [
    "0 0 * * *",
    "not a valid crontab line: expected 'minute hour day-of-month month day-of-week command', an @nickname entry, or a NAME=value assignment; got '0 0 * * *'",
  ],
  [
    "@noon x",
    "unknown schedule nickname '@noon'; supported: @annually, @daily, @hourly, @midnight, @monthly, @reboot, @weekly, @yearly",
  ],
  [
    "@Daily x",
    "unknown schedule nickname '@Daily'; supported: @annually, @daily, @hourly, @midnight, @monthly, @reboot, @weekly, @yearly",
  ],
  ["@reboot", "schedule '@reboot' has no command"],
  ["99 0 * * * x", "invalid schedule '99 0 * * *': minute value 99 out of range [0, 59]"],
  [
    "0 0 * * * mail%body",
    "unescaped '%' in command: cron would pass what follows it to stdin, which is not supported; write \\%",
  ],
  ["CRON_TZ=Mars/Base", "CRON_TZ: unknown timezone 'Mars/Base'"],
  ["CRON_TZ=", "CRON_TZ: unknown timezone ''"],
  ["A=x\u0007y", "control character in 'A=x\\x07y'"],
  ["0 0 * * * x\u2028y", "control character in '0 0 * * * x\\u2028y'"],
  ["0 0 * * * x\u0085y", "control character in '0 0 * * * x\\x85y'"],
])("%j is refused", (line, text) => {
  expect(problem(line).replace(/\(job "[^"]*"\): /, "")).toBe(`t.crontab:1:1: ${text}`);
});

test("a bad line does not hide the next one, comments may hold anything", () => {
  expect(problemsOf("# \u0007\nx\n\ny\n", {}, "t.cron").map((text) => text.slice(0, 11))).toEqual([
    "t.cron:2:1:",
    "t.cron:4:1:",
  ]);
});

test.each(["crontab", "CRONTAB", "x.cron", "x.CRONTAB"])("a file named %s is a crontab", (name) => {
  expect(jobs("0 0 * * * x\n", name)).toHaveLength(1);
});

test.each([
  ["# c\n\nA=1\n", "crontab"],
  ["@daily x\n", "crontab"],
  ["H 0 * * * x\n", "crontab"],
  ["0 0 * * * x y z\n", "crontab"],
  ["jobs: []\n", "YAML"],
  ["# 0 0 * * * x\nweb: {listen: []}\n", "YAML"],
  ["", "YAML"],
])("a file of another name that says %j is read as %s", (text, kind) => {
  const config = configOf(text, {}, "neutral.conf");
  expect(config.jobs.length > 0 || text.includes("A=1")).toBe(kind === "crontab");
});

test("neither variables nor an including file's defaults reach a crontab; its ids are the same either way", () => {
  const directory = filesIn({
    "main.yaml": "defaults: {captureStdout: yes}\ninclude: [t.crontab]\n",
    "t.crontab": "A=${HOME}\n0 0 * * * echo ${HOME}\n",
  });
  const included = configAt(join(directory, "main.yaml"), { environment: { HOME: "/h" } });
  expect(included.jobs[0]).toMatchObject({
    command: "echo ${HOME}",
    launch: { captureStdout: false, environment: [["A", "${HOME}"]] },
  });
  expect(jobSetId(included.jobs)).toBe(jobSetId(configAt(join(directory, "t.crontab")).jobs));
});

test("entries with the same assignments share what they have in common", () => {
  const [one, two, three] = jobs("A=1\n* * * * * x\n* * * * * y\nB=2\n* * * * * z\n");
  expect(one?.launch).toBe(two?.launch);
  expect(two?.launch).not.toBe(three?.launch);
});

test("on Windows a Unix shell is refused and a Unix search path is a warning", () => {
  expect(problemsOf("SHELL=/bin/sh\n", { platform: "windows" }, "t.crontab")).toEqual([
    "t.crontab:1:1: SHELL: '/bin/sh' is no Windows program",
  ]);
  const { warnings, jobs: found } = configOf(
    "SHELL=pwsh\nPATH=/bin\n0 0 * * * x\n",
    { platform: "windows" },
    "t.crontab",
  );
  expect(found[0]?.launch.shell).toBe("pwsh");
  expect(warnings).toHaveLength(1);
});
