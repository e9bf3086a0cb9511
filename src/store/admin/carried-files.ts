import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../filesystem/disk.ts";
import { FILE_MODE } from "../filesystem/volume.ts";

/** The directories that hold what a store is; the others hold what may be lost (ADM-3). */
const CARRIED = ["records", "docs", "blobs", "leases"] as const;

/** What an interrupted restore or migration has left. */
const STAGED = /\.(?:restoring|migrating)$/;

/** Every plain file of the carried directories, as a path relative to the store's base with `/`. Links are not followed. */
export function* carriedFiles(base: string): Generator<string> {
  for (const directory of CARRIED) yield* filesBelow(base, directory);
}

function* filesBelow(base: string, directory: string): Generator<string> {
  let entries: ReturnType<typeof readEntries>;
  try {
    entries = readEntries(join(base, directory));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  for (const entry of entries) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(base, path);
    else if (entry.isFile() && !STAGED.test(path)) yield path;
  }
}

function readEntries(directory: string) {
  return readdirSync(directory, { withFileTypes: true });
}

/** Whether there is anything in a store's carried directories. */
export function isPopulated(base: string): boolean {
  return !carriedFiles(base).next().done;
}

/** The member names that belong into a store: plain relative paths below a carried directory (ADM-4). */
export function isCarriedPath(path: string): boolean {
  const parts = path.split("/");
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
  return isPlain && parts.length > 1 && CARRIED.some((directory) => directory === parts[0]);
}

export interface StagedFile {
  readonly target: string;
  readonly staged: string;
}

/**
 * Writes a file beside its place, whole and flushed, for `commitStaged` to put there.
 *
 * @param suffix of the name it waits under
 * @throws when its directory, links resolved, is not inside the base
 */
export async function stageFile(
  base: string,
  path: string,
  content: Uint8Array,
  modifiedAt: Date,
  suffix: ".restoring" | ".migrating",
): Promise<StagedFile> {
  const target = join(base, path);
  // Asked before anything is made: a link among the directories must not be followed.
  if (!isWithin(realPlace(dirname(target)), realPlace(base)))
    throw new Error(`${dirname(target)} leads out of the store`);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const staged = target + suffix;
  const file = await open(staged, "w", FILE_MODE);
  try {
    await file.chmod(FILE_MODE);
    await file.writeFile(content);
    await file.utimes(modifiedAt, modifiedAt);
    await file.sync();
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { target, staged };
}

/** The real path of a place that need not exist yet. */
export function realPlace(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPlace(dirname(path)), basename(path));
}

/** Whether a path is the directory or below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** Puts every staged file in its place and flushes the directories. */
export async function commitStaged(files: readonly StagedFile[]): Promise<void> {
  for (const { staged, target } of files) await rename(staged, target);
  for (const directory of new Set(files.map(({ target }) => dirname(target)))) await flushDirectory(directory);
}

export async function discardStaged(files: readonly StagedFile[]): Promise<void> {
  for (const { staged } of files) await rm(staged, { force: true });
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** When a file was last modified. */
export function modifiedAt(path: string): Date {
  return lstatSync(path).mtime;
}
