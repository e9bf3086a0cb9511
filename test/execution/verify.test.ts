import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LaunchConfig } from "../../src/config/model.ts";
import { execution, type JobOver, lineOf } from "./support/launch.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-verify-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const verified = (
  command: string | readonly string[],
  launch: Partial<LaunchConfig> = {},
  timeoutSeconds = 60,
): JobOver => ({
  command: "echo result; exit 0",
  launch: { captureStdout: true, ...launch, verify: { command, timeoutSeconds } },
});

test("a check that passes leaves the run a success and is on its record", async () => {
  const { launch, mirrored } = execution();
  const { run, finished } = launch(verified("echo fine; echo so-so >&2"));
  const result = await finished;
  expect(result).toMatchObject({ exitCode: 0, failReason: null, stopped: null });
  expect(result.verification).toMatchObject({
    outcome: "passed",
    exitCode: 0,
    reason: null,
    stdout: "fine\n",
    stderr: "so-so\n",
    outputTruncated: false,
  });
  expect(result.finishedAt).toBeGreaterThanOrEqual(result.verification?.finishedAt ?? Number.POSITIVE_INFINITY);
  expect(result.stdout?.text).toBe("result\n"); // the check's lines are none of the command's
  expect(result.stderr?.text).toBe("");
  expect(mirrored.stderr).toBe("");
  const said = run.output.recent().map(({ stream, line }) => `${stream} ${line}`);
  expect(said.toSorted()).toEqual(["stdout result", "verify.stderr so-so", "verify.stdout fine"]);
});

test("a check that fails fails the run, whose exit code stays", async () => {
  const result = await execution().result(verified("echo stale; exit 2"));
  expect(result).toMatchObject({ exitCode: 0, failReason: "verification failed: check exited with code 2" });
  expect(result.verification).toMatchObject({ outcome: "failed", exitCode: 2, stdout: "stale\n" });
});

test("a check that takes too long is ended with its helpers", async () => {
  const result = await execution().result(verified("sleep 300 & sleep 300", { killTimeoutSeconds: 0 }, 0.2));
  expect(result.failReason).toBe("verification failed: check timed out after 0.2 seconds");
  expect(result.stopped).toBeNull();
  expect(result.verification?.outcome).toBe("timeout");
});

test("a check that cannot be launched fails the run", async () => {
  const result = await execution().result(verified(["/nonexistent/check"]));
  const reason = "check could not be launched: ENOENT: program /nonexistent/check does not exist";
  expect(result.failReason).toBe(`verification failed: ${reason}`);
  expect(result.verification).toMatchObject({ outcome: "error", exitCode: null, reason });
});

test("behind a chain of programs it is told alike", async () => {
  const result = await execution().result(verified(["/nonexistent/check"], { umask: 0o77 }));
  expect(result.verification?.outcome).toBe("error");
});

test("it sees the run's environment, directory, umask and priority", async () => {
  const result = await execution().result(
    verified('echo "$A $(pwd) $(umask) $(nice)"', {
      environment: [["A", "b"]],
      workingDirectory: "/",
      umask: 0o77,
      priority: "idle",
    }),
  );
  expect(result.verification?.stdout).toBe("b / 0077 19\n");
});

describe("it does not run", () => {
  test.each([
    ["after a command that failed", { command: "exit 1" }, {}],
    ["after output that fails the run", { command: "echo x >&2" }, {}],
    [
      "with failsWhen.always",
      {},
      { failsWhen: { always: true, producesStdout: false, producesStderr: true, nonzeroReturn: true } },
    ],
    ["after a timeout", { command: "sleep 300" }, { executionTimeoutSeconds: 0.05 }],
    ["after a command that could not be launched", { command: ["/nonexistent"] }, {}],
  ] as const)("%s", async (_, job, launch) => {
    const mark = join(folder, "ran");
    const result = await execution().result({ ...verified(`touch ${mark}`, launch), ...job });
    expect(result.verification).toBeNull();
    expect(result.failReason).not.toBeNull();
    expect(existsSync(mark)).toBe(false);
  });
});

test("cancelling the run ends the check: the run is a cancelled one", async () => {
  const { launch } = execution();
  const { run, finished } = launch(verified("echo checking; sleep 300"));
  await lineOf(run.output, /checking/);
  run.stop("cancelled");
  const result = await finished;
  expect(result.stopped).toBe("cancelled");
  expect(result.exitCode).toBe(0);
  expect(result.verification).toMatchObject({ outcome: "cancelled", reason: null });
});

describe("what a record holds of a check's output", () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");

  test("64 lines are whole, of 65 the newest 64 stay", async () => {
    const whole = await execution().result(verified("seq 64"));
    expect(whole.verification).toMatchObject({ stdout: lines(64), outputTruncated: false });
    const cut = await execution().result(verified("seq 65 >&2"));
    expect(cut.verification).toMatchObject({ stderr: lines(65).slice(2), outputTruncated: true });
  });

  test("16384 characters are whole, of 16385 the newest stay", async () => {
    const whole = await execution().result(verified("head -c 16384 /dev/zero | tr '\\0' x"));
    expect(whole.verification).toMatchObject({ stdout: "x".repeat(16384), outputTruncated: false });
    const cut = await execution().result(verified("echo; head -c 16384 /dev/zero | tr '\\0' x"));
    expect(cut.verification).toMatchObject({ stdout: "x".repeat(16384), outputTruncated: true });
  });

  test("an early part that was too large to keep is said, though the rest is short", async () => {
    const result = await execution().result(
      verified("head -c 200000 /dev/zero | tr '\\0' x; echo; sleep 0.1; echo end"),
    );
    expect(result.verification?.outputTruncated).toBe(true);
    expect(result.verification?.stdout?.endsWith("end\n")).toBe(true);
  });

  test("over-long lines vanish", async () => {
    const result = await execution().result(verified("echo 123456; echo 12", { maxLineLengthBytes: 6 }));
    expect(result.verification?.stdout).toBe("123456\n12\n");
    const dropped = await execution().result(verified("echo 1234567; echo 12", { maxLineLengthBytes: 6 }));
    expect(dropped.verification?.stdout).toBe("12\n");
  });
});
