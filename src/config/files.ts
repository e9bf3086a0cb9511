import { resolve } from "node:path";
import { filesMax } from "./limits.ts";
import type { ConfigReader, Unreadable } from "./reader.ts";
import { type Stamp, signatureOf } from "./signature.ts";

export type FileSource = Pick<FilesRead, "read">;

/** The files one load reads, each with what it looked like just before, so that a later edit is noticed. */
export class FilesRead {
  readonly #reader: ConfigReader;
  readonly #stamps = new Map<string, Stamp>();

  constructor(reader: ConfigReader) {
    this.#reader = reader;
  }

  /** Absolute. */
  get paths(): readonly string[] {
    return [...this.#stamps.keys()];
  }

  /** @param directory counted too, with the stamp it had before its names were read */
  signature(directory: { readonly path: string; readonly stamp: Stamp } | null): string {
    const stamps = new Map(this.#stamps);
    if (directory !== null) stamps.set(directory.path, directory.stamp);
    return signatureOf(stamps, directory?.path ?? null);
  }

  /** @param pipes whether a pipe or a device will do; reading one may wait for its writer */
  read(path: string, pipes: "accepted" | "refused" = "refused"): { kind: "bytes"; bytes: Uint8Array } | Unreadable {
    const looked = this.#reader.look(path);
    if (looked.kind === "unreadable") return looked;
    if (looked.kind === "directory") return unreadable("is a directory");
    if (looked.kind === "other" && pipes === "refused") return unreadable("not a regular file");
    if (this.#stamps.size >= filesMax) return unreadable(`more than ${filesMax} files in one configuration`);
    const absolute = resolve(path);
    if (!this.#stamps.has(absolute)) this.#stamps.set(absolute, looked.stamp);
    return this.#reader.read(path);
  }
}

function unreadable(reason: string): Unreadable {
  return { kind: "unreadable", reason, missing: false };
}
