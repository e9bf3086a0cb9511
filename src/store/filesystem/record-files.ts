import { join } from "node:path";
import { StoreFault } from "../engine.ts";
import { decodeEnvelope, utf8Text } from "../envelope.ts";
import type { JsonObject } from "../json.ts";
import type { Reading } from "../store.ts";
import { errorCode } from "./disk.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { encodeName } from "./names.ts";
import { listIfThere, messageOf, nowSeconds, type Volume } from "./volume.ts";

const RECORD_SUFFIX = ".json";

export function streamDirectory(volume: Volume, stream: string): string {
  return join(volume.layout.records, encodeName(stream));
}

export function recordPath(directory: string, id: string): string {
  return join(directory, id + RECORD_SUFFIX);
}

/** Identities of a stream's records in order; every `.json` name is one, whoever made it (NAM-1). */
export function recordIds(volume: Volume, directory: string): readonly string[] {
  return recordIdsAmong(listIfThere(volume.disk, directory));
}

export function recordIdsAmong(files: readonly string[]): readonly string[] {
  return files.filter((name) => name.endsWith(RECORD_SUFFIX)).map((name) => name.slice(0, -RECORD_SUFFIX.length));
}

/** What reading one record came to. "gone": pruned since it was listed. "skipped": left or put aside, with a warning. */
export type RecordRead =
  | { readonly kind: "record"; readonly text: string; readonly data: JsonObject }
  | { readonly kind: "gone" }
  | { readonly kind: "skipped" };

/**
 * Reads one record and does with it what its state asks for (QUA-2).
 *
 * @throws StoreFault in a strict reading, for what a tolerant one skips though it may become readable
 */
export function readRecord(
  volume: Volume,
  stream: string,
  directory: string,
  id: string,
  reading: Reading,
): RecordRead {
  const path = recordPath(directory, id);
  const file = id + RECORD_SUFFIX;
  let text: string | null;
  try {
    text = utf8Text(volume.disk.readFile(path, RECORD_BYTES_MAX));
  } catch (error) {
    if (isGone(volume, path, error)) return { kind: "gone" };
    if (errorCode(error) === "EFBIG") return quarantine(volume, path, file, "unreadable-or-invalid-json");
    if (reading === "strict") throw new StoreFault("io", `cannot read record ${file}: ${messageOf(error)}`);
    const hint =
      errorCode(error) === "EACCES"
        ? " (records are created 0o600: every node sharing this store must run as the same user)"
        : "";
    const said = `state: cannot read record ${file} (${messageOf(error)}); leaving it in place${hint}`;
    volume.warnOnce(path, said);
    return { kind: "skipped" };
  }
  const decoded = text === null ? damagedText : decodeEnvelope(text);
  switch (decoded.kind) {
    case "current":
      return { kind: "record", text: text ?? "", data: decoded.data };
    case "damaged":
      return quarantine(volume, path, file, decoded.reason);
    case "foreign":
      return unknownScheme(volume, stream, path, file, decoded.schemaVersion, reading);
  }
}

const damagedText = { kind: "damaged", reason: "unreadable-or-invalid-json" } as const;

/** ENOENT, or the stale handle of a network mount whose file has really gone (ART-4). */
function isGone(volume: Volume, path: string, error: unknown): boolean {
  const code = errorCode(error);
  if (code === "ENOENT") return true;
  if (code !== "ESTALE") return false;
  try {
    volume.disk.facts(path);
    return false;
  } catch (second) {
    return errorCode(second) === "ENOENT";
  }
}

/**
 * What becomes of a whole record of a scheme this build does not know. The one place that decides it (state X1): a tolerant read
 * puts it aside; a strict one fails and leaves it; artifact records always stay, since a fan-out waits for exactly those.
 */
function unknownScheme(
  volume: Volume,
  stream: string,
  path: string,
  file: string,
  schemaVersion: string,
  reading: Reading,
): RecordRead {
  if (reading === "strict")
    throw new StoreFault("unreadable", `record ${file} has unrecognised schemaVersion '${schemaVersion}'`);
  if (!stream.startsWith("artifacts/")) return quarantine(volume, path, file, "unknown-schema");
  volume.warnOnce(
    path,
    `state: record ${file} has unrecognised schemaVersion '${schemaVersion}'; leaving it in place (likely written by a newer version)`,
  );
  return { kind: "skipped" };
}

/** Moves a record aside, dated by its quarantine (QUA-3). A move that fails leaves it to the next reader. */
function quarantine(volume: Volume, path: string, file: string, reason: string): RecordRead {
  const { disk, layout, writer } = volume;
  const aside = join(layout.quarantine, `${file}.${writer}.bad`);
  volume.warnOnce(path, `state: quarantined corrupt record ${file} (${reason})`);
  try {
    disk.rename(path, aside);
    disk.touch(aside, nowSeconds(volume));
  } catch {
    // QUA-3: ignored; the record is skipped all the same.
  }
  return { kind: "skipped" };
}
