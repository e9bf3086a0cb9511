/** Whole lines of one stream as they were read together: each ends with a newline, but the last of a stream may not. Never empty. */
export interface TextBlock {
  readonly text: string;
  readonly lines: number;
  /** What the text took in the pipe. */
  readonly bytes: number;
}

/** Where the line after the first `count` lines starts; the text's length when there is none. */
export function offsetOfLine(text: string, count: number): number {
  let offset = 0;
  for (let line = 0; line < count; line++) {
    const newline = text.indexOf("\n", offset);
    if (newline < 0) return text.length;
    offset = newline + 1;
  }
  return offset;
}

/** The lines without their newlines. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * The newest lines of a flow of blocks. Blocks are kept and dropped whole, so a flood costs nothing per line: what is kept holds at least the
 * newest `linesMax` lines, if there were as many and they take less than `bytesMax`, and less than one block more.
 */
export function newestBlocks<Block extends TextBlock>(linesMax: number, bytesMax: number) {
  const blocks: Block[] = [];
  let lines = 0;
  let bytes = 0;

  const dropsOldest = (oldest: Block | undefined): oldest is Block =>
    oldest !== undefined && (lines - oldest.lines >= linesMax || (bytes > bytesMax && blocks.length > 1));

  return {
    push(block: Block): void {
      if (linesMax === 0) return;
      blocks.push(block);
      lines += block.lines;
      bytes += block.bytes;
      // Let go of at once: text that outlives a collection of the young generation costs many times its making.
      for (let oldest = blocks[0]; dropsOldest(oldest); oldest = blocks[0]) {
        lines -= oldest.lines;
        bytes -= oldest.bytes;
        blocks.shift();
      }
    },
    /** Oldest first. */
    blocks: (): readonly Block[] => [...blocks],
    lines: (): number => lines,
  };
}
