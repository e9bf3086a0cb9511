import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { kindByName } from "../config/crontab.ts";
import { starterText } from "../config/starter.ts";
import type { CommandContext } from "./command-line.ts";
import { Refusal } from "./errors.ts";
import { DEFAULT_CONFIG } from "./root.ts";

/** `cronstable init [directory]`: writes a commented, working `cronstable.yaml`, never over anything (config 12.2). */
export function register(program: Command, context: CommandContext): void {
  program
    .command("init")
    .argument("[directory]", `where to write it (default: -c, else ${DEFAULT_CONFIG})`)
    .description("write a commented starter configuration")
    .action((directory: string | undefined) => {
      const { config } = context.root();
      if (directory !== undefined && config !== null && directory !== config) {
        process.stderr.write(
          `cronstable init: both ${directory} and -c ${config} are given; writing to ${directory}\n`,
        );
      }
      const target = directory ?? config ?? DEFAULT_CONFIG;
      const path = writeStarter(target);
      const flag = target === DEFAULT_CONFIG ? "" : ` -c ${target}`;
      process.stdout.write(`wrote ${path}\nstart the scheduler with: cronstable${flag}\n`);
    });
}

function writeStarter(target: string): string {
  const there = statSync(target, { throwIfNoEntry: false });
  if (there !== undefined && !there.isDirectory()) {
    throw new Refusal(`${target} is a file; name a directory to write cronstable.yaml into`);
  }
  return refusing(target, () => {
    mkdirSync(target, { recursive: true });
    const names = readdirSync(target).filter((name) => !/^[_.]/.test(name) && kindByName(name) !== null);
    if (names.length > 0) {
      const some = names.slice(0, 5).join(", ");
      throw new Refusal(
        `${target} already holds configuration: ${some}${names.length > 5 ? ", …" : ""}; nothing was written`,
      );
    }
    const path = join(target, "cronstable.yaml");
    writeFileSync(path, starterText, { flag: "wx", mode: 0o644 });
    return path;
  });
}

/** What the file system refuses is told in one line. */
function refusing(target: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof Refusal || !(error instanceof Error && "code" in error)) throw error;
    throw new Refusal(`cannot write to ${target}: ${error.message}`);
  }
}
