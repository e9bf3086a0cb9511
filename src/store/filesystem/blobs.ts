import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Engine, StoreFault } from "../engine.ts";
import { errorCode } from "./disk.ts";
import { BLOB_BYTES_MAX } from "./limits.ts";
import { ensureDirectory, nowSeconds, type Volume, writeWhole } from "./volume.ts";

export const BLOB_SUFFIX = ".blob";
const SHA256 = /^[0-9a-f]{64}$/;

export type BlobFiles = Pick<Engine, "putBlob" | "getBlob">;

/** Payloads by their SHA-256, sharded by its first two digits (LAY-1). */
export function openBlobs(volume: Volume): BlobFiles {
  const shardOf = (sha256: string): string => join(volume.layout.blobs, sha256.slice(0, 2));
  const pathOf = (sha256: string): string => join(shardOf(sha256), sha256 + BLOB_SUFFIX);

  /** ATW-4: equal bytes are there once; storing them again protects them from a sweep under way. */
  const refresh = (sha256: string, bytes: number): boolean => {
    try {
      if (volume.disk.facts(pathOf(sha256)).bytes !== bytes) return false;
      volume.disk.touch(pathOf(sha256), nowSeconds(volume));
      return true;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
  };

  return {
    putBlob({ bytes }) {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      if (refresh(sha256, bytes.byteLength)) return sha256;
      ensureDirectory(volume, shardOf(sha256));
      writeWhole(volume, pathOf(sha256), bytes, "flush");
      return sha256;
    },

    getBlob({ sha256 }) {
      if (!SHA256.test(sha256)) return null;
      let bytes: Buffer;
      try {
        bytes = volume.disk.readFile(pathOf(sha256), BLOB_BYTES_MAX);
      } catch (error) {
        if (errorCode(error) === "ENOENT") return null;
        throw error;
      }
      if (createHash("sha256").update(bytes).digest("hex") !== sha256)
        throw new StoreFault("unreadable", `blob ${sha256} does not hold the bytes of its address`);
      return bytes;
    },
  };
}
