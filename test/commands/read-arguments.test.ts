import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { jobFamilies } from "../../src/commands/job/families.ts";
import type { JobCommand } from "../../src/commands/job/job-command.ts";
import { readArguments } from "../../src/commands/job/read-arguments.ts";

function commandOf(word: string, action: string | null): JobCommand {
  const family = jobFamilies.find((candidate) => candidate.word === word);
  const command = family?.commands.find((candidate) => candidate.action === action);
  if (command === undefined) throw new Error(`no ${word} ${action}`);
  return command;
}

const read = (command: JobCommand, ...args: string[]) => {
  const found = readArguments(command, args);
  return found === null ? null : { operands: found.operands, flags: Object.fromEntries(found.flags) };
};

describe("arguments of a job-facing command", () => {
  const get = commandOf("artifact", "get");
  const acquire = commandOf("lock", "acquire");
  const run = commandOf("lock", "run");
  const advance = commandOf("cursor", "advance");

  test.each([
    [["r"], { operands: ["r"], flags: {} }],
    [["r", "--scope", "s"], { operands: ["r"], flags: { scope: "s" } }],
    [["--scope=s", "r"], { operands: ["r"], flags: { scope: "s" } }],
    [["--scope=", "r"], { operands: ["r"], flags: { scope: "" } }],
    [["--scope=a=b", "r"], { operands: ["r"], flags: { scope: "a=b" } }],
    [["--sc", "s", "r"], { operands: ["r"], flags: { scope: "s" } }],
    [["-o", "f", "r"], { operands: ["r"], flags: { output: "f" } }],
    [["-o", "-", "r"], { operands: ["r"], flags: { output: "-" } }],
    [["r", "--global"], { operands: ["r"], flags: { global: "" } }],
    [["-"], { operands: ["-"], flags: {} }],
    [[""], { operands: [""], flags: {} }],
  ])("%j are understood", (args, expected) => expect(read(get, ...args)).toEqual(expected));

  test.each([
    [[]],
    [["a", "b"]],
    [["r", "--scope"]],
    [["r", "--scope", "--global"]],
    [["r", "--scope", "s", "--global"]],
    [["r", "--global=yes"]],
    [["r", "--unknown"]],
    [["r", "-x"]],
    [["r", "--help"]],
    [["-h"]],
    [["--", "r"]],
    [["r", "--"]],
  ])("%j are left to the command line", (args) => expect(read(get, ...args)).toBe(null));

  test("a prefix must be unambiguous", () => {
    expect(read(acquire, "m", "--ti", "5")).toEqual({ operands: ["m"], flags: { timeout: "5" } });
    expect(read(acquire, "m", "--t", "5")).toBe(null);
    expect(read(acquire, "m", "--wai")).toEqual({ operands: ["m"], flags: { wait: "" } });
  });

  test("numbers are decimal", () => {
    for (const good of ["5", "+5", "0.5", ".5", "5.", "1e3"])
      expect(read(acquire, "m", "--timeout", good)?.flags).toEqual({ timeout: good });
    for (const bad of ["", "five", "0x10", "1_000", "nan", "Infinity", "5s"])
      expect(read(acquire, "m", `--timeout=${bad}`), bad).toBe(null);
    expect(read(acquire, "m", "--permits", "1.0")).toBe(null);
    expect(read(acquire, "m", "--ttl", "-5")?.flags).toEqual({ ttl: "-5" });
  });

  test("a negative number is an operand, any other dash is a flag", () => {
    expect(read(advance, "w", "-5")?.operands).toEqual(["w", "-5"]);
    expect(read(advance, "w", "-.5", "--force")?.operands).toEqual(["w", "-.5"]);
    expect(read(advance, "w", "-5x")).toBe(null);
  });

  test("lock run takes all behind the first -- as it is", () => {
    expect(read(run, "m", "--wait", "--", "a", "--wait", "--", "-x")).toEqual({
      operands: ["m", "a", "--wait", "--", "-x"],
      flags: { wait: "" },
    });
    expect(read(run, "m", "a", "b")).toEqual({ operands: ["m", "a", "b"], flags: {} });
    expect(read(run, "m", "a", "-b")).toBe(null);
    expect(read(run, "m")).toEqual({ operands: ["m"], flags: {} });
  });
});

/** What commander makes of the same arguments, by the same table. */
async function commanded(word: string, action: string | null, args: readonly string[]) {
  const { registerFamily } = await import("../../src/commands/job/register-family.ts");
  const command = commandOf(word, action);
  let seen: unknown = null;
  const spy: JobCommand = {
    ...command,
    async run({ operands, flags }) {
      seen = { operands: [...operands], flags: Object.fromEntries(flags) };
      return 0;
    },
  };
  const program = new Command().exitOverride();
  const context = {
    root: () => ({ config: null, logLevel: "INFO", logFormat: null, nodeId: null }),
    finish: () => undefined,
  };
  const top = registerFamily(program, context, { word, commands: [spy] });
  for (const each of [program, top, ...top.commands])
    each
      .exitOverride()
      .allowExcessArguments(false)
      .configureOutput({ writeErr: () => undefined });
  try {
    await program.parseAsync([word, ...(action === null ? [] : [action]), ...args], { from: "user" });
  } catch {
    return null; // a usage error
  }
  return seen;
}

test.each([
  ["state", "get", ["k"]],
  ["state", "get", ["k", "--scope", "s"]],
  ["state", "get", ["--scope=s", "k"]],
  ["state", "get", ["k", "--global"]],
  ["state", "get", []],
  ["state", "get", ["a", "b"]],
  ["state", "get", ["k", "--scope", "s", "--global"]],
  ["state", "set", ["k", "v", "--json"]],
  ["state", "keys", ["--global"]],
  ["idempotent", null, ["k", "--ttl", "5", "--release"]],
  ["idempotent", null, ["k", "--ttl", "x"]],
  ["lock", "acquire", ["m", "--permits", "3", "--wait", "--timeout", "1.5", "--ttl", "9"]],
  ["lock", "run", ["m", "--wait", "--", "sh", "-c", "x", "--", "--wait"]],
  ["lock", "run", ["m", "echo", "x"]],
  ["lock", "run", ["m"]],
  ["artifact", "put", ["n", "f"]],
  ["artifact", "put", ["n", "-"]],
  ["artifact", "get", ["n", "-o", "f"]],
  ["xcom", "pull", ["--task", "t", "--key", "k", "--map-index", "2", "-o", "-"]],
  ["xcom", "pull", ["--task", "t"]],
  ["xcom", "push", ["--key", "a\nb"]],
] as const)("%s %s %j is read alike on both ways", async (word, action, args) => {
  expect(await commanded(word, action, args)).toEqual(read(commandOf(word, action), ...args));
});
