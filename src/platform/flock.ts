import koffi from "koffi";

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

const libc = process.platform === "win32" ? null : koffi.load(null);
const flock = libc?.func("int flock(int fd, int operation)");

/**
 * Takes the exclusive `flock(2)` lock of an open file if nobody has it (LCK-2, LCK-5). Never waits.
 *
 * The lock belongs to the open file: other processes and other openings of the file in this process are kept out, and it
 * ends with `unlock`, with the file's close or with the process.
 *
 * @returns false when somebody else has it
 * @throws when the file system cannot lock, or this platform has no flock
 */
export function tryLock(fd: number): boolean {
  const errno = call(fd, LOCK_EX | LOCK_NB);
  if (errno === 0) return true;
  if (errno === koffi.os.errno.EWOULDBLOCK || errno === koffi.os.errno.EAGAIN) return false;
  throw flockError(errno);
}

/** Gives the lock back. */
export function unlock(fd: number): void {
  const errno = call(fd, LOCK_UN);
  if (errno !== 0) throw flockError(errno);
}

/** 0, or the errno of the failure. A signal's interruption is no answer, so the call is repeated. */
function call(fd: number, operation: number): number {
  if (flock === undefined) throw new Error("advisory file locks need flock(2), which this platform does not have");
  for (;;) {
    if (flock(fd, operation) === 0) return 0;
    const errno = koffi.errno();
    if (errno !== koffi.os.errno.EINTR) return errno;
  }
}

function flockError(errno: number): Error {
  const name = Object.entries(koffi.os.errno).find(([, number]) => number === errno)?.[0] ?? String(errno);
  return Object.assign(new Error(`${name}: flock failed`), { code: name, errno, syscall: "flock" });
}
