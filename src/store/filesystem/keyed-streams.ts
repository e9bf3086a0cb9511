import { type Engine, type Row, StoreFault } from "../engine.ts";
import { recentlyUsed } from "../recently-used.ts";
import { highestCanonicalId } from "../record-id.ts";
import type { Reading } from "../store.ts";
import { errorCode } from "./disk.ts";
import {
  PUBLICATIONS_PER_CLEANUP_MIN,
  RELISTINGS_MAX,
  REMEMBERED_KEY_CHARS_MAX,
  REMEMBERED_KEYED_STREAMS_MAX,
} from "./limits.ts";
import { readRecord, recordIds, recordPath, streamDirectory } from "./record-files.ts";
import type { Streams } from "./streams.ts";
import { unlinkIfThere, type Volume } from "./volume.ts";

/** What is remembered of a keyed stream. Records never change, so each fact holds as long as its record is there. */
interface Facts {
  /** The key of each record read or written; null for one without a usable key. */
  readonly keyOf: Map<string, string | null>;
  /** The newest record per key this process published, read or kept (ART-5). */
  readonly newest: Map<string, string>;
  /** The version each own publication replaced. */
  readonly replaced: Map<string, string>;
  publicationsUntilCleanup: number;
}

/** What one pass over a stream found. */
interface Pass {
  /** Newest row per key, newest first. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly highestId: string | null;
  /** Whether a listed record was gone when it was read, so that a newer one may exist. */
  readonly somethingLeft: boolean;
}

export interface KeyedStreams extends Pick<Engine, "publish" | "newestByKey"> {
  published(stream: string, key: string, id: string): void;
  forget(stream: string): void;
}

/** Streams in which a newer record supersedes the older ones of its key: artifacts (state 19.6). */
export function openKeyedStreams(volume: Volume, streams: Streams): KeyedStreams {
  const remembered = recentlyUsed<string, Facts>(REMEMBERED_KEYED_STREAMS_MAX);

  const factsOf = (stream: string): Facts => {
    const known = remembered.get(stream);
    if (known !== undefined) return known;
    const facts: Facts = {
      keyOf: new Map(),
      newest: new Map(),
      replaced: new Map(),
      publicationsUntilCleanup: PUBLICATIONS_PER_CLEANUP_MIN,
    };
    remembered.set(stream, facts);
    return facts;
  };

  const published = (stream: string, key: string, id: string): void => {
    const facts = factsOf(stream);
    noteKey(facts, id, key);
    noteNewest(facts, key, id);
  };

  /** The record and its key, from memory or from its file. Undefined when it is gone. */
  const read = (stream: string, directory: string, id: string, field: string, reading: Reading, facts: Facts) => {
    const found = readRecord(volume, stream, directory, id, reading);
    if (found.kind === "gone") return undefined;
    const value = found.kind === "record" ? found.data[field] : null;
    const key = typeof value === "string" ? value : null;
    // A record that cannot be read now may be later, so nothing is remembered of it.
    if (found.kind === "record") noteKey(facts, id, key);
    return { key, row: found.kind === "record" ? { id, text: found.text } : null };
  };

  const confirmed = (directory: string, id: string): boolean => {
    try {
      return volume.disk.facts(recordPath(directory, id)).kind === "file";
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
  };

  const pass = (stream: string, field: string, wanted: string | null, reading: Reading): Pass => {
    const directory = streamDirectory(volume, stream);
    const facts = factsOf(stream);
    const listed = recordIds(volume, directory);
    const unlisted = unlistedNewest(facts, listed);
    const present = unlisted.filter((id) => confirmed(directory, id));
    const ids = present.length === 0 ? listed : [...listed, ...present].sort();
    forgetVanished(facts, ids);
    const rows = new Map<string, Row>();
    let somethingLeft = present.length < unlisted.length;
    for (let at = ids.length - 1; at >= 0; at--) {
      const id = ids[at] ?? "";
      const knownKey = facts.keyOf.get(id);
      if (knownKey === null) continue;
      if (knownKey !== undefined && (rows.has(knownKey) || (wanted !== null && knownKey !== wanted))) continue;
      const found = read(stream, directory, id, field, reading, facts);
      if (found === undefined) {
        somethingLeft = true;
        forgetRecord(facts, id);
        continue;
      }
      const { key, row } = found;
      if (key === null || row === null || rows.has(key) || (wanted !== null && key !== wanted)) continue;
      rows.set(key, row);
      if (wanted !== null) break;
    }
    for (const [key, row] of rows) noteNewest(facts, key, row.id);
    return { rows, highestId: highestCanonicalId(ids), somethingLeft };
  };

  /** Removes every version that is neither the newest of its key nor the one an own publication replaced. */
  const cleanUp = (stream: string, field: string, facts: Facts): void => {
    const directory = streamDirectory(volume, stream);
    const ids = recordIds(volume, directory);
    const highest = highestCanonicalId(ids);
    if (highest !== null) streams.raiseFloor(stream, highest);
    const seen = new Set<string>();
    let left = ids.length;
    for (let at = ids.length - 1; at >= 0; at--) {
      const id = ids[at] ?? "";
      const key = facts.keyOf.get(id) ?? read(stream, directory, id, field, "tolerant", facts)?.key ?? null;
      if (key === null) continue;
      if (!seen.has(key)) {
        seen.add(key);
        noteNewest(facts, key, id);
      } else if (facts.replaced.get(key) !== id && unlinkIfThere(volume.disk, recordPath(directory, id))) {
        forgetRecord(facts, id);
        left--;
      }
    }
    facts.publicationsUntilCleanup = Math.max(PUBLICATIONS_PER_CLEANUP_MIN, left);
  };

  /** ART-3: the version before the replaced one goes, once the store shows that the replaced one is still there. */
  const retire = (stream: string, key: string, id: string, facts: Facts): void => {
    const directory = streamDirectory(volume, stream);
    const replaced = facts.newest.get(key);
    const before = facts.replaced.get(key);
    published(stream, key, id);
    if (replaced === undefined) return;
    if (key.length <= REMEMBERED_KEY_CHARS_MAX) facts.replaced.set(key, replaced);
    if (
      before !== undefined &&
      confirmed(directory, replaced) &&
      unlinkIfThere(volume.disk, recordPath(directory, before))
    )
      forgetRecord(facts, before);
  };

  return {
    published,

    publish({ stream, field, key, text }) {
      const facts = factsOf(stream);
      const id = streams.add(stream, text);
      try {
        retire(stream, key, id, facts);
        if (--facts.publicationsUntilCleanup <= 0) cleanUp(stream, field, facts);
      } catch (error) {
        // The version is published; older ones staying longer is no harm.
        volume.warnOnce(
          streamDirectory(volume, stream),
          `state: cannot remove old versions in '${stream}' (${String(error)})`,
        );
      }
      return { id };
    },

    newestByKey({ stream, field, key, reading }) {
      const rows = new Map<string, Row>();
      let highestId: string | null = null;
      for (let listing = 0; listing <= RELISTINGS_MAX; listing++) {
        const found = pass(stream, field, key, reading);
        for (const [name, row] of found.rows) {
          const known = rows.get(name);
          if (known === undefined || row.id > known.id) rows.set(name, row);
        }
        highestId = found.highestId;
        if (!found.somethingLeft) return { rows: newestFirst(found.rows), highestId };
      }
      if (reading === "strict")
        throw new StoreFault("unsettled", `stream '${stream}': records kept leaving during the read`);
      return { rows: newestFirst(rows), highestId };
    },

    forget: (stream) => remembered.delete(stream),
  };
}

function newestFirst(rows: ReadonlyMap<string, Row>): readonly Row[] {
  return [...rows.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Remembered newest records a listing lacks: gone, or there all the same when a mount answers from an old copy (ART-5). */
function unlistedNewest(facts: Facts, listed: readonly string[]): readonly string[] {
  const known = new Set(listed);
  return [...facts.newest.values()].filter((id) => !known.has(id));
}

function forgetVanished(facts: Facts, ids: readonly string[]): void {
  const there = new Set(ids);
  for (const id of facts.keyOf.keys()) if (!there.has(id)) forgetRecord(facts, id);
}

function forgetRecord(facts: Facts, id: string): void {
  const key = facts.keyOf.get(id);
  facts.keyOf.delete(id);
  if (key === undefined || key === null) return;
  if (facts.newest.get(key) === id) facts.newest.delete(key);
  if (facts.replaced.get(key) === id) facts.replaced.delete(key);
}

function noteKey(facts: Facts, id: string, key: string | null): void {
  if (key === null || key.length <= REMEMBERED_KEY_CHARS_MAX) facts.keyOf.set(id, key);
}

function noteNewest(facts: Facts, key: string, id: string): void {
  if (key.length > REMEMBERED_KEY_CHARS_MAX) return;
  const known = facts.newest.get(key);
  if (known === undefined || id > known) facts.newest.set(key, id);
}
