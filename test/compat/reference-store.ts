import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { temporaryDirectory } from "../store/support/temporary.ts";

const archive = join(import.meta.dirname, "../data/reference-store.tar.gz");

/** The sample written by the reference implementation, unpacked with its modes for one test. */
export function referenceStore(): string {
  const directory = temporaryDirectory();
  execFileSync("tar", ["xzpf", archive, "-C", directory]);
  return directory;
}
