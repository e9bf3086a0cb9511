import type { LiveOutput, OutputLine } from "../contract/launcher.ts";

/** A log to which nothing comes any more: its lines, and its end at once. */
export function endedOutput(lines: readonly OutputLine[], droppedLines: number): LiveOutput {
  return {
    recent: () => lines,
    published: droppedLines + lines.length,
    subscribe(_onLines, onEnd) {
      let left = false;
      queueMicrotask(() => {
        if (!left) onEnd();
      });
      return () => {
        left = true;
      };
    },
  };
}
