import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Command } from "../config/model.ts";
import { gate } from "./gate.ts";
import { SHELL_LIMIT_MS, SHELL_REAP_LIMIT_MS, SHELLS_AT_ONCE_MAX, SHELLS_WAITING_MAX } from "./limits.ts";
import type { Reporter, ReporterParts } from "./reporter.ts";
import { shellVariables } from "./shell-variables.rules.ts";
import { aboutOf } from "./story.ts";
import { limitMs } from "./within.ts";

/**
 * Runs a command that tells (running 12.3). What there is to tell is in its environment; nothing of it is ever part of the command line.
 * It has a process group of its own, which is killed as a whole when the command takes too long or the daemon stops.
 */
export function shellReporter({ log, clock, turns }: ReporterParts): Reporter {
  const places = gate(SHELLS_AT_ONCE_MAX, SHELLS_WAITING_MAX);

  return {
    name: "shell",
    acts: ({ shell }) => shell.command !== null,
    async tell({ block: { shell }, story }, cancelled) {
      const { command } = shell;
      if (command === null) return;
      const leave = await places.enter(cancelled);
      try {
        const environment = { ...process.env, HOSTNAME: story.host, ...shellVariables(story) };
        const { child, exit } = await turns.take(() => started(command, shell.shell, environment));
        const patienceMs = limitMs(shell.timeoutSeconds, SHELL_LIMIT_MS);
        const ended = await firstOf(exit, (end) => {
          const cancelTimer = clock.after(patienceMs, () => end("late"));
          const stop = (): void => end("cancelled");
          cancelled.addEventListener("abort", stop, { once: true });
          if (cancelled.aborted) stop();
          return () => {
            cancelTimer();
            cancelled.removeEventListener("abort", stop);
          };
        });
        if (ended === "late") {
          const seconds = (patienceMs / 1_000).toFixed(1);
          log.error(`Shell reporter of ${aboutOf(story)} did not finish within ${seconds} seconds; killing it`);
        }
        if (ended === "late" || ended === "cancelled") {
          killGroup(child);
          await firstOf(exit, (end) => clock.after(SHELL_REAP_LIMIT_MS, () => end("late")));
        } else if (ended !== 0)
          log.error(`Error executing shell reporter of ${aboutOf(story)} with return code ${ended}`);
      } finally {
        leave();
      }
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  /** The exit code, negative for a signal. Rejects when the command could not be launched. */
  readonly exit: Promise<number>;
}

/** The command forms of running 1.2. */
function started(command: Command, shell: string, environment: NodeJS.ProcessEnv): Started {
  const argv = typeof command === "string" ? [shell || "/bin/sh", "-c", command] : command;
  const child = spawn(argv[0] ?? "", argv.slice(1), { env: environment, stdio: "inherit", detached: true });
  const exit = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? -(constants.signals[signal ?? "SIGKILL"] ?? 9)));
  });
  exit.catch(() => {}); // asked for again below, where it counts
  return { child, exit };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error; // gone meanwhile: as wished
  }
}

/** The promise's value, or what `arm` ends with before. `arm` gives back what disarms it. */
function firstOf<T, E>(promise: Promise<T>, arm: (end: (how: E) => void) => () => void): Promise<T | E> {
  let disarm = (): void => {};
  const other = new Promise<E>((resolve) => {
    disarm = arm(resolve);
  });
  return Promise.race([promise, other]).finally(disarm);
}
