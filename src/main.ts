#!/usr/bin/env node
/** The entry: asked for the version it answers at once, for all else it loads the command line. */
import { version } from "./contract/version.ts";

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === "--version") {
  process.stdout.write(`${version}\n`);
} else {
  const { runCommandLine } = await import("./commands/command-line.ts");
  process.exitCode = await runCommandLine(args);
}
