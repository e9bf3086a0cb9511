#!/usr/bin/env node
/**
 * The program's entry. What a job asks of its daemon is answered from this one file, a CommonJS bundle: Node starts it some twenty
 * milliseconds sooner than ES modules in several files (CLI-5). Everything else is for `main`.
 */
import { runFast } from "./commands/job/fast-path.ts";

void start();

async function start(): Promise<void> {
  const code = await runFast(process.argv.slice(2));
  if (code === null) await import("./main.ts");
  else process.exitCode = code;
}
