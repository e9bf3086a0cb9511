import type { Command } from "../config/model.ts";
import { LOGGED_COMMAND_CHARACTERS_MAX } from "./limits.ts";

/** Program and arguments of a command (running 1.2): a text goes to a shell, a list is run as it is. */
export function argvOf(command: Command, shell: string): readonly string[] {
  if (typeof command !== "string") return command;
  return [shell === "" ? "/bin/sh" : shell, "-c", command];
}

/** A command for a log line: quoted, and not without end. */
export function loggedCommand(argv: readonly string[]): string {
  const text = JSON.stringify(argv);
  return text.length <= LOGGED_COMMAND_CHARACTERS_MAX ? text : `${text.slice(0, LOGGED_COMMAND_CHARACTERS_MAX)}… (cut)`;
}
