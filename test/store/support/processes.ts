import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundled } from "./bundle.ts";

const peer = join(import.meta.dirname, "../../compat/peer.py");

/** Runs a program of ours to its end. */
export async function racer(path: string, ...args: readonly string[]): Promise<void> {
  const program = fileURLToPath(bundled("test/store/support/racer.program.ts"));
  await promisify(execFile)(process.execPath, [program, path, ...args]);
}

/** Runs the other implementation to its end. @returns what it printed */
export async function pythonPeer(path: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)("python3", [peer, join(path, "default"), ...args])).stdout;
}

/** Why the other implementation cannot run here, or null. */
export const noPython: string | null = (() => {
  try {
    execFileSync("python3", ["-c", "import fcntl"], { stdio: "pipe" });
    return null;
  } catch {
    return "there is no python3 here";
  }
})();
