import type { Command } from "../config/model.ts";
import type { Spawner } from "../platform/spawn/spawner.ts";
import { gate } from "./gate.ts";
import { SHELL_LIMIT_MS, SHELL_REAP_LIMIT_MS, SHELLS_AT_ONCE_MAX, SHELLS_WAITING_MAX } from "./limits.ts";
import type { Reporter, ReporterParts } from "./reporter.ts";
import { shellVariables } from "./shell-variables.rules.ts";
import { aboutOf } from "./story.ts";
import { limitMs, within } from "./within.ts";

/**
 * Runs a command that tells (running 12.3). What there is to tell is in its environment; nothing of it is ever part of the command line.
 * It has a process group of its own, which is killed as a whole when the command takes too long or the daemon stops.
 *
 * @param base the daemon's own environment
 */
export function shellReporter(
  { log, clock, turns }: ReporterParts,
  spawner: Spawner,
  base: Readonly<Record<string, string>>,
): Reporter {
  const places = gate(SHELLS_AT_ONCE_MAX, SHELLS_WAITING_MAX);

  return {
    name: "shell",
    acts: ({ shell }) => shell.command !== null,
    async tell({ block: { shell }, story }, cancelled) {
      const { command } = shell;
      if (command === null) return;
      const leave = await places.enter(cancelled);
      try {
        const started = await turns.take(() =>
          spawner.spawn({
            argv: argvOf(command, shell.shell),
            environment: { base, added: shellVariables(story) },
            workingDirectory: null,
            stdout: "inherit",
            stderr: "inherit",
          }),
        );
        if (started.kind === "failed") throw new Error(started.message);
        const { exit, group } = started.child;
        const patienceMs = limitMs(shell.timeoutSeconds, SHELL_LIMIT_MS);
        const ended = await within(clock, patienceMs, cancelled, () => exit);
        if (ended.kind === "late")
          log.error(
            `Shell reporter of ${aboutOf(story)} did not finish within ${(patienceMs / 1_000).toFixed(1)} seconds; killing it`,
          );
        if (ended.kind !== "done") {
          group.signal("SIGKILL");
          await within(clock, SHELL_REAP_LIMIT_MS, NEVER, () => exit);
        } else if (ended.value !== 0)
          log.error(`Error executing shell reporter of ${aboutOf(story)} with return code ${ended.value}`);
      } finally {
        leave();
      }
    },
  };
}

const NEVER = new AbortController().signal;

/** The command forms of running 1.2. */
function argvOf(command: Command, shell: string): readonly string[] {
  return typeof command === "string" ? [shell || "/bin/sh", "-c", command] : command;
}
