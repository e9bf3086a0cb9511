/** Text waits for company up to here; one long string made of many pieces costs several times as much to turn into bytes. */
const PENDING_CHARACTERS = 4096;
const CHUNK_BYTES_MIN = 16 * 1024;
const CHUNK_BYTES_MAX = 1024 * 1024;

/** Much text in small pieces, as one run of UTF-8 bytes. */
export interface TextBuffer {
  add(text: string): void;
  /** Everything so far. */
  chunks(): readonly Buffer[];
}

export function textBuffer(): TextBuffer {
  const full: Buffer[] = [];
  let current = Buffer.alloc(0);
  let used = 0;
  let pending = "";

  const flush = (): void => {
    const neededMax = pending.length * 3;
    if (current.length - used < neededMax) {
      if (used > 0) full.push(current.subarray(0, used));
      const size = Math.min(Math.max(CHUNK_BYTES_MIN, current.length * 2), CHUNK_BYTES_MAX);
      current = Buffer.allocUnsafe(Math.max(size, neededMax));
      used = 0;
    }
    used += current.write(pending, used);
    pending = "";
  };

  return {
    add(text) {
      pending += text;
      if (pending.length >= PENDING_CHARACTERS) flush();
    },
    chunks() {
      if (pending !== "") flush();
      return used === 0 ? full : [...full, current.subarray(0, used)];
    },
  };
}
