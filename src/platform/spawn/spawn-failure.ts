import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { findExecutable, isExecutable } from "./executable.ts";

/** What was attempted. */
export interface Attempt {
  readonly program: string;
  readonly workingDirectory: string | null;
}

/**
 * Says why a start failed: what is wrong, where, what to do (running 1.5). The system answers with one code for the directory, the program
 * and the interpreter of a script alike, so the files are looked at.
 *
 * @param code as in `ENOENT`
 */
export function describeSpawnFailure(code: string, { program, workingDirectory }: Attempt): string {
  const directoryProblem = workingDirectory === null ? null : problemOfDirectory(workingDirectory);
  if (directoryProblem !== null) return `working directory ${workingDirectory} ${directoryProblem}`;
  return `${code}: ${explanation(code, program, workingDirectory)}${where(workingDirectory)}`;
}

/**
 * What would keep the program from starting, as far as the files tell; null when nothing does. For a program that another one is to exec, whose
 * failure would look like an exit of its own.
 */
export function foreseenFailure(attempt: Attempt, path: string | undefined): string | null {
  const { program, workingDirectory } = attempt;
  const file = findExecutable(program, path, workingDirectory);
  if (file === null) return notInPath(attempt, path);
  const absolute = resolve(workingDirectory ?? ".", file);
  if (isExecutable(absolute)) return null;
  return describeSpawnFailure(existsSync(absolute) ? "EACCES" : "ENOENT", { program: file, workingDirectory });
}

/** The message for a program that no directory of PATH holds. */
export function notInPath({ program, workingDirectory }: Attempt, path: string | undefined): string {
  if (program === "") return "ENOENT: the program's name is empty";
  return `ENOENT: no program "${program}" in PATH (${path ?? "unset"}); give its full path${where(workingDirectory)}`;
}

function where(workingDirectory: string | null): string {
  return workingDirectory === null ? "" : ` (working directory ${workingDirectory})`;
}

function problemOfDirectory(directory: string): string | null {
  try {
    return statSync(directory).isDirectory() ? null : "is not a directory";
  } catch (error) {
    return isCode(error, "ENOENT") ? "does not exist" : "cannot be entered";
  }
}

function explanation(code: string, program: string, workingDirectory: string | null): string {
  const file = resolve(workingDirectory ?? ".", program);
  switch (code) {
    case "ENOENT": {
      const interpreter = interpreterOf(file);
      return interpreter === null
        ? `program ${program} does not exist`
        : `the interpreter ${interpreter}, named in the first line of ${program}, does not exist`;
    }
    case "ENOTDIR":
      return `program ${program} does not exist: a part of its path is not a directory`;
    case "EACCES":
      return isDirectory(file)
        ? `${program} is a directory, not a program`
        : `${program} may not be executed; check its mode (chmod +x), the directories above it and the mount's noexec`;
    case "ENOEXEC":
      return `${program} is no program this system can run; a script needs a first line such as #!/bin/sh`;
    case "E2BIG":
      return "arguments and environment are too long for the system: one argument may have 128 KiB; pass a file instead";
    case "EAGAIN":
      return "the system allows no further process; raise the user's or the service's limit (ulimit -u, TasksMax, pids.max)";
    case "ENOMEM":
      return "the system has no memory for a further process";
    case "EMFILE":
      return "the daemon has too many files open; raise its limit (ulimit -n, LimitNOFILE)";
    case "ENFILE":
      return "the system has too many files open; raise fs.file-max";
    case "ETXTBSY":
      return `${program} is being written by another process`;
    case "ELOOP":
      return `too many symbolic links on the way to ${program}`;
    case "ENAMETOOLONG":
      return `the path of ${program.slice(0, 100)}… is too long`;
    default:
      return `the system refused to start ${program}`;
  }
}

/** The interpreter a script names in its first line; null when the file is no script or cannot be read. */
function interpreterOf(file: string): string | null {
  try {
    const fd = openSync(file, "r");
    try {
      const start = Buffer.alloc(256);
      const line = start.toString("utf8", 0, readSync(fd, start, 0, start.length, 0)).split("\n", 1)[0] ?? "";
      return /^#!\s*(\S+)/.exec(line)?.[1] ?? null;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
