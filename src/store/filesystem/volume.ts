import { join } from "node:path";
import { Unconfirmed } from "../engine.ts";
import { type Disk, errorCode } from "./disk.ts";
import { WARNED_FILES_MAX } from "./limits.ts";
import { encodeName } from "./names.ts";

/** Directories and files are for the daemon's user alone, narrowed further by the umask (LAY-6). */
const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The directories of one deployment's store (LAY-1). */
export interface Layout {
  readonly base: string;
  readonly records: string;
  readonly documents: string;
  readonly blobs: string;
  readonly leases: string;
  readonly quarantine: string;
  readonly temporary: string;
}

/** @param path absolute; @param deploymentId null for the default namespace */
export function storeLayout(path: string, deploymentId: string | null): Layout {
  const base = join(path, encodeName(deploymentId ?? "default"));
  return {
    base,
    records: join(base, "records"),
    documents: join(base, "docs"),
    blobs: join(base, "blobs"),
    leases: join(base, "leases"),
    quarantine: join(base, "quarantine"),
    temporary: join(base, "tmp"),
  };
}

/** A store directory in use by one engine: where things are, who writes them, and how a file gets there whole. */
export interface Volume {
  readonly disk: Disk;
  readonly layout: Layout;
  /** 12 hex digits, unique to this engine, in every name it makes. */
  readonly writer: string;
  wallMicros(): number;
  /** One counter for records and temporary files. */
  nextSequence(): number;
  warn(message: string): void;
  /** Warns about a file once, however often it is met. */
  warnOnce(path: string, message: string): void;
}

export function openVolume(
  disk: Disk,
  layout: Layout,
  writer: string,
  clock: { wallMicros(): number },
  warn: (message: string) => void,
): Volume {
  let sequence = 0;
  const warned = new Set<string>();
  return {
    disk,
    layout,
    writer,
    wallMicros: clock.wallMicros,
    nextSequence: () => ++sequence,
    warn,
    warnOnce(path, message) {
      if (warned.has(path)) return;
      if (warned.size >= WARNED_FILES_MAX) warned.clear();
      warned.add(path);
      warn(message);
    },
  };
}

export function nowSeconds(volume: Volume): number {
  return volume.wallMicros() / 1e6;
}

/**
 * Puts a whole file in place, replacing what was there: temporary file, flush, rename, flush of the directory (ATW-1). Afterwards
 * the file is the old one or the new one, whenever the power goes.
 *
 * @param directoryFlush "skip" where losing the rename only brings back a file that is as good (ATW-3)
 * @throws Unconfirmed when the file is in place and the directory could not be flushed
 */
export function writeWhole(volume: Volume, path: string, bytes: Uint8Array, directoryFlush: "flush" | "skip"): void {
  const { disk } = volume;
  const temporary = join(volume.layout.temporary, `w-${volume.writer}-${volume.nextSequence()}.tmp`);
  const fd = createTemporary(volume, temporary);
  try {
    try {
      disk.write(fd, bytes);
      disk.flush(fd);
    } finally {
      disk.close(fd);
    }
    disk.rename(temporary, path);
  } catch (error) {
    unlinkIfThere(disk, temporary);
    throw error;
  }
  if (directoryFlush === "flush") flushParent(volume, path);
}

function createTemporary(volume: Volume, temporary: string): number {
  try {
    return volume.disk.create(temporary, FILE_MODE);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    ensureDirectory(volume, volume.layout.temporary);
    return volume.disk.create(temporary, FILE_MODE);
  }
}

/** Flushes the directory of a file that has just been renamed or unlinked. */
export function flushParent(volume: Volume, path: string): void {
  try {
    volume.disk.flushDirectory(join(path, ".."));
  } catch (error) {
    throw new Unconfirmed(`written, but its directory could not be flushed: ${messageOf(error)}`);
  }
}

/**
 * Makes sure a directory of the store exists, and that it does after a power cut (ATW-2). The store's base is never made here:
 * where it has gone, the mount has, and what would be written would land beside it.
 */
export function ensureDirectory(volume: Volume, path: string): void {
  if (path.length <= volume.layout.base.length) {
    volume.disk.facts(path);
    return;
  }
  makeDirectory(volume, path, () => ensureDirectory(volume, join(path, "..")));
}

/** Makes the store's base and whatever is missing above it. Only a start does that. */
export function ensureBase(volume: Volume, path = volume.layout.base): void {
  makeDirectory(volume, path, () => ensureBase(volume, join(path, "..")));
}

function makeDirectory(volume: Volume, path: string, makeParent: () => void): void {
  const { disk } = volume;
  try {
    disk.makeDirectory(path, DIRECTORY_MODE);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" && disk.facts(path).kind === "directory") return;
    if (code !== "ENOENT") throw error;
    makeParent();
    makeDirectory(volume, path, () => {
      throw error;
    });
    return;
  }
  disk.flushDirectory(join(path, ".."));
}

/** @returns whether it was there */
export function unlinkIfThere(disk: Disk, path: string): boolean {
  try {
    disk.unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** A directory's entries; none where there is no directory. */
export function listIfThere(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.list(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
