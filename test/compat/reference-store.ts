import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ownDirectory } from "../store/support/temporary.ts";

const archive = join(import.meta.dirname, "../data/reference-store.tar.gz");

export type Sample = ReturnType<typeof ownDirectory>;

/** The sample written by the reference implementation, unpacked with its modes. The caller removes it. */
export function unpackedReferenceStore(): Sample {
  const directory = ownDirectory();
  execFileSync("tar", ["xzpf", archive, "-C", directory.path]);
  return directory;
}

/** The same for one test. */
export function referenceStore(): string {
  const { path, remove } = unpackedReferenceStore();
  onTestFinished(remove);
  return path;
}
