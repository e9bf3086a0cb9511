import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../../src/store/engine.ts";
import { filesystemEngine } from "../../../src/store/filesystem/engine.ts";
import { systemDisk } from "../../../src/store/filesystem/system-disk.ts";
import { memoryEngine } from "../../../src/store/memory/engine.ts";
import { memoryMedium } from "../../../src/store/memory/medium.ts";

/** What all daemons of a world keep their store on. */
export interface Medium {
  /** What a daemon's store does, on its host's clock. @param writer 12 hex digits that no other engine has */
  engine(writer: string, clock: { wallMicros(): number }): Engine;
  /** Removes it. */
  dispose(): void;
}

export function inMemory(): Medium {
  const medium = memoryMedium();
  return { engine: (writer, clock) => memoryEngine(medium, writer, clock), dispose: () => undefined };
}

/**
 * The store as it is on disk, in a directory of its own. Nothing is flushed: a killed process loses no write that it has made, and what a
 * power cut leaves has tests of its own.
 */
export function onDisk(warn: (message: string) => void): Medium {
  const path = mkdtempSync(join(tmpdir(), "cronstable-world-"));
  const disk = { ...systemDisk, flush: () => undefined, flushDirectory: () => undefined };
  return {
    engine: (writer, clock) => filesystemEngine({ path, deploymentId: null, writer }, disk, clock, warn),
    dispose: () => rmSync(path, { recursive: true }),
  };
}
