import type { Command } from "commander";
import type { CommandContext } from "./command-line.ts";
import { UsageError } from "./errors.ts";
import { registerStateAdmin } from "./state-admin.ts";

/** `cronstable state …`: what the administrator does with the whole store. */
export function register(program: Command, context: CommandContext): void {
  const state = program.command("state").description("administer the durable store");
  registerStateAdmin(state, context);
  state.action(() => {
    throw new UsageError("no action given (see `cronstable state --help`)", "cronstable state");
  });
}
