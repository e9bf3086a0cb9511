import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * Control groups (cgroup v2) as files. The file system lives in memory: all of this is quick and needs no thread of its own.
 * A group is named by its directory.
 */

/** A file of a group, null when the kernel has no such file there. */
export function readGroupFile(group: string, file: string): string | null {
  try {
    return readFileSync(join(group, file), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENODEV") return null;
    throw error;
  }
}

/** @returns the error code when the kernel refuses, null when it took it */
export function writeGroupFile(group: string, file: string, text: string): string | null {
  try {
    writeFileSync(join(group, file), text, { flag: "r+" }); // never makes a file: a missing control is ENOENT
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

/** @returns the error code when there is no such group afterwards */
export function makeGroup(group: string): string | null {
  try {
    mkdirSync(group);
    return null;
  } catch (error) {
    return codeOf(error) === "EEXIST" ? null : codeOf(error);
  }
}

/** Removes a group and the groups in it if no process is left in any. @returns whether it is gone */
export function removeGroup(group: string): boolean {
  try {
    for (const child of childGroups(group)) removeGroup(join(group, child));
    rmdirSync(group);
    return true;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}

/** Names of the groups directly below. */
export function childGroups(group: string): string[] {
  return readdirSync(group, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

/** Milliseconds since the epoch at which the group was made, null when it is gone. */
export function groupMadeAt(group: string): number | null {
  return statSync(group, { throwIfNoEntry: false })?.ctimeMs ?? null;
}

/** Pids of the processes in the group itself. A process of another pid namespace shows as 0. */
export function groupProcesses(group: string): number[] {
  const text = readGroupFile(group, "cgroup.procs") ?? "";
  return text.split("\n").filter(Boolean).map(Number);
}

/** Passes over a group whose processes have to be killed one by one; each may have forked since it was listed. */
const KILL_PASSES = 10;

/** Kills all processes in the group and below. */
export function killGroup(group: string): void {
  if (writeGroupFile(group, "cgroup.kill", "1") === null) return;
  // Kernels before 5.14 have no such file.
  for (let pass = 0; pass < KILL_PASSES; pass += 1) {
    const pids = processesBelow(group);
    if (pids.length === 0) return;
    for (const pid of pids) killIfThere(pid);
  }
}

function processesBelow(group: string): number[] {
  try {
    const below = childGroups(group).flatMap((child) => processesBelow(join(group, child)));
    return [...groupProcesses(group).filter((pid) => pid > 0), ...below];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  throw error;
}
