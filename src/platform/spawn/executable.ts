import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";

/** Where execvp looks when PATH is unset. */
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * The file a program name stands for, as execvp(3) finds it: a name with a slash is the file itself, any other is looked up in `path`.
 * Null when nothing executable is found there.
 *
 * @param directory where relative entries of PATH start
 */
export function findExecutable(program: string, path: string | undefined, directory: string | null): string | null {
  if (program.includes("/")) return program;
  if (program === "") return null;
  for (const entry of (path ?? DEFAULT_PATH).split(":")) {
    const candidate = `${entry === "" ? "." : entry}/${program}`;
    if (isExecutable(resolve(directory ?? ".", candidate))) return candidate;
  }
  return null;
}

/** Whether the file can be executed by this process; directories cannot. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // missing or forbidden: either way it is not the program
  }
}
