import koffi from "koffi";

/**
 * Ends the process at once, whatever its threads are doing.
 *
 * `process.exit` joins every worker thread first and so waits for ever behind one that hangs in a system call on a dead
 * mount (THR-3). Nothing is flushed and no exit handler runs: everything worth keeping must be written before.
 */
export function exitNow(code: number): never {
  if (process.platform !== "win32") koffi.load(null).func("void _exit(int code)")(code);
  process.exit(code);
}
