import { endpointFrom } from "../../client/job/endpoint.ts";
import { JobApiError } from "../../client/job/job-api-error.ts";
import { Refusal } from "../errors.ts";
import { type Arguments, exitCode, type JobCommand } from "./job-command.ts";

/** Runs a command of the family `word` as this process. @returns its exit code */
export async function runJobCommand(word: string, command: JobCommand, args: Arguments): Promise<number> {
  try {
    refuseBrokenText(args);
    return await command.run(args, {
      endpoint: () => endpointFrom(process.env),
      environment: process.env,
      print: (line) => process.stdout.write(`${line}\n`),
      complain: (line) => process.stderr.write(`${line}\n`),
    });
  } catch (error) {
    if (!(error instanceof JobApiError || error instanceof Refusal)) throw error;
    process.stderr.write(`cronstable ${word}: ${error.message}\n`);
    return exitCode.error;
  }
}

/** Node replaces what is no UTF-8 in its arguments; another name than the one given must not be used. */
function refuseBrokenText({ operands, flags }: Arguments): void {
  const suspicious = [...operands, ...flags.values()].some((text) => text.includes("\ufffd"));
  if (!suspicious || process.platform !== "linux") return;
  // Not imported: hardly any command needs them (CLI-5).
  const given = process.getBuiltinModule("node:fs").readFileSync("/proc/self/cmdline");
  if (!process.getBuiltinModule("node:buffer").isUtf8(given)) throw new Refusal("an argument is not valid UTF-8");
}
