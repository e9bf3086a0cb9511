import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../command-line.ts";
import { type Flag, type JobCommand, type JobFamily, type Operand, valueProblem } from "./job-command.ts";
import { runJobCommand } from "./run-job-command.ts";

/** Adds a family to the command line, for help and for what cannot be understood. @returns its word, for more actions */
export function registerFamily(program: Command, context: CommandContext, { word, commands }: JobFamily): Command {
  const top = program.command(word);
  for (const command of commands) {
    const place = command.action === null ? top : top.command(command.action);
    place.description(command.summary);
    addArguments(place, command);
    place.action(async () => {
      const flags = Object.entries(place.opts<Record<string, string | true>>()).map(
        ([name, value]) => [dashed(name), value === true ? "" : value] as const,
      );
      context.finish(await runJobCommand(word, command, { operands: place.args, flags: new Map(flags) }));
    });
  }
  if (commands.every(({ action }) => action !== null)) sayActionIsMissing(top, context);
  return top;
}

function addArguments(place: Command, { operands, flags }: JobCommand): void {
  for (const operand of operands) place.argument(operandText(operand));
  for (const flag of flags) {
    const option = new Option(flagText(flag), flag.summary);
    if (flag.value !== undefined) option.argParser((text) => checked(flag, text));
    if (flag.required) option.makeOptionMandatory();
    if (flag.excludes !== undefined) option.conflicts(camelCased(flag.excludes));
    place.addOption(option);
  }
}

function operandText({ name, presence }: Operand): string {
  if (presence === undefined) return `<${name}>`;
  return presence === "rest" ? `[${name}...]` : `[${name}]`;
}

function flagText({ name, short, value }: Flag): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` <${value}>`}`;
}

function checked(flag: Flag, text: string): string {
  const problem = valueProblem(flag, text);
  if (problem !== null) throw new InvalidArgumentError(problem);
  return text;
}

/** `--map-index` is `mapIndex` to commander. */
function camelCased(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function sayActionIsMissing(top: Command, context: CommandContext): void {
  top.action(() => {
    const help = top.name() === "state" ? "`cronstable state --help`" : "--help";
    process.stderr.write(`cronstable ${top.name()}: no action given (see ${help})\n`);
    context.finish(2);
  });
}
