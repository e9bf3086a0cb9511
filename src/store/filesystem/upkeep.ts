import { join } from "node:path";
import { type Engine, LockBusy } from "../engine.ts";
import { decodeEnvelope } from "../envelope.ts";
import { JsonFloat, type JsonValue } from "../json.ts";
import { writtenAtSeconds } from "../record-id.ts";
import { BLOB_SUFFIX } from "./blobs.ts";
import { errorCode } from "./disk.ts";
import { DOCUMENT_SUFFIX, deleteDocument, documentTokens, LOCK_SUFFIX, readStrictly } from "./documents.ts";
import { LEASE_SUFFIX, readLeaseFile } from "./leases.ts";
import { whileLocked } from "./lock-file.ts";
import { decodeName, encodeName, encodePrefix } from "./names.ts";
import { recordIds, recordIdsAmong, streamDirectory } from "./record-files.ts";
import { streamNameOf, streamTokens } from "./stream-names.ts";
import { listIfThere, unlinkIfThere, type Volume } from "./volume.ts";

export type UpkeepFiles = Pick<
  Engine,
  "collectStream" | "collectDocuments" | "collectLeases" | "collectBlobs" | "tidy" | "inventory"
>;

/** Deleting what is provably garbage (state 17). Whatever cannot be judged now stays for the next pass. */
export function openUpkeep(volume: Volume): UpkeepFiles {
  const { disk, layout } = volume;

  const isOlder = (path: string, beforeSeconds: number): boolean => {
    try {
      return disk.facts(path).modifiedAtSeconds < beforeSeconds;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
  };

  const isAbsent = (path: string): boolean => {
    try {
      disk.facts(path);
      return false;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return true;
      throw error;
    }
  };

  /** Runs `sweep` under the lock and counts it; a lock in use says the thing is in use (LCK-5). */
  const ifIdle = (lock: string, sweep: () => boolean): number => {
    try {
      return whileLocked(volume, lock, "leave", sweep) ? 1 : 0;
    } catch (error) {
      if (error instanceof LockBusy) return 0;
      throw error;
    }
  };

  const removeOld = (directory: string, beforeSeconds: number, dryRun: boolean, suffix = ""): number => {
    let removed = 0;
    for (const name of listIfThere(disk, directory)) {
      const path = join(directory, name);
      if (name.endsWith(suffix) && isOlder(path, beforeSeconds) && (dryRun || unlinkIfThere(disk, path))) removed++;
    }
    return removed;
  };

  /** Lock files whose data is gone and which nobody has used; judged again under their own lock (GC-5). */
  const removeIdleLocks = (directory: string, dataSuffix: string, beforeSeconds: number, dryRun: boolean): number => {
    let removed = 0;
    for (const name of listIfThere(disk, directory)) {
      if (!name.endsWith(LOCK_SUFFIX)) continue;
      const lock = join(directory, name);
      const data = lock.slice(0, -LOCK_SUFFIX.length) + dataSuffix;
      const isIdle = (): boolean => isAbsent(data) && isOlder(lock, beforeSeconds);
      if (!isIdle()) continue;
      removed += dryRun ? 1 : ifIdle(lock, () => isIdle() && unlinkIfThere(disk, lock));
    }
    return removed;
  };

  return {
    collectStream({ stream, beforeSeconds, dryRun }) {
      const directory = streamDirectory(volume, stream);
      if (isAbsent(directory)) return { kind: "kept", because: "absent" };
      // Listed once: what is written after this is neither judged nor deleted.
      const files = disk.list(directory);
      const ids = recordIdsAmong(files);
      const newest = ids.length === 0 ? null : Math.max(...ids.map(writtenAtSeconds));
      const isRecent = newest === null ? !isOlder(directory, beforeSeconds) : newest >= beforeSeconds;
      if (isRecent) return { kind: "kept", because: "recent" };
      if (!dryRun) {
        for (const name of files) unlinkIfThere(disk, join(directory, name));
        removeIfEmpty(volume, directory);
      }
      return { kind: "collected", records: ids.length };
    },

    collectDocuments({ namespace, field, beforeSeconds, dryRun }) {
      const directory = join(layout.documents, encodeName(namespace));
      let removed = 0;
      for (const token of documentTokens(volume, directory)) {
        const path = join(directory, token + DOCUMENT_SUFFIX);
        if (!isOlder(path, beforeSeconds)) continue;
        const isExpired = (): boolean => fieldIsBelow(volume, path, field, beforeSeconds);
        if (!isExpired()) continue;
        const remove = (): boolean => {
          if (!isExpired()) return false;
          deleteDocument(volume, path);
          return true;
        };
        removed += dryRun ? 1 : ifIdle(join(directory, token + LOCK_SUFFIX), remove);
      }
      return removed;
    },

    collectLeases({ prefix, beforeSeconds, dryRun }) {
      const start = encodePrefix(prefix);
      let removed = 0;
      for (const file of listIfThere(disk, layout.leases)) {
        if (!file.startsWith(start) || !file.endsWith(LEASE_SUFFIX)) continue;
        const path = join(layout.leases, file);
        const lock = path.slice(0, -LEASE_SUFFIX.length) + LOCK_SUFFIX;
        const isDead = (): boolean => {
          const standing = readLeaseFile(volume, path);
          return (
            standing.kind === "lease" && standing.lease.expiresAtSeconds < beforeSeconds && isOlder(path, beforeSeconds)
          );
        };
        if (!isDead()) continue;
        removed += dryRun ? 1 : ifIdle(lock, () => isDead() && unlinkIfThere(disk, path) && unlinkIfThere(disk, lock));
      }
      return removed;
    },

    collectBlobs({ shard, referenced, beforeSeconds, dryRun }) {
      const kept = new Set(referenced);
      const directory = join(layout.blobs, shard);
      let removed = 0;
      for (const file of listIfThere(disk, directory)) {
        if (!file.endsWith(BLOB_SUFFIX) || kept.has(file.slice(0, -BLOB_SUFFIX.length))) continue;
        const path = join(directory, file);
        if (isOlder(path, beforeSeconds) && (dryRun || unlinkIfThere(disk, path))) removed++;
      }
      return removed;
    },

    tidy({ cutoffs, dryRun }) {
      let locks = removeIdleLocks(layout.leases, LEASE_SUFFIX, cutoffs.locksBeforeSeconds, dryRun);
      for (const token of listIfThere(disk, layout.documents))
        locks += removeIdleLocks(join(layout.documents, token), DOCUMENT_SUFFIX, cutoffs.locksBeforeSeconds, dryRun);
      return {
        temporaries: removeOld(layout.temporary, cutoffs.temporariesBeforeSeconds, dryRun),
        quarantined: removeOld(layout.quarantine, cutoffs.quarantinedBeforeSeconds, dryRun, ".bad"),
        locks,
      };
    },

    inventory() {
      const streams = streamTokens(volume, "").map((token) => ({
        name: streamNameOf(volume, token),
        records: recordIds(volume, join(layout.records, token)).length,
      }));
      const namespaces = listIfThere(disk, layout.documents).map((token) => ({
        name: decodeName(token),
        documents: documentTokens(volume, join(layout.documents, token)).length,
      }));
      const nameless = streams.filter(({ name }) => name === null);
      return {
        streams: named(streams),
        namespaces: named(namespaces),
        unnamed: {
          streams: nameless.length,
          records: nameless.reduce((sum, { records }) => sum + records, 0),
          namespaces: namespaces.filter(({ name }) => name === null).length,
        },
        quarantined: listIfThere(disk, layout.quarantine).length,
      };
    },
  };
}

function named<T extends { readonly name: string | null }>(
  all: readonly T[],
): readonly (T & { readonly name: string })[] {
  return all.flatMap((one) => (one.name === null ? [] : [{ ...one, name: one.name }]));
}

/** A record may have come since the stream was judged; then its directory stays. */
function removeIfEmpty(volume: Volume, directory: string): void {
  try {
    volume.disk.removeDirectory(directory);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
  }
}

/** Whether a document can be read and has the number, and it is below. */
function fieldIsBelow(volume: Volume, path: string, field: string, beforeSeconds: number): boolean {
  let text: string | null;
  try {
    text = readStrictly(volume, path).text;
  } catch {
    return false; // unreadable: not ours to judge
  }
  const decoded = text === null ? null : decodeEnvelope(text);
  if (decoded?.kind !== "current") return false;
  const value: JsonValue | undefined = decoded.data[field];
  const number = value instanceof JsonFloat ? value.value : value;
  return typeof number === "number" && number < beforeSeconds;
}
