import { existsSync, lstatSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { errorCode } from "../filesystem/disk.ts";
import { carriedFiles } from "./carried-files.ts";

export type Backup = { readonly kind: "done"; readonly files: number } | { readonly kind: "no store" };

/**
 * Writes an archive of a store, also of one in use: records never change, everything else is replaced whole, and what vanishes
 * meanwhile is left out (ADM-2, ADM-3).
 *
 * @param base the store's namespace directory
 * @param output a gzip tar, for its owner alone, also where there was a file before
 * @throws errors of the system
 */
export async function backUp(base: string, output: string): Promise<Backup> {
  if (!existsSync(base)) return { kind: "no store" };
  const file = await open(output, "w", 0o600);
  try {
    await file.chmod(0o600);
    const archive = pack();
    const written = pipeline(archive, createGzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await file.writeFile(chunk);
    });
    const files = await Promise.race([archiveFiles(base, archive), written.then(() => 0)]);
    await written;
    await file.sync();
    return { kind: "done", files };
  } finally {
    await file.close();
  }
}

async function archiveFiles(base: string, archive: ReturnType<typeof pack>): Promise<number> {
  let files = 0;
  for (const path of carriedFiles(base)) {
    const content = readWhole(join(base, path));
    if (content === null) continue;
    const { bytes, mode, modifiedAt } = content;
    await new Promise<void>((resolve, reject) => {
      const header = { name: path, mode, mtime: modifiedAt, size: bytes.length, uname: "", gname: "" };
      archive.entry(header, bytes, (error) => (error ? reject(error) : resolve()));
    });
    files++;
  }
  archive.finalize();
  return files;
}

/** Null when the file is gone or cannot be read. Read before its header is written, so that its size is that of its content. */
function readWhole(path: string): { readonly bytes: Buffer; readonly mode: number; readonly modifiedAt: Date } | null {
  try {
    const { mode, mtime } = lstatSync(path);
    return { bytes: readFileSync(path), mode: mode & 0o7777, modifiedAt: mtime };
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null;
  }
}
