import { type Command, Option } from "commander";
import { problemsText } from "../config/problem.ts";
import { loadWithTemplates } from "../daemon/load.ts";
import { simulate } from "../daemon/simulation/simulation.ts";
import { systemClock } from "../platform/clock.ts";
import type { CommandContext } from "./command-line.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";
import { accountOf } from "./simulate/account.ts";
import { type AskedOptions, askedSimulation, askedZone } from "./simulate/options.ts";
import { answerOf, textOf } from "./simulate/report.ts";

/**
 * `cronstable simulate`: what a configuration would do, by the scheduler that would do it, on virtual time. Runs nothing and writes
 * nothing.
 */
export function register(program: Command, context: CommandContext): void {
  const each = (flags: string, description: string): Option =>
    new Option(flags, description)
      .argParser((text, before: readonly string[]) => [...before, text])
      .default([], "none");

  program
    .command("simulate")
    .description("show what would run, be skipped and why, be caught up after an outage, overlap; runs nothing")
    .option("-c, --config <file-or-dir>", "configuration to simulate")
    .option("--from <time>", "where to begin, ISO 8601 (default: now)")
    .option("--to <time>", "where to end, not included (default: a day later)")
    .option("--zone <zone>", "zone of the output, and of times without an offset (default: UTC)")
    .addOption(each("--down <from..to>", "the daemon is stopped, as by SIGTERM, and started anew; repeatable"))
    .addOption(each("--crash <from..to>", "the daemon is killed, as by SIGKILL, and started anew; repeatable"))
    .addOption(each("--duration <[job=]seconds>", "how long runs of a job take, or of all others (default: 0)"))
    .addOption(each("--fail <job>", "every run of the job fails; repeatable"))
    .addOption(each("--job <job>", "simulate this job only; repeatable"))
    .option("--first-start", "no job has ever run before (default: each ran at its last slot, and succeeded)")
    .option("--json", "print the answer as JSON")
    .action(async (asked: AskedOptions & { config?: string; json?: boolean }, command: Command) => {
      const refuse = (message: string): never => command.error(message);
      const zone = askedZone(asked.zone, refuse);
      const loaded = loadWithTemplates(asked.config ?? context.root().config ?? DEFAULT_CONFIG);
      if (!loaded.ok) throw new Refusal(`Configuration error: ${problemsText(loaded.problems)}`);
      const simulation = askedSimulation(asked, loaded.config, zone, systemClock.wallNow(), refuse);
      const transcript = await simulate(simulation);
      const reported = { simulation, transcript, account: accountOf(simulation, transcript), zone };
      const text = asked.json ? JSON.stringify(answerOf(reported), null, 2) : textOf(reported).join("\n");
      process.stdout.write(`${text}\n`);
    });
}
