import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { GZIP_BYTES_MIN } from "./limits.ts";

/** A body that many requests may share. */
export interface Product {
  readonly contentType: string;
  readonly body: Buffer;
  /** Quoted; null for one that is never answered with 304. */
  readonly etag: string | null;
  readonly vary: string;
  /** The compressed body, made at its first use; null when the body is not worth it. */
  gzipped(): Promise<Buffer> | null;
}

const compress = promisify(gzip);

export function productOf(parts: Pick<Product, "contentType" | "body" | "etag" | "vary">): Product {
  let compressed: Promise<Buffer> | null = null;
  return {
    ...parts,
    gzipped() {
      if (parts.body.length < GZIP_BYTES_MIN) return null;
      compressed ??= compress(parts.body, { level: constants.Z_BEST_SPEED });
      return compressed;
    },
  };
}
