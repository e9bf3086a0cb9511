import type { TextBlock } from "./text-block.ts";

const NEWLINE = 0x0a;

/** Room that a stream keeps between two incomplete lines, as most reads end within one. */
const KEPT_BYTES = 512;

/** Turns what a pipe gives into lines. */
export interface LineSplitter {
  /** The lines completed by these bytes; null when there are none. The bytes may be reused after the call. */
  push(bytes: Buffer): TextBlock | null;
  /** At the end of the stream: the unterminated last line, null when there is none. */
  end(): TextBlock | null;
}

/**
 * Splits at the byte `\n` and decodes whole lines only, so a code point that came in two reads stays whole; bytes that are no UTF-8 become
 * U+FFFD. A line of more than `maxLineBytes`, newline not counted, vanishes with all its bytes, and never takes more memory than that
 * (running 2.1, F40).
 *
 * @param onOverlong called once for each line that vanished
 */
export function lineSplitter(maxLineBytes: number, onOverlong: () => void): LineSplitter {
  const carry = growingBytes();
  let skipping = false; // inside a line that is too long already

  /** Lines in `bytes[from, to)`, which ends with a newline. The first goes on from the carry. */
  function take(bytes: Buffer, from: number, to: number): TextBlock | null {
    if (carry.length + to - from - 1 <= maxLineBytes) return carriedOn(bytes, from, to);
    const kept: Buffer[] = [];
    let runStart = from; // of the accepted lines that lie side by side
    for (let start = from; start < to; ) {
      const next = bytes.indexOf(NEWLINE, start) + 1;
      const tooLong = carry.length + next - start - 1 > maxLineBytes;
      if (tooLong) {
        kept.push(bytes.subarray(runStart, start));
        runStart = next;
        onOverlong();
      } else if (carry.length > 0) kept.push(carry.take());
      carry.clear();
      start = next;
    }
    kept.push(bytes.subarray(runStart, to));
    const all = Buffer.concat(kept);
    return all.length === 0 ? null : blockOf(all);
  }

  /** All lines are accepted. Only the first is put together from the carry, the rest is decoded where it lies. */
  function carriedOn(bytes: Buffer, from: number, to: number): TextBlock {
    if (carry.length === 0) return blockOf(bytes.subarray(from, to));
    const next = bytes.indexOf(NEWLINE, from) + 1;
    carry.append(bytes.subarray(from, next));
    const first = carry.take();
    const rest = blockOf(bytes.subarray(next, to));
    return { text: first.toString() + rest.text, lines: rest.lines + 1, bytes: first.length + rest.bytes };
  }

  return {
    push(bytes) {
      let from = 0;
      if (skipping) {
        from = bytes.indexOf(NEWLINE) + 1;
        if (from === 0) return null;
        skipping = false;
      }
      const to = bytes.lastIndexOf(NEWLINE) + 1;
      const block = to > from ? take(bytes, from, to) : null;
      const rest = bytes.subarray(Math.max(from, to));
      if (carry.length + rest.length <= maxLineBytes) carry.append(rest);
      else {
        carry.clear();
        skipping = true;
        onOverlong();
      }
      return block;
    },
    end() {
      const rest = carry.take();
      return rest.length === 0 ? null : { text: rest.toString(), lines: 1, bytes: rest.length };
    },
  };
}

function blockOf(bytes: Buffer): TextBlock {
  let lines = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === NEWLINE) lines++;
  return { text: bytes.toString(), lines, bytes: bytes.length };
}

/** Bytes of a line that is not complete yet. While there are none it holds `KEPT_BYTES` at most. */
function growingBytes() {
  let storage: Buffer | null = null;
  let length = 0;
  return {
    get length(): number {
      return length;
    },
    append(bytes: Buffer): void {
      if (bytes.length === 0) return;
      if (storage === null || storage.length < length + bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(length + bytes.length, length * 2, 256));
        storage?.copy(larger, 0, 0, length);
        storage = larger;
      }
      bytes.copy(storage, length);
      length += bytes.length;
    },
    /** All so far, leaving nothing. Good until the next `append`. */
    take(): Buffer {
      const all = storage?.subarray(0, length) ?? Buffer.alloc(0);
      this.clear();
      return all;
    },
    clear(): void {
      if (storage !== null && storage.length > KEPT_BYTES) storage = null;
      length = 0;
    },
  };
}
