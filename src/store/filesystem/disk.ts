import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { tryLock, unlock } from "../../platform/flock.ts";
import { compareCodePoints } from "../json.ts";

export interface FileFacts {
  /** Exact: network file systems number their files with all 64 bits. */
  readonly device: bigint;
  readonly inode: bigint;
  readonly kind: "file" | "directory" | "other";
  readonly bytes: number;
  readonly modifiedAtSeconds: number;
}

/**
 * The system calls the store is made of, each plain and synchronous, so that a test can put a failing or forgetful disk under
 * it. Every method throws Node's errors with their `code`.
 */
export interface Disk {
  /** Entry names, byte-wise sorted. */
  list(directory: string): readonly string[];
  facts(path: string): FileFacts;
  /** Never waits: a pipe or a device in a file's place is an error (`EINVAL`), as is a file of more than `bytesMax` (`EFBIG`). */
  readFile(path: string, bytesMax: number): Buffer;
  /** Creates one level. Its parent is not flushed. */
  makeDirectory(path: string, mode: number): void;
  /** Creates a file that must not exist. */
  create(path: string, mode: number): number;
  /** Opens a file for locking and creates it when absent. */
  openOrCreate(path: string, mode: number): number;
  write(fd: number, bytes: Uint8Array): void;
  flush(fd: number): void;
  flushDirectory(path: string): void;
  factsOf(fd: number): FileFacts;
  touchOpen(fd: number, atSeconds: number): void;
  close(fd: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  removeDirectory(path: string): void;
  touch(path: string, atSeconds: number): void;
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

/** The disk of this machine. */
export const systemDisk: Disk = {
  list: (directory) => sorted(readdirSync(directory)),
  facts: (path) => factsFrom(statSync(path, { bigint: true })),
  readFile,
  makeDirectory: (path, mode) => {
    mkdirSync(path, { mode });
  },
  create: (path, mode) => openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode),
  openOrCreate: (path, mode) => openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, mode),
  write: (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  },
  flush: fsyncSync,
  flushDirectory: (path) => {
    const fd = openSync(path, constants.O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  },
  factsOf: (fd) => factsFrom(fstatSync(fd, { bigint: true })),
  touchOpen: (fd, atSeconds) => futimesSync(fd, atSeconds, atSeconds),
  close: closeSync,
  rename: renameSync,
  unlink: unlinkSync,
  removeDirectory: rmdirSync,
  touch: (path, atSeconds) => utimesSync(path, atSeconds, atSeconds),
  tryLock,
  unlock,
};

function readFile(path: string, bytesMax: number): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) throw diskError("EINVAL", `not a regular file: ${path}`);
    if (facts.size > bytesMax) throw diskError("EFBIG", `${facts.size} bytes, more than ${bytesMax}: ${path}`);
    const bytes = Buffer.allocUnsafe(facts.size);
    let length = 0;
    while (length < bytes.length) {
      const got = readSync(fd, bytes, length, bytes.length - length, length);
      if (got === 0) break;
      length += got;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

function factsFrom(stats: BigIntStats): FileFacts {
  return {
    device: stats.dev,
    inode: stats.ino,
    kind: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other",
    bytes: Number(stats.size),
    modifiedAtSeconds: Number(stats.mtimeNs / 1000n) / 1e6,
  };
}

/** Byte-wise order of UTF-8 is order by code point, and for ASCII the plain one. */
function sorted(names: string[]): string[] {
  return names.sort(names.every((name) => /^[ -~]*$/.test(name)) ? undefined : compareCodePoints);
}

/** An error as the system would raise it. */
export function diskError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** The `code` of a system error, or null. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
