import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import type { EpochMs } from "./clock.ts";

/** Ticks per second in /proc, the same on every Linux since 2.4. */
const TICKS_PER_SECOND = 100;

/** Whether a process of this number exists; one that has ended and is not waited for yet does. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * What tells two processes of one number apart: the instant this one started, in clock ticks since boot. Comparable within one boot only.
 * Null when there is no such process or the system does not say.
 */
export function processStartTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]; // the name before may hold anything
    return ticks === undefined ? null : Number(ticks);
  } catch {
    return null;
  }
}

/** When the process started, by the wall clock; off by what the clock has been stepped since. Null as for `processStartTicks`. */
export function processStartedAt(pid: number, now: EpochMs): EpochMs | null {
  const ticks = processStartTicks(pid);
  return ticks === null ? null : now - uptime() * 1000 + (ticks / TICKS_PER_SECOND) * 1000;
}
