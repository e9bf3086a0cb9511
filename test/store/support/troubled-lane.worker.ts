import { closeSync, openSync, readFileSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { wallMicros } from "../../../src/platform/wall-micros.ts";
import type { Disk } from "../../../src/store/filesystem/disk.ts";
import { serveLane } from "../../../src/store/filesystem/serve-lane.ts";
import { systemDisk } from "../../../src/store/filesystem/system-disk.ts";

/**
 * A store thread whose disk does what the file `<store path>.trouble` says: "hang" waits until the file goes, "stuck" waits for it
 * inside the operating system, where no thread can be ended, "die" ends the thread. Writes only; see `trouble.ts`.
 */
const marker = `${workerData.path}.trouble`;
const pause = new Int32Array(new SharedArrayBuffer(4));

function meet(): void {
  for (;;) {
    const trouble = said();
    if (trouble === null) return;
    if (trouble === "die") process.exit(9);
    if (trouble === "stuck") closeSync(openSync(`${marker}.pipe`, "r"));
    Atomics.wait(pause, 0, 0, 5);
  }
}

function said(): string | null {
  try {
    return readFileSync(marker, "utf8");
  } catch {
    return null; // no trouble
  }
}

const troubled: Disk = {
  ...systemDisk,
  flush(fd) {
    meet();
    systemDisk.flush(fd);
  },
};

serveLane(troubled, { wallMicros });
