import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const program = join(import.meta.dirname, "../../dist/cronstable.cjs");

export interface Ended {
  /** The exit code, or the signal's name. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the first text on stdout. */
  readonly firstOutput: Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Starts the built program as the command of a job: with `environment` and nothing else but a path. */
export function startCommand(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  input: string | Uint8Array = "",
): Started {
  const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env.PATH ?? "", ...environment } });
  child.stdin.on("error", () => undefined); // a command that ends without reading
  child.stdin.end(input);
  const firstOutput = new Promise<string>((resolve) => child.stdout.once("data", (chunk) => resolve(String(chunk))));
  const ended = Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | string>((resolve) => child.once("close", (code, signal) => resolve(code ?? signal ?? ""))),
  ]).then(([stdout, stderr, code]) => ({ code, stdout, stderr }));
  return { pid: child.pid ?? 0, kill: (signal) => child.kill(signal), firstOutput, ended };
}

/** Runs a command to its end: `exit code|stdout|stderr`. */
export async function runCommand(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  input?: string | Uint8Array,
): Promise<string> {
  const { code, stdout, stderr } = await startCommand(environment, args, input).ended;
  return `${code}|${stdout}|${stderr}`;
}
