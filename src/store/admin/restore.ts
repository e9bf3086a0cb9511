import { createReadStream, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { utf8Text } from "../envelope.ts";
import { errorCode } from "../filesystem/disk.ts";
import { parseLease } from "../filesystem/leases.ts";
import {
  commitStaged,
  discardStaged,
  isCarriedPath,
  isPopulated,
  type StagedFile,
  stageFile,
} from "./carried-files.ts";

export type Restoration =
  | { readonly kind: "done"; readonly files: number; readonly keptLeases: number }
  /** There is a store already, and `force` was not given. */
  | { readonly kind: "populated" };

/**
 * Puts the files of an archive into a store that nobody uses (ADM-2, ADM-4). Either all of them land or none: the whole archive is
 * read and staged before the first file takes its place.
 *
 * Merged into a populated store, lock files stay as they are, and a lease only gives way to one whose fence is not older.
 *
 * @param base the store's namespace directory, made when missing
 * @throws errors of the system and of the archive; the store is then as it was
 */
export async function restore(archive: string, base: string, force: boolean): Promise<Restoration> {
  const isMerge = isPopulated(base);
  if (isMerge && !force) return { kind: "populated" };
  await mkdir(base, { recursive: true, mode: 0o700 });
  const staged = new Map<string, StagedFile>();
  let keptLeases = 0;
  try {
    await eachMember(archive, async (path, content, modifiedAt) => {
      if (isMerge && path.endsWith(".lock")) return;
      if (path.endsWith(".lease") && !mayReplace(join(base, path), content)) keptLeases++;
      else staged.set(path, await stageFile(base, path, content, modifiedAt, ".restoring"));
    });
    await commitStaged([...staged.values()]);
  } catch (error) {
    await discardStaged([...staged.values()]);
    throw error;
  }
  return { kind: "done", files: staged.size, keptLeases };
}

/** Calls `take` with each member that belongs into a store; links, devices and paths that lead elsewhere are passed over. */
async function eachMember(
  archive: string,
  take: (path: string, content: Buffer, modifiedAt: Date) => Promise<void>,
): Promise<void> {
  const members = extract();
  let cause: unknown = null;
  const takeAll = async (): Promise<void> => {
    for await (const member of members) {
      const { name, type, mtime } = member.header;
      const content = await buffer(member);
      if (type !== "file" || !isCarriedPath(name)) continue;
      await take(name, content, mtime ?? new Date()).catch((error) => {
        cause = error;
        throw error;
      });
    }
  };
  const work = [pipeline(createReadStream(archive), createGunzip(), members), takeAll()];
  try {
    await Promise.all(work);
  } catch (error) {
    // All has to come to its end, or a member would still be staged after the others have been given up.
    await Promise.allSettled(work);
    throw cause ?? error;
  }
}

/** Whether an archived lease is provably not older than the one that is there. */
function mayReplace(target: string, archived: Buffer): boolean {
  let current: Buffer;
  try {
    current = readFileSync(target);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return true;
    throw error;
  }
  const now = parseLease(utf8Text(current));
  const then = parseLease(utf8Text(archived));
  return now !== null && then !== null && then.fence >= now.fence;
}
