import type { CapturedStream } from "../../contract/run.ts";
import { RETAINED_BYTES_MAX } from "../limits.ts";
import { newestBlocks, offsetOfLine, type TextBlock } from "./text-block.ts";

/** The text of one stream that outlives its run. */
export interface RetainedText {
  add(block: TextBlock): void;
  /** What is kept, put together now. */
  captured(): CapturedStream;
}

/**
 * Keeps the first half of `limitLines` from the stream's start and the other half from its end, with a marker between them where lines were
 * discarded. A limit of 0 keeps nothing and counts every line (running 2, retention). Either half ends early at `RETAINED_BYTES_MAX`.
 */
export function retainedText(limitLines: number): RetainedText {
  const headLimit = Math.floor(limitLines / 2);
  const tailLimit = limitLines - headLimit;
  const head: string[] = [];
  const tail = newestBlocks(tailLimit, RETAINED_BYTES_MAX);
  let headLines = 0;
  let headBytes = 0;
  let tailLines = 0; // all that went there, also what has been dropped since

  return {
    add({ text, lines, bytes }) {
      const toHead = headBytes < RETAINED_BYTES_MAX ? Math.min(headLimit - headLines, lines) : 0;
      const cut = toHead === lines ? text.length : offsetOfLine(text, toHead);
      if (toHead > 0) head.push(text.slice(0, cut));
      headLines += toHead;
      headBytes += toHead > 0 ? bytes : 0;
      if (toHead === lines) return;
      tailLines += lines - toHead;
      tail.push({ text: text.slice(cut), lines: lines - toHead, bytes });
    },
    captured() {
      const keptLines = Math.min(tail.lines(), tailLimit);
      const discardedLines = tailLines - keptLines;
      const kept = tail
        .blocks()
        .map(({ text }) => text)
        .join("");
      const tailText = kept.slice(offsetOfLine(kept, tail.lines() - keptLines));
      const marker = discardedLines > 0 && tailText !== "" ? `   [.... ${discardedLines} lines discarded ...]\n` : "";
      return { text: head.join("") + marker + tailText, discardedLines };
    },
  };
}
