import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  carriedFiles,
  commitStaged,
  discardStaged,
  isPopulated,
  isWithin,
  modifiedAt,
  realPlace,
  type StagedFile,
  stageFile,
} from "./carried-files.ts";

export type Migration =
  | { readonly kind: "done"; readonly files: number }
  | { readonly kind: "no store" }
  /** The destination is the source, in it or around it. */
  | { readonly kind: "nested" }
  /** There is a store at the destination already, and `force` was not given. */
  | { readonly kind: "populated" };

/**
 * Copies a store that nobody uses to another place (ADM-5). The source stays. Either all files land or none.
 *
 * @param source and @param destination namespace directories
 * @throws errors of the system; the destination is then as it was
 */
export async function migrate(source: string, destination: string, force: boolean): Promise<Migration> {
  if (!existsSync(source)) return { kind: "no store" };
  const from = realPlace(source);
  const to = realPlace(destination);
  if (isWithin(to, from) || isWithin(from, to)) return { kind: "nested" };
  if (isPopulated(destination) && !force) return { kind: "populated" };
  await mkdir(destination, { recursive: true, mode: 0o700 });
  const staged: StagedFile[] = [];
  try {
    for (const path of carriedFiles(source)) {
      const file = join(source, path);
      staged.push(await stageFile(destination, path, await readFile(file), modifiedAt(file), ".migrating"));
    }
    await commitStaged(staged);
  } catch (error) {
    await discardStaged(staged);
    throw error;
  }
  return { kind: "done", files: staged.length };
}
