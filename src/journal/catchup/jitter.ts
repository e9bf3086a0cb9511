import { crc32 } from "node:zlib";

/**
 * How long a job's backfill waits before its first launch: from 0 up to, not including, `catchupJitterSeconds`. It follows from the name
 * alone, so it is the same at every boot and on every node (CAT-4).
 */
export function startOffsetMs(name: string, jitterSeconds: number): number {
  return jitterSeconds <= 0 ? 0 : crc32(Buffer.from(name, "utf8")) % (jitterSeconds * 1000);
}
