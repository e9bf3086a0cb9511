import type { Logger } from "../contract/log.ts";
import type { StopCause } from "../contract/run.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Child, ChildOutput } from "../platform/spawn/spawner.ts";
import type { LineSplitter } from "./capture/line-splitter.ts";
import type { Pace } from "./capture/pace.ts";
import type { TextBlock } from "./capture/text-block.ts";
import { DRAIN_MS } from "./limits.ts";

/** One stream that is captured: what reads it, what becomes of its lines. */
export interface CapturedPipe {
  readonly name: "stdout" | "stderr";
  readonly splitter: LineSplitter;
  readonly onLines: (block: TextBlock) => void;
}

export interface SupervisionParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly pace: Pace;
  /** How log lines name it, as in `Job backup`. */
  readonly subject: string;
  readonly killTimeoutSeconds: number;
  readonly pipes: readonly CapturedPipe[];
  /** Goes with every forced kill of the group. */
  readonly onKill: () => void;
}

export interface Ended {
  /** As the process ended itself; what a timeout makes of it is the caller's. */
  readonly exitCode: number;
  /** Exit of the process, or the stop where that came later (F-47). */
  readonly endedAt: EpochMs;
  readonly stopped: StopCause | null;
}

export interface Supervised {
  /** SIGTERM to the group, SIGKILL to it `killTimeout` later or once the process has gone. The first cause stays (running 3). */
  stop(cause: StopCause): void;
  /** Settles when the process has gone and its captured streams have ended, or were given up on. Never rejects. */
  readonly ended: Promise<Ended>;
}

/**
 * Follows a started process to its end.
 *   P1. It has ended when the process has exited and every captured pipe is closed by all who hold it, however long that takes.
 *   P2. A stop always ends in SIGKILL for the whole group, also when the process went in time: helpers hold its pipes.
 *   P3. After that kill the pipes get `DRAIN_MS`, then they are closed: what left the group cannot pin the run.
 */
export function supervise(
  child: Child,
  { clock, log, pace, subject, killTimeoutSeconds, pipes, onKill }: SupervisionParts,
): Supervised {
  const open = new Map<string, ChildOutput>();
  let exit: { readonly code: number; readonly at: EpochMs } | null = null;
  let stop: { readonly cause: StopCause; readonly at: EpochMs; killed: boolean } | null = null;
  let cancelKill = (): void => {};
  let cancelDrain = (): void => {};
  let settle: (ended: Ended) => void = () => {};
  const ended = new Promise<Ended>((resolve) => {
    settle = resolve;
  });

  const settleIfOver = (): void => {
    if (exit === null || open.size > 0) return;
    cancelKill();
    cancelDrain();
    settle({ exitCode: exit.code, endedAt: Math.max(exit.at, stop?.at ?? 0), stopped: stop?.cause ?? null });
  };

  const kill = (): void => {
    if (stop === null || stop.killed) return;
    stop.killed = true;
    cancelKill();
    child.group.signal("SIGKILL");
    onKill();
    cancelDrain = clock.after(DRAIN_MS, () => {
      for (const [name, output] of open) {
        log.warning(
          `${subject.replace(/^J/, "j")}: ${name} did not reach end-of-file within ${(DRAIN_MS / 1000).toFixed(1)} seconds of the job being killed; a process that left its group holds it. What was captured is kept`,
        );
        output.close();
      }
    });
  };

  for (const { name, splitter, onLines } of pipes) {
    const output = child[name];
    if (output === null) continue;
    open.set(name, output);
    const resume = (): void => output.resume();
    output.read(
      (bytes) => {
        const block = splitter.push(bytes);
        if (block !== null) onLines(block);
        return pace.afterRead(resume);
      },
      () => {
        const rest = splitter.end();
        if (rest !== null) onLines(rest);
        open.delete(name);
        settleIfOver();
      },
    );
  }

  void child.exit.then((code) => {
    exit = { code, at: clock.wallNow() };
    if (stop !== null) kill(); // P2
    settleIfOver();
  });

  return {
    ended,
    stop(cause) {
      if (stop !== null) return;
      stop = { cause, at: clock.wallNow(), killed: false };
      child.group.signal("SIGTERM");
      if (exit !== null || killTimeoutSeconds === 0) {
        kill();
        return;
      }
      cancelKill = clock.after(killTimeoutSeconds * 1000, () => {
        log.warning(
          `${subject} did not gracefully terminate after ${killTimeoutSeconds.toFixed(1)} seconds, killing it...`,
        );
        kill();
      });
    },
  };
}
