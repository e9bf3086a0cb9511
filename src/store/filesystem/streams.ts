import { join } from "node:path";
import type { Engine, Row } from "../engine.ts";
import type { JsonValue } from "../json.ts";
import { encodeJson } from "../json-text.ts";
import { compareValues } from "../order.ts";
import { recentlyUsed } from "../recently-used.ts";
import { highestCanonicalId, isCanonicalId, nextRecordId } from "../record-id.ts";
import { errorCode } from "./disk.ts";
import { APPENDS_PER_PRUNE, REMEMBERED_MAXIMA_MAX, REMEMBERED_STREAMS_MAX } from "./limits.ts";
import { encodeName, isTruncated } from "./names.ts";
import { readRecord, recordIds, recordPath, streamDirectory } from "./record-files.ts";
import { ensureDirectory, unlinkIfThere, type Volume, writeWhole } from "./volume.ts";

/** Holds the whole logical name of a stream whose directory name had to be cut (ENC-4). */
export const STREAM_NAME_FILE = "stream-name.txt";

/** What a writer remembers of a stream. */
interface Written {
  readonly directory: string;
  readonly nameIsCut: boolean;
  /** The greatest name known in the stream; the next record's is above it (NAM-2). */
  floor: string | null;
  /** Appends left before the next prune. */
  untilPrune: number;
}

/** The greatest value of a field, folded over all records up to `newest` (DRV-2). */
interface Maximum {
  readonly newest: string;
  readonly value: JsonValue;
}

export interface Streams extends Pick<Engine, "append" | "listRecords" | "maxOfField" | "prune"> {
  /** Adds a record without pruning. */
  add(stream: string, text: string): string;
  raiseFloor(stream: string, id: string): void;
  forget(stream: string): void;
}

/** Streams of immutable records, one file each. */
export function openStreams(volume: Volume): Streams {
  const written = recentlyUsed<string, Written>(REMEMBERED_STREAMS_MAX);
  const maxima = recentlyUsed<string, Map<string, Maximum>>(REMEMBERED_MAXIMA_MAX);

  const writtenStream = (stream: string): Written => {
    const known = written.get(stream);
    if (known !== undefined) return known;
    const directory = streamDirectory(volume, stream);
    ensureDirectory(volume, directory);
    const fresh = {
      directory,
      nameIsCut: isTruncated(encodeName(stream)),
      floor: highestCanonicalId(recordIds(volume, directory)),
      untilPrune: 0,
    };
    written.set(stream, fresh);
    return fresh;
  };

  const addOnce = (stream: string, text: string): string => {
    const state = writtenStream(stream);
    if (state.nameIsCut) keepName(volume, stream, state.directory);
    const id = nextRecordId(state.floor, volume.wallMicros(), volume.writer, volume.nextSequence());
    // Raised before the write: if that is not confirmed, the record may exist all the same.
    state.floor = id;
    writeWhole(volume, recordPath(state.directory, id), Buffer.from(text, "utf8"), "flush");
    return id;
  };

  const add = (stream: string, text: string): string => {
    try {
      return addOnce(stream, text);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      // A collection removed the empty stream after it was last looked at.
      written.delete(stream);
      return addOnce(stream, text);
    }
  };

  const pruneTo = (directory: string, keep: number): { readonly removed: number; readonly floor: string | null } => {
    const ids = recordIds(volume, directory);
    let removed = 0;
    for (const id of ids.slice(0, Math.max(0, ids.length - keep)))
      if (unlinkIfThere(volume.disk, recordPath(directory, id))) removed++;
    return { removed, floor: highestCanonicalId(ids) };
  };

  const forget = (stream: string): void => {
    written.delete(stream);
    maxima.delete(stream);
  };

  return {
    add,
    forget,

    append({ stream, text, keep }) {
      const id = add(stream, text);
      const state = writtenStream(stream);
      if (keep !== null && --state.untilPrune <= 0) {
        state.untilPrune = APPENDS_PER_PRUNE;
        try {
          raise(state, pruneTo(state.directory, Math.max(1, keep)).floor);
        } catch (error) {
          // The record has landed and its caller acts on that (PRU-2); the next prune takes the rest.
          volume.warnOnce(state.directory, `state: cannot prune stream '${stream}' (${String(error)})`);
        }
      }
      return { id };
    },

    raiseFloor(stream, id) {
      const state = written.get(stream);
      if (state !== undefined) raise(state, id);
    },

    listRecords({ stream, newestFirst, limit, reading }) {
      const directory = streamDirectory(volume, stream);
      const ids = recordIds(volume, directory);
      const rows: Row[] = [];
      for (let at = 0; at < ids.length && rows.length < limit; at++) {
        const id = ids[newestFirst ? ids.length - 1 - at : at] ?? "";
        const read = readRecord(volume, stream, directory, id, reading);
        if (read.kind === "record") rows.push({ id, text: read.text });
      }
      return rows;
    },

    maxOfField({ stream, field }) {
      const directory = streamDirectory(volume, stream);
      const ids = recordIds(volume, directory);
      const newest = ids.at(-1);
      if (newest === undefined) {
        maxima.delete(stream);
        return null;
      }
      const perField = maxima.get(stream) ?? new Map<string, Maximum>();
      const known = perField.get(field);
      const standing = known !== undefined && newest >= known.newest ? known : undefined;
      let best = standing?.value ?? null;
      for (const id of ids) {
        if (standing !== undefined && id <= standing.newest) continue;
        const read = readRecord(volume, stream, directory, id, "strict");
        const value = read.kind === "record" ? (read.data[field] ?? null) : null;
        if (value !== null && (best === null || (compareValues(value, best) ?? 0) > 0)) best = value;
      }
      perField.set(field, { newest, value: best });
      maxima.set(stream, perField);
      return best === null ? null : textOf(best);
    },

    prune({ stream, keep }) {
      const { removed } = pruneTo(streamDirectory(volume, stream), keep);
      if (keep <= 0) forget(stream);
      return removed;
    },
  };
}

function raise(state: Written, id: string | null): void {
  if (id !== null && isCanonicalId(id) && (state.floor === null || id > state.floor)) state.floor = id;
}

/** Writes or repairs the side file of a stream whose directory name was cut. */
function keepName(volume: Volume, stream: string, directory: string): void {
  const path = join(directory, STREAM_NAME_FILE);
  const name = Buffer.from(stream, "utf8");
  try {
    if (volume.disk.readFile(path, name.length).equals(name)) return;
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "EFBIG") throw error;
  }
  writeWhole(volume, path, name, "flush");
}

function textOf(value: JsonValue): string {
  const encoded = encodeJson(value);
  // What was read within the reader's bounds may nest deeper than may be written; no watermark does.
  return encoded.kind === "text" ? encoded.text : "null";
}
