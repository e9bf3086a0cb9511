import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";

/** Where formatted lines go. */
export interface LineSink {
  /** Takes a line that ends in a newline. Never throws: a line that cannot be written is counted by the sink's own means. */
  write(line: string): void;
  close(): void;
}

/**
 * Appends to a file, created when missing. With `watch`, a file that was moved or removed meanwhile (log rotation by others) is opened
 * anew at the next line.
 *
 * @throws what opening the file throws
 */
export function fileSink(path: string, watch: boolean): LineSink {
  let descriptor = openSync(path, "a", 0o640);
  const reopenIfMoved = (): void => {
    const there = statSync(path, { throwIfNoEntry: false });
    const ours = fstatSync(descriptor);
    if (there !== undefined && there.ino === ours.ino && there.dev === ours.dev) return;
    closeSync(descriptor);
    descriptor = openSync(path, "a", 0o640);
  };
  return guarded({
    write(line) {
      if (watch) reopenIfMoved();
      writeSync(descriptor, line);
    },
    close: () => closeSync(descriptor),
  });
}

/**
 * Appends to a file until it would pass `maxBytes`, then renames it to `.1`, that to `.2` and so on, keeping `backups` of them.
 * `maxBytes` 0 never rolls over.
 *
 * @throws what opening the file throws
 */
export function rotatingSink(path: string, maxBytes: number, backups: number): LineSink {
  let descriptor = openSync(path, "a", 0o640);
  let size = fstatSync(descriptor).size;
  const roll = (): void => {
    closeSync(descriptor);
    for (let number = backups - 1; number >= 0; number--) {
      const from = number === 0 ? path : `${path}.${number}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${number + 1}`);
    }
    if (backups === 0) rmSync(path, { force: true });
    descriptor = openSync(path, "a", 0o640);
    size = 0;
  };
  return guarded({
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (maxBytes > 0 && size > 0 && size + bytes > maxBytes) roll();
      writeSync(descriptor, line);
      size += bytes;
    },
    close: () => closeSync(descriptor),
  });
}

/** A full disk or a vanished directory must not take the daemon down with its log: such lines are dropped. */
function guarded(sink: LineSink): LineSink {
  return {
    write(line) {
      try {
        sink.write(line);
      } catch (error) {
        if (!(error instanceof Error && "code" in error)) throw error;
      }
    },
    close: sink.close,
  };
}
