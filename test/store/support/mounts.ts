import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ownDirectory } from "./temporary.ts";

/** Why no file system can be mounted here, or null. */
export const cannotMount: string | null = (() => {
  const { path, remove } = ownDirectory();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path], { stdio: "pipe" });
    execFileSync("umount", [path], { stdio: "pipe" });
    return null;
  } catch (error) {
    return `mounting needs a privilege that is missing here (${String(error).split("\n")[0]})`;
  } finally {
    remove();
  }
})();

/** Why a file cannot be mounted as a disk here, or null. */
export const cannotFreeze: string | null = (() => {
  if (cannotMount !== null) return cannotMount;
  try {
    execFileSync("losetup", ["--find"], { stdio: "pipe" });
    execFileSync("which", ["mkfs.ext4", "fsfreeze"], { stdio: "pipe" });
    return null;
  } catch (error) {
    return `no loop devices, mkfs.ext4 or fsfreeze here (${String(error).split("\n")[0]})`;
  }
})();

/** A small file system in memory, unmounted when the test ends. */
export function smallMemoryDisk(size: string): { readonly path: string; remount(options: string): void } {
  const { path, remove } = ownDirectory();
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", path]);
    remove();
  });
  return { path, remount: (options) => void execFileSync("mount", ["-o", `remount,${options}`, path]) };
}

/** A disk that can be frozen: writes to it then hang in the operating system until it thaws. */
export function freezableDisk(): { readonly path: string; freeze(): void; thaw(): void } {
  const { path: directory, remove } = ownDirectory();
  const image = join(directory, "image");
  const path = join(directory, "mnt");
  mkdirSync(path);
  execFileSync("truncate", ["-s", "16M", image]);
  execFileSync("mkfs.ext4", ["-q", image]);
  execFileSync("mount", ["-o", "loop", image, path]);
  let frozen = false;
  const thaw = (): void => {
    if (frozen) execFileSync("fsfreeze", ["-u", path]);
    frozen = false;
  };
  onTestFinished(() => {
    thaw();
    execFileSync("umount", ["-l", path]);
    rmSync(image);
    remove();
  });
  return {
    path,
    thaw,
    freeze() {
      execFileSync("fsfreeze", ["-f", path]);
      frozen = true;
    },
  };
}
