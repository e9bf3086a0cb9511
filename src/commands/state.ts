import type { Command } from "commander";
import type { CommandContext } from "./command-line.ts";
import { kvFamily } from "./job/kv.ts";
import { registerFamily } from "./job/register-family.ts";
import { registerStateAdmin } from "./state-admin.ts";

/** `cronstable state …`: what jobs do with their map, and beside it what the administrator does with the whole store. */
export function register(program: Command, context: CommandContext): void {
  const state = registerFamily(program, context, kvFamily);
  state.description("keep values between runs of a job; administer the durable store");
  registerStateAdmin(state, context);
}
