import { jobFamilies } from "./families.ts";
import { readArguments } from "./read-arguments.ts";
import { runJobCommand } from "./run-job-command.ts";

/**
 * Runs a job-facing command without loading the command line (CLI-5).
 *
 * @returns its exit code; null when it is for the command line to read: another command, a request for help, a usage error
 */
export async function runFast(args: readonly string[]): Promise<number | null> {
  const [word, action] = args;
  const family = jobFamilies.find((candidate) => candidate.word === word);
  const command = family?.commands.find((candidate) => candidate.action === null || candidate.action === action);
  if (family === undefined || command === undefined) return null;
  const read = readArguments(command, args.slice(command.action === null ? 1 : 2));
  return read === null ? null : runJobCommand(family.word, command, read);
}
