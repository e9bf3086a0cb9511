import { createHash } from "node:crypto";
import { join } from "node:path";
import { type DocumentText, type Engine, StoreFault } from "../engine.ts";
import { decodeEnvelope, utf8Text } from "../envelope.ts";
import { compareCodePoints } from "../json.ts";
import { errorCode } from "./disk.ts";
import { RECORD_BYTES_MAX } from "./limits.ts";
import { whileLocked } from "./lock-file.ts";
import { decodeName, encodeName, encodePrefix } from "./names.ts";
import { flushParent, listIfThere, messageOf, type Volume, writeWhole } from "./volume.ts";

export const DOCUMENT_SUFFIX = ".doc";
export const LOCK_SUFFIX = ".lock";

export type DocumentFiles = Pick<
  Engine,
  "readDocument" | "peekDocument" | "swapDocument" | "listDocuments" | "documentKeys" | "namespaceNames"
>;

/** Mutable documents, one file each, changed under the lock of a file beside them (state 5.3). */
export function openDocuments(volume: Volume): DocumentFiles {
  const directoryOf = (namespace: string): string => join(volume.layout.documents, encodeName(namespace));
  const pathOf = (namespace: string, key: string): string => join(directoryOf(namespace), encodeName(key));

  return {
    readDocument: ({ namespace, key }) => readStrictly(volume, pathOf(namespace, key) + DOCUMENT_SUFFIX),

    peekDocument: ({ namespace, key }) => peek(volume, pathOf(namespace, key) + DOCUMENT_SUFFIX),

    swapDocument({ namespace, key, version, text }) {
      const path = pathOf(namespace, key);
      return whileLocked(volume, path + LOCK_SUFFIX, "touch", () => {
        const found = bytesOf(volume, path + DOCUMENT_SUFFIX);
        // Bytes of a version that somebody was given are sound: it is the hash of what was read or written as a whole document.
        if ((found === null ? null : versionOf(found)) !== version) return { swapped: false, current: sound(found) };
        const bytes = text === null ? null : Buffer.from(text, "utf8");
        if (bytes !== null) writeWhole(volume, path + DOCUMENT_SUFFIX, bytes, "flush");
        else if (found !== null) deleteDocument(volume, path + DOCUMENT_SUFFIX);
        return { swapped: true, version: bytes === null ? null : versionOf(bytes) };
      });
    },

    listDocuments({ namespace }) {
      const directory = directoryOf(namespace);
      return documentTokens(volume, directory)
        .map((token) => peek(volume, join(directory, token + DOCUMENT_SUFFIX)))
        .filter((text) => text !== null);
    },

    documentKeys({ namespace }) {
      const names = documentTokens(volume, directoryOf(namespace)).map(decodeName);
      const known = names.filter((name) => name !== null);
      return { names: known, complete: known.length === names.length };
    },

    namespaceNames({ prefix }) {
      const start = encodePrefix(prefix);
      const tokens = listIfThere(volume.disk, volume.layout.documents).filter((token) => token.startsWith(start));
      const known = tokens.map(decodeName).filter((name) => name !== null);
      return { names: known.sort(compareCodePoints), complete: known.length === tokens.length };
    },
  };
}

/** File names of a namespace's documents without their suffix. */
export function documentTokens(volume: Volume, directory: string): readonly string[] {
  return listIfThere(volume.disk, directory)
    .filter((name) => name.endsWith(DOCUMENT_SUFFIX))
    .map((name) => name.slice(0, -DOCUMENT_SUFFIX.length));
}

/** The document, or nothing where there is none. What cannot be understood or read is an error: nobody may overwrite it. */
export function readStrictly(volume: Volume, path: string): DocumentText {
  return sound(bytesOf(volume, path));
}

/** Null where there is no document. */
function bytesOf(volume: Volume, path: string): Buffer | null {
  try {
    return volume.disk.readFile(path, RECORD_BYTES_MAX);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw new StoreFault("unreadable", `document unreadable: ${messageOf(error)}`);
  }
}

function sound(bytes: Buffer | null): DocumentText {
  if (bytes === null) return { text: null, version: null };
  const text = utf8Text(bytes);
  const decoded = text === null ? null : decodeEnvelope(text);
  if (decoded?.kind === "foreign")
    throw new StoreFault(
      "unreadable",
      `document unreadable: schemaVersion '${decoded.schemaVersion}' is not known here`,
    );
  if (text === null || decoded?.kind !== "current") throw new StoreFault("unreadable", "document unreadable: damaged");
  return { text, version: versionOf(bytes) };
}

/** Best effort: everything but a sound document is null, and nothing is put aside (DOC-4). */
function peek(volume: Volume, path: string): string | null {
  try {
    return readStrictly(volume, path).text;
  } catch (error) {
    if (error instanceof StoreFault && error.reason === "unreadable") return null;
    throw error;
  }
}

/** The lock file stays: whoever waits for it now must find the same one (DOC-3). */
export function deleteDocument(volume: Volume, path: string): void {
  volume.disk.unlink(path);
  flushParent(volume, path);
}

function versionOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64");
}
