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

/** An error as the system would raise it. */
export function diskError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** The `code` of a system error, or null. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
