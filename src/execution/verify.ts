import type { LaunchConfig } from "../config/model.ts";
import type { OutputLine } from "../contract/launcher.ts";
import type { StopCause, Verification } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { ChildEnvironment } from "../platform/spawn/spawner.ts";
import { lineSplitter } from "./capture/line-splitter.ts";
import { linesOf, newestBlocks, type TextBlock } from "./capture/text-block.ts";
import { argvOf } from "./command.ts";
import { VERIFY_CHARACTERS_MAX, VERIFY_LINES_MAX } from "./limits.ts";
import type { RunParts } from "./run.ts";
import { type Supervised, supervise } from "./supervised-process.ts";

export interface Verifying {
  /** Ends the check as it would end the run; the run is then recorded with this cause. */
  stop(cause: StopCause): void;
  /** Never rejects. */
  readonly verified: Promise<{ readonly verification: Verification; readonly stopped: StopCause | null }>;
}

/**
 * Runs the second command that judges a result (running 5). It shares directory, environment and identity with the run, has a group and
 * streams of its own, and its lines are shown in the live log only.
 *
 * @param prefix what makes the run's identity and cage, put before the check as well
 */
export function verify(
  subject: string,
  launch: LaunchConfig,
  check: NonNullable<LaunchConfig["verify"]>,
  environment: ChildEnvironment,
  prefix: readonly string[],
  publish: (stream: OutputLine["stream"], block: TextBlock) => void,
  { clock, log, pace, spawner }: RunParts,
): Verifying {
  const startedAt = clock.wallNow();
  const kept = { stdout: keptOutput(launch.captureStdout), stderr: keptOutput(launch.captureStderr) };
  let supervised: Supervised | null = null;
  let stopFirst: StopCause | null = null;

  const result = (
    outcome: Verification["outcome"],
    exitCode: number | null,
    endedAt: EpochMs,
    reason: string | null,
  ): Verification => ({
    outcome,
    exitCode,
    startedAt,
    finishedAt: endedAt,
    reason,
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    outputTruncated: kept.stdout.truncated() || kept.stderr.truncated(),
  });

  const run = async (): Promise<{ verification: Verification; stopped: StopCause | null }> => {
    const outcome = await spawner.spawn({
      argv: [...prefix, ...argvOf(check.command, launch.shell)],
      environment,
      workingDirectory: launch.workingDirectory,
      stdout: "pipe",
      stderr: "pipe",
    });
    if (outcome.kind === "failed") {
      const reason = `check could not be launched: ${outcome.message}`;
      return { verification: result("error", null, clock.wallNow(), reason), stopped: stopFirst };
    }
    const { child } = outcome;
    supervised = supervise(child, {
      clock,
      log,
      pace,
      subject: `${subject}: its verify check`,
      killTimeoutSeconds: launch.killTimeoutSeconds,
      onKill: () => {},
      pipes: (["stdout", "stderr"] as const).map((name) => ({
        name,
        splitter: lineSplitter(launch.maxLineLengthBytes, () => {}),
        onLines: (block) => {
          kept[name].add(block);
          publish(`verify.${name}`, block);
        },
      })),
    });
    if (stopFirst !== null) supervised.stop(stopFirst);
    const cancelTimeout = clock.after(check.timeoutSeconds * 1000, () => supervised?.stop("timeout"));
    const ended = await supervised.ended;
    cancelTimeout();
    const { exitCode, endedAt, stopped } = ended;
    if (stopped === "timeout") {
      const reason = `check timed out after ${check.timeoutSeconds} seconds`;
      return { verification: result("timeout", exitCode, endedAt, reason), stopped: null };
    }
    if (stopped !== null) return { verification: result("cancelled", exitCode, endedAt, null), stopped };
    if (exitCode === 0) return { verification: result("passed", 0, endedAt, null), stopped: null };
    return { verification: result("failed", exitCode, endedAt, `check exited with code ${exitCode}`), stopped: null };
  };

  return {
    verified: run(),
    stop(cause) {
      stopFirst ??= cause;
      supervised?.stop(cause);
    },
  };
}

/** The newest lines of one stream, cut to what a record may hold (running 5.6). */
function keptOutput(captured: boolean) {
  const newest = newestBlocks(VERIFY_LINES_MAX, VERIFY_CHARACTERS_MAX * 4);
  let lines = 0;
  let cut = false;
  const text = (): string => {
    const all = linesOf(
      newest
        .blocks()
        .map((block) => block.text)
        .join(""),
    ).slice(-VERIFY_LINES_MAX);
    const whole = all.map((line) => `${line}\n`).join("");
    cut = lines > VERIFY_LINES_MAX || whole.length > VERIFY_CHARACTERS_MAX;
    return whole.slice(-VERIFY_CHARACTERS_MAX);
  };
  return {
    add(block: TextBlock): void {
      lines += block.lines;
      newest.push(block);
    },
    text: () => (captured || lines > 0 ? text() : null),
    truncated(): boolean {
      text();
      return cut;
    },
  };
}
