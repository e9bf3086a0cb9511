import { type Arguments, type Flag, type JobCommand, valueProblem } from "./job-command.ts";

/**
 * Reads what follows a command's words, when it is as it should be. Null for everything else, help included: the command line then reads
 * it again and says what is wrong, so that starting it costs nothing where nothing is.
 *
 * Flags may be shortened to an unambiguous prefix and stand anywhere; negative numbers are operands.
 */
export function readArguments(command: JobCommand, args: readonly string[]): Arguments | null {
  const takesRest = command.operands.some(({ presence }) => presence === "rest");
  const dashes = args.indexOf("--");
  if (dashes !== -1 && !takesRest) return null;
  const own = dashes === -1 ? args : args.slice(0, dashes);
  const operands: string[] = [];
  const flags = new Map<string, string>();
  for (let at = 0; at < own.length; at++) {
    const arg = own[at] ?? "";
    if (!isFlag(arg)) {
      operands.push(arg);
      continue;
    }
    const [name, inline] = splitAtEquals(arg);
    const flag = flagNamed(command.flags, name);
    if (flag === null) return null;
    if (flag.value === undefined) {
      if (inline !== null) return null;
      flags.set(flag.name, "");
      continue;
    }
    const value = inline ?? own[++at];
    if (value === undefined || (inline === null && isFlag(value)) || valueProblem(flag, value) !== null) return null;
    flags.set(flag.name, value);
  }
  if (dashes !== -1) operands.push(...args.slice(dashes + 1));
  return fits(command, operands, flags) ? { operands, flags } : null;
}

function isFlag(arg: string): boolean {
  return arg.startsWith("-") && arg !== "-" && !/^-(\d+|\d*\.\d+)$/.test(arg);
}

function splitAtEquals(arg: string): readonly [name: string, value: string | null] {
  const equals = arg.startsWith("--") ? arg.indexOf("=") : -1;
  return equals === -1 ? [arg, null] : [arg.slice(0, equals), arg.slice(equals + 1)];
}

function flagNamed(flags: readonly Flag[], given: string): Flag | null {
  const exact = flags.find(({ name, short }) => given === `--${name}` || given === `-${short}`);
  if (exact !== undefined) return exact;
  const matches = given.length > 2 ? flags.filter(({ name }) => `--${name}`.startsWith(given)) : [];
  return matches.length === 1 ? (matches[0] ?? null) : null;
}

function fits(command: JobCommand, operands: readonly string[], flags: ReadonlyMap<string, string>): boolean {
  const least = command.operands.filter(({ presence }) => presence === undefined).length;
  const most = command.operands.some(({ presence }) => presence === "rest")
    ? Number.POSITIVE_INFINITY
    : command.operands.length;
  if (operands.length < least || operands.length > most) return false;
  return command.flags.every(
    ({ name, required, excludes }) =>
      !(required === true && !flags.has(name)) && !(excludes !== undefined && flags.has(name) && flags.has(excludes)),
  );
}
