import { join } from "node:path";
import { LockBusy } from "../engine.ts";
import { errorCode } from "./disk.ts";
import { GHOST_LOCKS_MAX } from "./limits.ts";
import { ensureDirectory, FILE_MODE, nowSeconds, type Volume } from "./volume.ts";

const ONE_NUL = Uint8Array.of(0);

/**
 * Runs `work` while holding the flock of a lock file beside the data (LCK-1 to LCK-4). The lock file is never the data file, which
 * a rename swaps out from under its lock.
 *
 * @param path of the lock file, created when absent
 * @param touch whether to mark the lock file as used; flock itself leaves no trace (LCK-4)
 * @throws LockBusy when somebody else holds the lock; `work` has not run
 */
export function whileLocked<T>(volume: Volume, path: string, touch: "touch" | "leave", work: () => T): T {
  const { disk } = volume;
  for (let attempt = 0; attempt < GHOST_LOCKS_MAX; attempt++) {
    const fd = openLock(volume, path);
    try {
      if (disk.factsOf(fd).bytes === 0) disk.write(fd, ONE_NUL);
      if (!disk.tryLock(fd)) throw new LockBusy(`the lock ${path} is held by somebody else`);
      try {
        if (!isStillThere(volume, path, fd)) continue;
        if (touch === "touch") disk.touchOpen(fd, nowSeconds(volume));
        return work();
      } finally {
        disk.unlock(fd);
      }
    } finally {
      disk.close(fd);
    }
  }
  throw new LockBusy(`the lock ${path} is held by somebody else`);
}

function openLock(volume: Volume, path: string): number {
  try {
    return volume.disk.openOrCreate(path, FILE_MODE);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || path.startsWith(volume.layout.leases)) throw error;
    // Leases are not in here: where their directory has gone their fences have, and starting them again is not ours to decide.
    ensureDirectory(volume, join(path, ".."));
    return volume.disk.openOrCreate(path, FILE_MODE);
  }
}

/** Whether the path still names the file that was locked: a sweep may have unlinked it between our open and our lock. */
function isStillThere(volume: Volume, path: string, fd: number): boolean {
  const held = volume.disk.factsOf(fd);
  try {
    const named = volume.disk.facts(path);
    return named.inode === held.inode && named.device === held.device;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
