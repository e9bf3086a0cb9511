/** Reads what a configuration is made of. Tests may put another in its place; nothing else in this room opens a file. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { fileBytesMax } from "./limits.ts";
import { type Stamp, stampOf } from "./signature.ts";

/** `reason` says in words what the operating system said, without the path; `missing`: there is nothing of that name. */
export interface Unreadable {
  readonly kind: "unreadable";
  readonly reason: string;
  readonly missing: boolean;
}

export interface ConfigReader {
  /** What a path leads to, links followed; "other" is a pipe or a device. */
  look(path: string): { readonly kind: "file" | "directory" | "other"; readonly stamp: Stamp } | Unreadable;
  /** The whole of a file, pipes too, of at most `fileBytesMax` bytes. */
  read(path: string): { readonly kind: "bytes"; readonly bytes: Uint8Array } | Unreadable;
  /** The names in a directory, in no order. */
  names(path: string): { readonly kind: "names"; readonly names: readonly string[] } | Unreadable;
}

/** The host's file system. */
export const diskReader: ConfigReader = {
  look(path) {
    return attempt(() => {
      const stat = statSync(path, { bigint: true });
      const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
      return { kind, stamp: stampOf(stat) };
    });
  },
  read(path) {
    return attempt(() => {
      const bytes = contentOf(path);
      const reason = `larger than a configuration file may be (${fileBytesMax / 1024 / 1024} MiB)`;
      return bytes === null ? { kind: "unreadable", reason, missing: false } : { kind: "bytes", bytes };
    });
  },
  names(path) {
    return attempt(() => ({ kind: "names", names: readdirSync(path) }));
  },
};

/** Null for a file that is too large, of which no more is read than it takes to know. */
function contentOf(path: string): Uint8Array | null {
  const file = openSync(path, "r");
  try {
    const chunks: Buffer[] = [];
    for (let size = 0; size <= fileBytesMax; ) {
      const chunk = Buffer.allocUnsafe(size === 0 ? 64 * 1024 : Math.min(size, 4 * 1024 * 1024));
      const count = readSync(file, chunk);
      if (count === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, count));
      size += count;
    }
    return null;
  } finally {
    closeSync(file);
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file or directory"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["EACCES", "permission denied"],
  ["EISDIR", "is a directory"],
  ["ELOOP", "too many symbolic links"],
  ["ENAMETOOLONG", "the name is too long"],
]);

function attempt<T>(act: () => T): T | Unreadable {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const code = String(error.code);
    return { kind: "unreadable", reason: reasons.get(code) ?? error.message, missing: code === "ENOENT" };
  }
}
