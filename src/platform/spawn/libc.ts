import { endianness } from "node:os";
import type { AddressOf } from "./c-strings.ts";

/** The calls of the C library that starting and awaiting a process takes. Integers are answers as the C library gives them. */
export interface Libc {
  readonly errno: () => number;
  readonly addressOf: AddressOf;
  readonly pipe2: (ends: Int32Array, flags: number) => number;
  readonly close: (fd: number) => number;
  readonly fcntl: (fd: number, command: number, argument: number) => number;
  readonly waitpid: (pid: number, status: Int32Array, options: number) => number;
  readonly waitid: (idType: number, id: number, info: Int32Array, options: number) => number;
  readonly setpriority: (which: number, who: number, level: number) => number;
  readonly fileActionsInit: (actions: Buffer) => number;
  readonly fileActionsDup2: (actions: Buffer, fd: number, target: number) => number;
  readonly fileActionsChdir: (actions: Buffer, path: Buffer) => number;
  readonly fileActionsDestroy: (actions: Buffer) => number;
  readonly attributesInit: (attributes: Buffer) => number;
  readonly attributesFlags: (attributes: Buffer, flags: number) => number;
  readonly attributesSignalMask: (attributes: Buffer, signals: Buffer) => number;
  readonly attributesSignalDefaults: (attributes: Buffer, signals: Buffer) => number;
  readonly posixSpawn: (
    pid: Int32Array,
    path: Buffer,
    actions: Buffer,
    attributes: Buffer,
    argv: BigUint64Array,
    environment: BigUint64Array,
  ) => number;
}

/**
 * Binds the C library this process runs on, glibc or musl.
 *
 * @throws when koffi cannot be loaded, a symbol is missing, or this is no 64-bit Linux; the message says which
 */
export async function loadLibc(): Promise<Libc> {
  if (process.platform !== "linux") throw new Error(`posix_spawn is not used on ${process.platform}`);
  const { default: koffi } = await import("koffi");
  if (koffi.sizeof("void *") !== 8 || endianness() !== "LE") throw new Error("posix_spawn is used on 64-bit systems");
  const library = koffi.load(null); // what is loaded already: the C library among it
  return {
    errno: () => koffi.errno(),
    addressOf: koffi.address,
    pipe2: library.func("int pipe2(void *ends, int flags)"),
    close: library.func("int close(int fd)"),
    fcntl: variadicInt(library.func("int fcntl(int fd, int command, ...)")),
    waitpid: library.func("int waitpid(int pid, void *status, int options)"),
    waitid: library.func("int waitid(int type, int id, void *info, int options)"),
    setpriority: library.func("int setpriority(int which, int who, int level)"),
    fileActionsInit: library.func("int posix_spawn_file_actions_init(void *actions)"),
    fileActionsDup2: library.func("int posix_spawn_file_actions_adddup2(void *actions, int fd, int target)"),
    fileActionsChdir: library.func("int posix_spawn_file_actions_addchdir_np(void *actions, void *path)"),
    fileActionsDestroy: library.func("int posix_spawn_file_actions_destroy(void *actions)"),
    attributesInit: library.func("int posix_spawnattr_init(void *attributes)"),
    attributesFlags: library.func("int posix_spawnattr_setflags(void *attributes, short flags)"),
    attributesSignalMask: library.func("int posix_spawnattr_setsigmask(void *attributes, void *signals)"),
    attributesSignalDefaults: library.func("int posix_spawnattr_setsigdefault(void *attributes, void *signals)"),
    posixSpawn: library.func(
      "int posix_spawn(void *pid, void *path, void *actions, void *attributes, void *argv, void *environment)",
    ),
  };
}

const variadicInt =
  (call: (...args: (number | string)[]) => number) =>
  (first: number, second: number, third: number): number =>
    call(first, second, "int", third);
