import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Memory where there is some: what a test asks of the store holds on any file system, and flushes cost nothing there. */
function fastRoot(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

/** A directory of its own; `remove` takes it away. */
export function ownDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(fastRoot(), "cronstable-store-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The same, gone when the test ends. */
export function temporaryDirectory(): string {
  const { path, remove } = ownDirectory();
  onTestFinished(remove);
  return path;
}
