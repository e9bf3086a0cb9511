import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { OutputTarget } from "../../platform/output-target.ts";
import { MIRROR_BATCH_BYTES, MIRROR_BATCHES_MAX, MIRROR_BYTES_MAX, MIRROR_DRAIN_MS } from "../limits.ts";
import type { TextBlock } from "./text-block.ts";

export type MirrorStream = "stdout" | "stderr";

/** Shows the output of jobs on the daemon's own. */
export interface Mirror {
  /** Takes the lines over at once and writes them as soon as the reader takes them, each with `prefix` before it. */
  write(stream: MirrorStream, prefix: string, block: TextBlock): void;
  /** Resolves when all is written, or after a second. */
  drain(): Promise<void>;
}

interface Batch {
  readonly stream: MirrorStream;
  readonly parts: { readonly prefix: string; readonly block: TextBlock }[];
  bytes: number;
  lines: number;
}

/**
 * One queue for both streams keeps the order in which the daemon read. A reader that stops holds up nobody: what does not fit the queue is shed,
 * oldest first, and one warning tells of it once the queue has emptied again (running 2, mirroring; F37).
 */
export function createMirror(targets: Readonly<Record<MirrorStream, OutputTarget>>, clock: Clock, log: Logger): Mirror {
  const queue: Batch[] = [];
  let queuedBytes = 0;
  let writing = false;
  let shedLines = 0;
  let failing = false;
  let onIdle: (() => void)[] = [];

  function enqueue(stream: MirrorStream, prefix: string, block: TextBlock): void {
    const bytes = block.bytes + block.lines * prefix.length;
    const last = queue.at(-1);
    if (last !== undefined && last.stream === stream && last.bytes + bytes <= MIRROR_BATCH_BYTES) {
      last.parts.push({ prefix, block });
      last.bytes += bytes;
      last.lines += block.lines;
    } else queue.push({ stream, parts: [{ prefix, block }], bytes, lines: block.lines });
    queuedBytes += bytes;
    while (queue.length > MIRROR_BATCHES_MAX || (queuedBytes > MIRROR_BYTES_MAX && queue.length > 1)) {
      shedLines += next()?.lines ?? 0;
    }
  }

  function next(): Batch | undefined {
    const batch = queue.shift();
    queuedBytes -= batch?.bytes ?? 0;
    return batch;
  }

  function writeOn(): void {
    // A target may be done within the call; a loop instead of a recursion keeps the stack flat.
    for (let batch = next(); batch !== undefined; batch = next()) {
      const { stream, lines } = batch;
      let doneWithin = false;
      let returned = false;
      writing = true;
      targets[stream].write(rendered(batch), (error) => {
        writing = false;
        written(stream, lines, error);
        if (returned) writeOn();
        else doneWithin = true;
      });
      returned = true;
      if (!doneWithin) return;
    }
    caughtUp();
  }

  function written(stream: MirrorStream, lines: number, error: Error | null): void {
    if (error === null) failing = false;
    else {
      shedLines += lines;
      if (failing) return;
      failing = true;
      log.warning(`cannot mirror the output of jobs to the daemon's ${stream}: ${error.message}; it is still captured`);
    }
  }

  function caughtUp(): void {
    if (shedLines > 0 && !failing) {
      const lines = shedLines;
      shedLines = 0; // before it is told: the log may write here
      log.warning(
        `${lines} lines of job output were not mirrored to the daemon's output because it was not read in time; what the jobs keep is complete`,
      );
    }
    const idle = onIdle;
    onIdle = [];
    for (const tell of idle) tell();
  }

  return {
    write(stream, prefix, block) {
      enqueue(stream, prefix, block);
      if (!writing) writeOn();
    },
    drain: () =>
      new Promise((resolve) => {
        if (!writing) return resolve();
        const cancel = clock.after(MIRROR_DRAIN_MS, resolve);
        onIdle.push(() => {
          cancel();
          resolve();
        });
      }),
  };
}

/** Each line with its prefix. An unterminated last line gets a newline, or the next job's line would be glued to it. */
function rendered({ parts }: Batch): Buffer {
  const texts = parts.map(({ prefix, block: { text } }) => {
    const body = text.endsWith("\n") ? text.slice(0, -1) : text;
    return `${prefix}${prefix === "" ? body : body.split("\n").join(`\n${prefix}`)}\n`;
  });
  return Buffer.from(texts.join(""));
}
