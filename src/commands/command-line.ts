import { Command, CommanderError, Option } from "commander";
import { version } from "../contract/version.ts";
import { Refusal, UsageError } from "./errors.ts";

/** The root options that every command may need (config 12.1). */
export interface RootOptions {
  readonly config: string | null;
  readonly logLevel: string;
  readonly logFormat: "text" | "json" | null;
  /** Null: the host's name. */
  readonly nodeId: string | null;
}

/** A subcommand's own file: adds itself to the program, and sets the exit code through `finish`. */
export interface CommandModule {
  register(program: Command, context: CommandContext): void;
}

export interface CommandContext {
  root(): RootOptions;
  /** The command's exit code; 0 when never called. */
  finish(code: number): void;
}

/** Loaded only when asked for: a job-facing command must start as fast as Node itself. */
const subcommands: Readonly<Record<string, { readonly summary: string; load(): Promise<CommandModule> }>> = {
  init: { summary: "write a commented starter configuration", load: () => import("./init.ts") },
  schedule: { summary: "explain, preview and check schedules", load: () => import("./schedule.ts") },
  dag: { summary: "check and draw workflows; start, follow and decide their runs", load: () => import("./dag.ts") },
  simulate: {
    summary: "show what a configuration would do, on virtual time",
    load: () => import("./simulate.ts"),
  },
  state: {
    summary: "keep values between runs of a job; administer the durable store",
    load: () => import("./state.ts"),
  },
  ...jobFamily("cursor", "remember in a job how far it has come"),
  ...jobFamily("idempotent", "win a key once in the whole fleet: exit 0 the first time, 5 after that"),
  ...jobFamily("lock", "take turns with other jobs and nodes"),
  ...jobFamily("artifact", "hand files from a job to later runs and other nodes"),
  ...jobFamily("secret", "read in a job the secrets that are staged for its run"),
  ...jobFamily("xcom", "hand data from one task of a workflow run to another"),
};

/** Commands of jobs. Here they come for help, and when the fast path could not make out what was meant. */
function jobFamily(word: string, summary: string): typeof subcommands {
  return {
    [word]: {
      summary,
      async load() {
        const [{ jobFamilies }, { registerFamily }] = await Promise.all([
          import("./job/families.ts"),
          import("./job/register-family.ts"),
        ]);
        const family = jobFamilies.find((candidate) => candidate.word === word);
        return {
          register(program, context) {
            if (family !== undefined) registerFamily(program, context, family).description(summary);
          },
        };
      },
    },
  };
}

/**
 * Runs one command line (config 12). Results go to stdout, diagnostics to stderr.
 *
 * @returns the exit code: 0 done, 1 failed or refused, 2 a command line that cannot be understood
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = new Command("cronstable");
  const context: CommandContext = {
    root: () => rootOptions(program),
    finish: (code) => {
      exitCode = code;
    },
  };
  program
    .enablePositionalOptions()
    .description("Runs jobs on schedule. Without a command: the daemon, in the foreground.")
    .usage("[options] [command]")
    .addOption(new Option("-c, --config <file-or-dir>", "configuration file or directory (default: /etc/cronstable.d)"))
    .addOption(new Option("-l, --log-level <level>", "DEBUG, INFO, WARNING, ERROR or CRITICAL").default("INFO"))
    .addOption(new Option("--log-format <format>", "form of the log lines on stderr").choices(["text", "json"]))
    .addOption(
      new Option("--node-id <name>", "name of this node in the durable store (default: the host's name)").env(
        "CRONSTABLE_NODE_ID",
      ),
    )
    .option("-v, --validate-config", "check the configuration and exit: 0 valid, 1 not")
    .option("--job-set-id", "print the id of the configured set of jobs and exit")
    .option("--third-party-licenses", "print the notices of bundled packages and exit")
    .version(version, "--version", "print the version and exit")
    .action(async () => {
      const { runRoot } = await import("./root.ts");
      const { validateConfig, jobSetId, thirdPartyLicenses } = program.opts<Record<string, boolean | undefined>>();
      const mode = thirdPartyLicenses ? "licenses" : jobSetId ? "job set id" : validateConfig ? "validate" : "daemon";
      exitCode = await runRoot(mode, context.root(), args.length === 0, () => program.helpInformation());
    });
  const asked = subcommandOf(args);
  for (const [name, { summary, load }] of Object.entries(subcommands)) {
    if (name === asked) (await load()).register(program, context);
    else program.command(name).summary(summary).description(summary);
  }
  for (const command of [program, ...descendants(program)]) prepare(command);

  try {
    if (args.includes("--") && !(asked === "lock" && args[args.indexOf(asked) + 1] === "run"))
      throw new UsageError("`--` is only valid before a `lock run` command");
    await program.parseAsync(expandPrefixes(args, program), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof Refusal) {
      const prefix = error.prefix ?? (asked === null ? "cronstable" : `cronstable ${asked}`);
      process.stderr.write(`${prefix}: ${error.message}\n`);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`usage: ${error.command} ${program.usage()}\n${error.command}: error: ${error.message}\n`);
    return 2;
  }
  return exitCode;
}

/** Usage errors in the field's form: a usage line, then `cronstable[ <sub>]: error: <text>`, exit 2. */
function prepare(command: Command): void {
  command.exitOverride();
  command.allowExcessArguments(false);
  command.configureOutput({
    outputError: (text, write) => {
      const name = fullName(command);
      write(`usage: ${name} ${command.usage()}\n${name}: error: ${text.replace(/^error: /, "")}`);
    },
  });
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function descendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...descendants(child)]);
}

const takesValue = new Set(["-c", "--config", "-l", "--log-level", "--log-format", "--node-id"]);

/** The first word that is no option and no option's value. */
function subcommandOf(args: readonly string[]): string | null {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (takesValue.has(arg)) at++;
    else if (!arg.startsWith("-")) return arg;
    else if (/^-v+[cl]$/.test(arg)) at++;
  }
  return null;
}

/** Root options before the command may be shortened to an unambiguous prefix: `--valid` is `--validate-config`. */
function expandPrefixes(args: readonly string[], program: Command): string[] {
  const longs = [...program.options.map((option) => option.long ?? ""), "--help"];
  let inRoot = true;
  return args.map((arg, at) => {
    const before = args[at - 1];
    if (before === undefined || !takesValue.has(before)) inRoot &&= arg.startsWith("-");
    if (!inRoot || !arg.startsWith("--") || arg === "--") return arg;
    const [name = arg, ...value] = arg.split("=");
    if (longs.includes(name)) return arg;
    const matches = longs.filter((long) => long.startsWith(name));
    if (matches.length > 1) throw new UsageError(`ambiguous option: ${name} could match ${matches.join(", ")}`);
    return [matches[0] ?? name, ...value].join("=");
  });
}

function rootOptions(program: Command): RootOptions {
  const { config, logLevel, logFormat, nodeId } = program.opts<{
    config?: string;
    logLevel: string;
    logFormat?: "text" | "json";
    nodeId?: string;
  }>();
  return { config: config ?? null, logLevel, logFormat: logFormat ?? null, nodeId: nodeId ?? null };
}
