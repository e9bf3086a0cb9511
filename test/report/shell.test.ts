import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shellVariables } from "../../src/report/shell-variables.rules.ts";
import { story } from "../../src/report/story.ts";
import { gone } from "../support/gone.ts";
import { jobConfig } from "../support/job-config.ts";
import { block, captured, failedRun, startedAt, succeededRun } from "./support/facts.ts";
import { startReporting } from "./support/reporting.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-shell-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const file = (name: string): string => join(folder, name);

/** The environment a reporter found, as it wrote it down. */
function environmentIn(path: string): Map<string, string> {
  const entries = readFileSync(path, "utf8").split("\0").slice(0, -1);
  return new Map(
    entries.map((entry): [string, string] => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

const NAMES = [
  "CRONSTABLE_CPU_SECONDS",
  "CRONSTABLE_FAILED",
  "CRONSTABLE_FAIL_REASON",
  "CRONSTABLE_HOST",
  "CRONSTABLE_JOB_COMMAND",
  "CRONSTABLE_JOB_NAME",
  "CRONSTABLE_JOB_SCHEDULE",
  "CRONSTABLE_LAST_SUCCESS_AT",
  "CRONSTABLE_MAX_RSS_BYTES",
  "CRONSTABLE_RETCODE",
  "CRONSTABLE_RUN_ID",
  "CRONSTABLE_SLA_CHECK",
  "CRONSTABLE_SLA_OBSERVED_SECONDS",
  "CRONSTABLE_SLA_THRESHOLD_SECONDS",
  "CRONSTABLE_STARTED_AT",
  "CRONSTABLE_STDERR",
  "CRONSTABLE_STDERR_TRUNCATED",
  "CRONSTABLE_STDOUT",
  "CRONSTABLE_STDOUT_TRUNCATED",
];

test("the command finds what there is to tell in its environment (acceptance 36, F-7)", async () => {
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({ shell: { command: ["sh", "-c", `cat /proc/self/environ > ${file("env")}`] } }),
    failedRun(
      {
        exitCode: 3,
        stdout: captured("$(touch pwned) `id` '\n"),
        stderr: captured(`${"é".repeat(20_000)}\0`),
        resources: { cpuUserSeconds: 1.5, cpuSystemSeconds: 0.25, maxRssBytes: 1_024, samples: 1, series: [] },
      },
      { command: ["./backup.sh", "a b"], name: "nul\0name" },
    ),
  );
  expect(lines).toEqual([]);
  const environment = environmentIn(file("env"));
  expect([...environment.keys()].filter((name) => name.startsWith("CRONSTABLE_")).sort()).toEqual(NAMES);
  expect(Object.fromEntries([...environment].filter(([name]) => name !== "CRONSTABLE_STDERR"))).toMatchObject({
    CRONSTABLE_FAILED: "1",
    CRONSTABLE_FAIL_REASON: "command exited with code 1",
    CRONSTABLE_RETCODE: "3",
    CRONSTABLE_JOB_NAME: "nulname",
    CRONSTABLE_JOB_COMMAND: "./backup.sh a b",
    CRONSTABLE_JOB_SCHEDULE: "* * * * *",
    CRONSTABLE_STDOUT: "$(touch pwned) `id` '\n",
    CRONSTABLE_STDOUT_TRUNCATED: "0",
    CRONSTABLE_STDERR_TRUNCATED: "1",
    CRONSTABLE_CPU_SECONDS: "1.75",
    CRONSTABLE_MAX_RSS_BYTES: "1024",
    CRONSTABLE_HOST: "node-1",
    CRONSTABLE_RUN_ID: "",
    CRONSTABLE_STARTED_AT: "2026-03-01T12:00:00.250000+00:00",
    CRONSTABLE_SLA_CHECK: "",
    PATH: process.env.PATH,
  });
  expect(environment.get("CRONSTABLE_STDERR")).toBe("é".repeat(16_384));
});

test("all 19 variables are there for a success, a late job and an event, too (acceptance 36)", () => {
  const success = shellVariables(story(succeededRun(), "h"));
  expect(Object.keys(success).sort()).toEqual(NAMES);
  expect(success).toMatchObject({ CRONSTABLE_FAILED: "0", CRONSTABLE_FAIL_REASON: "", CRONSTABLE_RETCODE: "0" });
  const late = shellVariables(
    story(
      {
        kind: "late",
        job: jobConfig({ name: "backup", command: "./backup.sh" }),
        check: "maxRuntime",
        thresholdSeconds: 60,
        observedSeconds: 61.5,
        lastSuccessAt: startedAt,
      },
      "h",
    ),
  );
  expect(Object.keys(late).sort()).toEqual(NAMES);
  expect(late).toMatchObject({
    CRONSTABLE_FAILED: "1",
    CRONSTABLE_FAIL_REASON: "sla: maxRuntime breached",
    CRONSTABLE_JOB_NAME: "backup",
    CRONSTABLE_JOB_COMMAND: "./backup.sh",
    CRONSTABLE_RETCODE: "None",
    CRONSTABLE_STDOUT: "",
    CRONSTABLE_SLA_CHECK: "maxRuntime",
    CRONSTABLE_SLA_THRESHOLD_SECONDS: "60",
    CRONSTABLE_SLA_OBSERVED_SECONDS: "61.5",
    CRONSTABLE_LAST_SUCCESS_AT: "2026-03-01T12:00:00.250000+00:00",
  });
  const event = shellVariables(
    story({ kind: "event", event: "quorum_loss", name: "node-1", subject: "s", message: "m", extras: {} }, "h"),
  );
  expect(Object.keys(event).sort()).toEqual(NAMES);
  expect(event).toMatchObject({ CRONSTABLE_FAILED: "1", CRONSTABLE_FAIL_REASON: "m", CRONSTABLE_RETCODE: "None" });
});

test("texts are cut to 16384 characters, not in the middle of one", () => {
  const cut = shellVariables(story(failedRun({ stdout: captured("😀".repeat(20_000)), stderr: captured("x".repeat(16_384)) }, { command: "c".repeat(20_000) }), "h")); // biome-ignore format: one line
  expect(cut.CRONSTABLE_STDOUT).toBe("😀".repeat(16_384));
  expect(cut.CRONSTABLE_STDOUT_TRUNCATED).toBe("1");
  expect(cut.CRONSTABLE_STDERR_TRUNCATED).toBe("0");
  expect(cut.CRONSTABLE_JOB_COMMAND).toHaveLength(16_384);
});

test("a text goes through the configured shell, a list is run as it stands", async () => {
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({ shell: { command: `echo "$CRONSTABLE_JOB_NAME $0" > ${file("text")}`, shell: "/bin/bash" } }),
    failedRun(),
  );
  await reporting.report(block({ shell: { command: ["touch", file("$HOME *")] } }), failedRun());
  expect(readFileSync(file("text"), "utf8")).toBe("backup /bin/bash\n");
  expect(readFileSync(file("$HOME *"), "utf8")).toBe("");
  expect(lines).toEqual([]);
});

test.each([
  ["a command that fails", "exit 7", "return code 7"],
  ["a command that is killed", "kill -9 $$", "return code -9"],
])("%s is logged", async (_what, command, said) => {
  const { reporting, lines } = startReporting();
  await reporting.report(block({ shell: { command } }), failedRun());
  expect(lines).toEqual([`ERROR Error executing shell reporter of job backup with ${said}`]);
});

test.each([
  ["does not exist", ["/no/such/program"], /\/no\/such\/program/],
  ["holds a NUL byte", ["echo", "a\0b"], /NUL/],
  ["is empty", [""], /./],
])("a command that %s is logged and stops nothing", async (_what, command, message) => {
  const { reporting, lines } = startReporting();
  await reporting.report(block({ shell: { command } }), failedRun());
  expect(lines).toEqual([expect.stringMatching(/^ERROR Problem reporting job backup failure: shell: /)]);
  expect(lines[0]).toMatch(message);
});

test("a command that never ends is killed with its children (acceptance 32)", async () => {
  const { reporting, lines } = startReporting();
  await reporting.report(
    block({ shell: { command: `sleep 300 & echo $! > ${file("child")}; wait`, timeoutSeconds: 0.3 } }),
    failedRun(),
  );
  expect(lines).toEqual(["ERROR Shell reporter of job backup did not finish within 0.3 seconds; killing it"]);
  const child = Number(readFileSync(file("child"), "utf8"));
  await gone(child);
});

test("closing ends it, too", async () => {
  const { reporting, lines } = startReporting();
  const report = reporting.report(
    block({ shell: { command: `echo $$ > ${file("tmp")}; mv ${file("tmp")} ${file("pid")}; sleep 300` } }),
    failedRun(),
  );
  const pid = await written(file("pid"));
  reporting.close();
  await report;
  await gone(Number(pid));
  expect(lines).toEqual([]);
});

async function written(path: string): Promise<string> {
  for (;;) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
