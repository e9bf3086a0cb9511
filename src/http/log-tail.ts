import type { ServerResponse } from "node:http";
import type { Clock } from "../platform/clock.ts";
import type { FollowedLog } from "./answer.ts";
import { PING_MS, TAIL_BYTES_MAX, TAIL_LINES_MAX, TAIL_STALLED_MS } from "./limits.ts";
import { after, type Lines, type LogFeeds } from "./log-feed.ts";

/**
 * One reader of a log (http 8).
 *   T1. What is sent is LF only, one event a line; bursts go together.
 *   T2. While the reader does not read, the newest lines wait, within bounds; the end always fits.
 *   T3. Nothing the reader does or leaves undone reaches the run.
 */
export interface LogTail {
  /** Sends the end and closes, whatever the run does. */
  end(): void;
}

interface TailParts {
  readonly response: ServerResponse;
  readonly log: FollowedLog;
  readonly feeds: LogFeeds;
  readonly clock: Clock;
  /** Called once, when the stream is over for whatever reason. */
  onOver(): void;
}

/** Streams a log to a response whose headers have been sent. */
export function tailLog({ response, log, feeds, clock, onOver }: TailParts): LogTail {
  const { output, numbered } = log;
  const waiting = boundedFrames();
  let isBlocked = false;
  let isEnding = false;
  let isOver = false;
  let lastProgress = clock.elapsedNow();
  let leave = (): void => {};
  let cancelPing = (): void => {};

  const over = (): void => {
    if (isOver) return;
    isOver = true;
    leave();
    cancelPing();
    onOver();
  };

  const write = (text: string): void => {
    lastProgress = clock.elapsedNow();
    isBlocked = !response.write(text);
  };

  const take = (lines: Lines): void => {
    const frames = numbered === null ? lines.frames() : lines.numberedFrames();
    if (isBlocked)
      waiting.push(frames); // T2
    else write(frames.join(""));
  };

  const finish = (): void => {
    if (isEnding || isOver) return;
    isEnding = true;
    leave();
    response.end(waiting.take() + endFrame(log));
  };

  /** Keeps a silent stream alive; lets go of a reader that takes nothing, also of the end. */
  const ping = (): void => {
    if (isOver) return;
    const silentMs = clock.elapsedNow() - lastProgress;
    const isUnread = response.writableLength > 0;
    if (isUnread && silentMs >= TAIL_STALLED_MS) {
      response.destroy();
      return;
    }
    if (!isEnding && !isBlocked && silentMs >= PING_MS) write(": ping\n\n");
    const nextMs = isUnread || isEnding ? PING_MS : PING_MS - (clock.elapsedNow() - lastProgress);
    cancelPing = clock.after(Math.max(nextMs, 1), ping);
  };

  response.on("drain", () => {
    isBlocked = false;
    lastProgress = clock.elapsedNow();
    const text = waiting.take();
    if (text !== "" && !isEnding) write(text);
  });
  response.once("close", over);

  if (output === null) {
    finish();
    return { end: finish };
  }
  const following = feeds.follow(output, { onLines: take, onEnd: finish });
  leave = following.leave;
  const first = numbered === null ? following.soFar : after(following.soFar, numbered.after);
  if (numbered !== null && first !== null) announceGap(first, numbered.after, write);
  if (first !== null && first.lines.length > 0) take(first);
  cancelPing = clock.after(PING_MS, ping);
  return { end: finish };
}

/** Lines that the client does not have and that are kept no more. */
function announceGap(first: Lines, had: number, write: (text: string) => void): void {
  const missed = first.first - had - 1;
  if (missed > 0 && first.lines.length > 0) write(`event: gap\ndata: ${JSON.stringify({ missed })}\n\n`);
}

function endFrame({ output, numbered }: FollowedLog): string {
  if (numbered !== null) return `event: end\ndata: ${JSON.stringify(numbered.end())}\n\n`;
  return output === null ? 'event: end\ndata: {"reason": "no-output"}\n\n' : "event: end\ndata: {}\n\n";
}

/** The newest events, within limits by number and size. */
function boundedFrames() {
  let frames: string[] = [];
  let first = 0;
  let characters = 0;
  const drop = (): void => {
    characters -= frames[first]?.length ?? 0;
    first++;
  };
  return {
    push(more: readonly string[]): void {
      for (const frame of more) {
        frames.push(frame);
        characters += frame.length;
      }
      while (frames.length - first > TAIL_LINES_MAX || (characters > TAIL_BYTES_MAX && frames.length - first > 1))
        drop();
      if (first > TAIL_LINES_MAX) {
        frames = frames.slice(first);
        first = 0;
      }
    },
    take(): string {
      const text = frames.slice(first).join("");
      frames = [];
      first = 0;
      characters = 0;
      return text;
    },
  };
}
