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
import { type Disk, diskError, type FileFacts } from "./disk.ts";

/** The disk of this machine. Loads the C library's locks: only the store's threads and offline commands need it. */
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
