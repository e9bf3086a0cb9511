import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { systemClock } from "./clock.ts";

/** Which boot of the operating system this is. Both null: nobody can tell, and each daemon start counts as a boot (BOO-2). */
export interface BootIdentity {
  /** The kernel's own name of the boot; exact. */
  readonly bootId: string | null;
  /** When the system came up, epoch seconds; off by what the wall clock is corrected by. */
  readonly bootTimeSeconds: number | null;
}

/** Where the identity comes from. */
export interface BootSources {
  /** @throws where there is no such file */
  readBootId(): string;
  /** @throws where the platform does not tell */
  uptimeSeconds(): number;
  wallNow(): number;
}

const systemSources: BootSources = {
  readBootId: () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"),
  // The kernel's boot clock on Linux, kern.boottime on macOS and the BSDs, GetTickCount64 on Windows.
  uptimeSeconds: uptime,
  wallNow: systemClock.wallNow,
};

/** Reads the identity of this boot; never throws. */
export function readBootIdentity(sources: BootSources = systemSources): BootIdentity {
  const bootId = orNull(() => sources.readBootId().trim());
  const upSeconds = orNull(sources.uptimeSeconds);
  return {
    bootId: bootId === "" ? null : bootId,
    bootTimeSeconds: upSeconds === null || !(upSeconds > 0) ? null : sources.wallNow() / 1000 - upSeconds,
  };
}

/** A source this platform does not have is no fault. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
