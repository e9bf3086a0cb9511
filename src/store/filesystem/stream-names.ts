import { join } from "node:path";
import { utf8Text } from "../envelope.ts";
import { compareCodePoints } from "../json.ts";
import type { Names } from "../store.ts";
import { errorCode } from "./disk.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { decodeName, encodeName, encodePrefix, isTruncated } from "./names.ts";
import { STREAM_NAME_FILE } from "./streams.ts";
import { listIfThere, type Volume } from "./volume.ts";

/** The logical name of a stream directory, or null when it cannot be told for certain (ENC-3, ENC-4). */
export function streamNameOf(volume: Volume, token: string): string | null {
  if (!isTruncated(token)) return decodeName(token);
  try {
    const name = utf8Text(volume.disk.readFile(join(volume.layout.records, token, STREAM_NAME_FILE), RECORD_BYTES_MAX));
    return name !== null && encodeName(name) === token ? name : null;
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null;
  }
}

/** Directories of streams that may begin with `prefix`. */
export function streamTokens(volume: Volume, prefix: string): readonly string[] {
  const start = encodePrefix(prefix);
  return listIfThere(volume.disk, volume.layout.records).filter((token) => token.startsWith(start));
}

export function streamNames(volume: Volume, prefix: string): Names {
  const tokens = streamTokens(volume, prefix);
  const known = tokens.map((token) => streamNameOf(volume, token)).filter((name) => name !== null);
  const names = known.filter((name) => name.startsWith(prefix)).sort(compareCodePoints);
  return { names, complete: known.length === tokens.length };
}
