import type { LaunchConfig } from "../config/model.ts";
import type { OutputLine } from "../contract/launcher.ts";
import type { StopCause, Verification } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import { foreseenFailure } from "../platform/spawn/spawn-failure.ts";
import { lineSplitter } from "./capture/line-splitter.ts";
import { newestBlocks, offsetOfLine, type TextBlock } from "./capture/text-block.ts";
import { argvOf } from "./command.ts";
import { VERIFY_CHARACTERS_MAX, VERIFY_LINES_MAX } from "./limits.ts";
import { applyPriority } from "./priority.ts";
import type { RunParts } from "./run.ts";
import type { StartPlan } from "./start-plan.ts";
import { type Supervised, supervise } from "./supervised-process.ts";

/** A character takes so many bytes at most. */
const UTF8_BYTES_MAX = 4;

export interface Verified {
  readonly verification: Verification;
  /** Set when the run was stopped while it was verified; it is then recorded with this cause. */
  readonly stopped: StopCause | null;
}

export interface Verifying {
  /** Ends the check as it would end the run. */
  stop(cause: StopCause): void;
  /** Never rejects. */
  readonly verified: Promise<Verified>;
}

/**
 * Runs the second command that judges a result (running 5). It shares directory, environment, identity, cage and priority with the run, has a
 * group and streams of its own, and its lines are shown in the live log only.
 */
export function verify(
  subject: string,
  launch: LaunchConfig,
  check: NonNullable<LaunchConfig["verify"]>,
  { prefix, environment, cage }: Pick<Extract<StartPlan, { kind: "plan" }>, "prefix" | "environment" | "cage">,
  publish: (stream: OutputLine["stream"], block: TextBlock) => void,
  { clock, log, pace, spawner }: Pick<RunParts, "clock" | "log" | "pace" | "spawner">,
): Verifying {
  const startedAt = clock.wallNow();
  const kept = { stdout: keptOutput(), stderr: keptOutput() };
  let supervised: Supervised | null = null;
  let stopFirst: StopCause | null = null;

  const pipes = (["stdout", "stderr"] as const).map((name) => ({
    name,
    splitter: lineSplitter(launch.maxLineLengthBytes, () => {}),
    onLines(block: TextBlock) {
      kept[name].add(block);
      publish(`verify.${name}`, block);
    },
  }));

  const answer = (
    outcome: Verification["outcome"],
    reason: string | null,
    ended: { readonly exitCode: number | null; readonly endedAt: EpochMs; readonly stopped: StopCause | null },
  ): Verified => {
    const [stdout, stderr] = [kept.stdout.cut(), kept.stderr.cut()];
    const verification = {
      outcome,
      exitCode: ended.exitCode,
      startedAt,
      finishedAt: ended.endedAt,
      reason,
      stdout: stdout.text,
      stderr: stderr.text,
      outputTruncated: stdout.truncated || stderr.truncated,
    };
    return { verification, stopped: ended.stopped };
  };

  const run = async (): Promise<Verified> => {
    const argv = argvOf(check.command, launch.shell);
    const { workingDirectory } = launch;
    const problem =
      prefix.length === 0
        ? null
        : foreseenFailure(
            { program: argv[0] ?? "", workingDirectory },
            environment.added.PATH ?? environment.base.PATH,
          );
    const outcome =
      problem === null
        ? await spawner.spawn({
            argv: [...prefix, ...argv],
            environment,
            workingDirectory,
            stdout: "pipe",
            stderr: "pipe",
          })
        : ({ kind: "failed", message: problem } as const);
    if (outcome.kind === "failed") {
      const ended = { exitCode: null, endedAt: clock.wallNow(), stopped: stopFirst };
      return answer("error", `check could not be launched: ${outcome.message}`, ended);
    }
    const { child } = outcome;
    applyPriority(child, launch.priority, subject, log);
    supervised = supervise(child, {
      clock,
      log,
      pace,
      subject: `${subject}: its verify check`,
      killTimeoutSeconds: launch.killTimeoutSeconds,
      onKill: () => cage?.kill(),
      pipes,
    });
    if (stopFirst !== null) supervised.stop(stopFirst);
    const cancelTimeout = clock.after(check.timeoutSeconds * 1000, () => supervised?.stop("timeout"));
    const ended = await supervised.ended;
    cancelTimeout();
    if (ended.stopped === "timeout") {
      return answer("timeout", `check timed out after ${check.timeoutSeconds} seconds`, { ...ended, stopped: null });
    }
    if (ended.stopped !== null) return answer("cancelled", null, ended);
    if (ended.exitCode === 0) return answer("passed", null, ended);
    return answer("failed", `check exited with code ${ended.exitCode}`, ended);
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
function keptOutput() {
  const newest = newestBlocks(VERIFY_LINES_MAX, VERIFY_CHARACTERS_MAX * UTF8_BYTES_MAX);
  let written = 0;
  return {
    add(block: TextBlock): void {
      written += block.lines;
      newest.push(block);
    },
    cut(): { readonly text: string; readonly truncated: boolean } {
      const blocks = newest.blocks().map(({ text }) => text);
      const all = blocks.join("");
      const lines = all.slice(offsetOfLine(all, newest.lines() - VERIFY_LINES_MAX));
      const truncated = written > Math.min(newest.lines(), VERIFY_LINES_MAX) || lines.length > VERIFY_CHARACTERS_MAX;
      return { text: lines.slice(-VERIFY_CHARACTERS_MAX), truncated };
    },
  };
}
