import { closeSync, constants, fstatSync, openSync, type Stats, write, writeSync } from "node:fs";
import type { Clock } from "./clock.ts";

/**
 * Where the daemon's own output goes: the stream behind descriptor 1 or 2.
 *
 *   O1. A write never blocks the event loop, whatever the reader does. A full pipe, socket or terminal is tried again later.
 *   O2. The descriptor keeps its flags. Jobs share it: were it made non-blocking, their writes would fail with EAGAIN.
 *   O3. No thread waits inside a write, because such a thread would hold up the exit of the process.
 */
export interface OutputTarget {
  /**
   * Writes all bytes; `done` comes once, within the call when there is room. One write at a time. With an error some of the bytes may
   * have been written.
   */
  write(bytes: Buffer, done: (error: Error | null) => void): void;
  /** Gives up a write that waits; its `done` does not come. */
  close(): void;
}

/** Between two tries of a full target, doubling from the first to the second. */
const RETRY_MIN_MS = 1;
const RETRY_MAX_MS = 50;

/** POSIX: a pipe that polls writable takes this much without blocking. */
const PIPE_BUF_BYTES = process.platform === "linux" ? 4096 : 512;

const POLLOUT = 4;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** Writes what it can without blocking. Answers how many bytes, 0 when there is no room. */
type Attempt = (bytes: Buffer) => number;

/** @param fd 1, 2, or another that stays open as long as the target is used */
export function outputTarget(fd: number, clock: Clock): OutputTarget {
  const stats = fstatSync(fd);
  if (stats.isFile()) return fileTarget(fd);
  const ownFd = stats.isSocket() ? null : reopened(fd);
  let attempt = ownFd === null ? null : ownDescription(ownFd);
  let closed = false;
  let cancelRetry = (): void => {};

  function writeFrom(bytes: Buffer, done: (error: Error | null) => void, delayMs: number): void {
    if (attempt === null) {
      sharedDescription(fd, stats).then((found) => {
        attempt = found;
        if (!closed) writeFrom(bytes, done, delayMs);
      }, done);
      return;
    }
    let rest = bytes;
    try {
      for (let written = 1; written > 0 && rest.length > 0; rest = rest.subarray(written)) written = attempt(rest);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (rest.length === 0) done(null);
    else {
      const nextMs = rest.length < bytes.length ? RETRY_MIN_MS : Math.min(delayMs * 2, RETRY_MAX_MS);
      cancelRetry = clock.after(delayMs, () => writeFrom(rest, done, nextMs));
    }
  }

  return {
    write: (bytes, done) => writeFrom(bytes, done, RETRY_MIN_MS),
    close() {
      closed = true;
      cancelRetry();
      if (ownFd !== null) closeSync(ownFd);
    },
  };
}

/** A file has room as long as the disk has, and its position is shared with the jobs that write to it. */
function fileTarget(fd: number): OutputTarget {
  const writeRest = (bytes: Buffer, done: (error: Error | null) => void): void =>
    write(fd, bytes, (error, written) => {
      if (error !== null || written === bytes.length) done(error);
      else writeRest(bytes.subarray(written), done);
    });
  return { write: writeRest, close: () => {} };
}

/** The same pipe or terminal opened anew, so that it can be non-blocking for us alone (O2). Null where the system refuses. */
function reopened(fd: number): number | null {
  if (process.platform !== "linux") return null;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null; // another user's pipe, or no /proc
  }
}

function ownDescription(fd: number): Attempt {
  return (bytes) => {
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      if (isFull(error)) return 0;
      throw error;
    }
  };
}

/** For what cannot be opened anew: calls that do not block on a description that does. */
async function sharedDescription(fd: number, stats: Stats): Promise<Attempt> {
  const { default: koffi } = await import("koffi");
  const library = koffi.load(null);
  if (stats.isSocket() && process.platform === "linux") {
    const send: (fd: number, bytes: Buffer, length: number, flags: number) => number = library.func(
      "long send(int fd, void *bytes, unsigned long length, int flags)",
    );
    return (bytes) => {
      const sent = send(fd, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent >= 0) return sent;
      const errno = koffi.errno();
      if (errno === koffi.os.errno.EAGAIN || errno === koffi.os.errno.EINTR) return 0;
      throw new Error(`send failed with errno ${errno}`);
    };
  }
  const poll: (entry: Buffer, count: number, timeoutMs: number) => number = library.func(
    "int poll(void *entries, unsigned long count, int timeout)",
  );
  const entry = Buffer.alloc(8);
  entry.writeInt32LE(fd, 0);
  entry.writeInt16LE(POLLOUT, 4);
  return (bytes) => (poll(entry, 1, 0) > 0 ? ownDescription(fd)(bytes.subarray(0, PIPE_BUF_BYTES)) : 0);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
