import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** Which boot of this host the daemon runs under (state 13). */
export interface BootIdentity {
  /** The kernel's own id of the boot, where it has one. */
  readonly bootId: string | null;
  /** Seconds since 1970, as uptime and wall clock give it: it wavers with the wall clock. Null where the uptime is kept from us. */
  readonly bootTimeSeconds: number | null;
}

/** Boot times of one boot differ by clock steps and rounding, up to this much. */
const BOOT_TIME_TOLERANCE_SECONDS = 60;

/** Asks the system. Linux answers exactly, elsewhere the boot is told by its time. */
export function bootIdentity(nowMs: number): BootIdentity {
  const uptimeSeconds = readUptime();
  return { bootId: kernelBootId(), bootTimeSeconds: uptimeSeconds === null ? null : nowMs / 1000 - uptimeSeconds };
}

/** Whether both were taken under the same boot: by id where both have one, else by time (BOO-2, BOO-8). */
export function sameBoot(
  one: { readonly bootId: string | null; readonly bootTimeSeconds: number | null },
  other: { readonly bootId: string | null; readonly bootTimeSeconds: number | null },
): boolean {
  if (one.bootId !== null && other.bootId !== null) return one.bootId === other.bootId;
  if (one.bootTimeSeconds === null || other.bootTimeSeconds === null) return false;
  return Math.abs(one.bootTimeSeconds - other.bootTimeSeconds) <= BOOT_TIME_TOLERANCE_SECONDS;
}

function readUptime(): number | null {
  try {
    return uptime();
  } catch {
    return null; // a sandbox may hide it
  }
}

function kernelBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return null; // not Linux, or /proc is hidden: the time has to do
  }
}
