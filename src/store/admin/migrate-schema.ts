import { join } from "node:path";
import { decodeEnvelope, utf8Text } from "../envelope.ts";
import { RECORD_BYTES_MAX } from "../filesystem/limits.ts";
import { systemDisk } from "../filesystem/system-disk.ts";

export interface SchemaMigration {
  readonly converted: number;
  /** Of this build's scheme already. */
  readonly current: number;
  /** Of a scheme this build does not know; they stay for the reader to put aside. */
  readonly unknown: number;
  readonly unreadable: number;
  readonly failed: number;
}

/**
 * Brings the records of a store to the scheme this build writes: the one sanctioned rewrite of records (ADM-5). There has been one
 * scheme so far, so it only tells what it finds.
 *
 * @param base the store's namespace directory
 * @throws errors of the system other than those of single records
 */
export function migrateSchema(base: string): SchemaMigration {
  const counts = { current: 0, foreign: 0, damaged: 0 };
  const records = join(base, "records");
  for (const stream of systemDisk.list(records))
    for (const file of systemDisk.list(join(records, stream)).filter((name) => name.endsWith(".json")))
      counts[judge(join(records, stream, file))]++;
  return { converted: 0, current: counts.current, unknown: counts.foreign, unreadable: counts.damaged, failed: 0 };
}

function judge(path: string): "current" | "foreign" | "damaged" {
  try {
    const text = utf8Text(systemDisk.readFile(path, RECORD_BYTES_MAX));
    return text === null ? "damaged" : decodeEnvelope(text).kind;
  } catch {
    return "damaged"; // whatever keeps it from being read
  }
}
