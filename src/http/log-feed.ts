import type { LiveOutput, OutputLine } from "../contract/launcher.ts";
import { isoInstant } from "../journal/instant.ts";

/** Lines of a log with their places: the first has the number `first`, counted from 1 over the whole run. */
export interface Lines {
  readonly first: number;
  readonly lines: readonly OutputLine[];
  /** One event each, and the same with their numbers and times; written once for all who follow. */
  frames(): readonly string[];
  numberedFrames(): readonly string[];
}

export interface Follower {
  onLines(lines: Lines): void;
  onEnd(): void;
}

/** The logs that are being followed. A log is listened to once, however many follow it. */
export interface LogFeeds {
  /**
   * What is there, and from now on what comes, without gap or repetition.
   *
   * @returns the lines so far, and how to stop following
   */
  follow(output: LiveOutput, follower: Follower): { readonly soFar: Lines; readonly leave: () => void };
}

interface Feed {
  /** With the number of the last line each had when it came. */
  readonly followers: Map<Follower, number>;
  readonly stop: () => void;
}

export function createLogFeeds(): LogFeeds {
  const feeds = new Map<LiveOutput, Feed>();

  const open = (output: LiveOutput): Feed => {
    const followers = new Map<Follower, number>();
    const stop = output.subscribe(
      (lines) => {
        const batch = linesFrom(output.published - lines.length + 1, lines);
        for (const [follower, had] of [...followers]) {
          const fresh = after(batch, had);
          if (fresh !== null) follower.onLines(fresh);
        }
      },
      () => {
        feeds.delete(output);
        for (const follower of [...followers.keys()]) follower.onEnd();
      },
    );
    const feed = { followers, stop };
    feeds.set(output, feed);
    return feed;
  };

  return {
    follow(output, follower) {
      const feed = feeds.get(output) ?? open(output);
      const recent = output.recent();
      const soFar = linesFrom(output.published - recent.length + 1, recent);
      feed.followers.set(follower, output.published);
      return {
        soFar,
        leave() {
          feed.followers.delete(follower);
          if (feed.followers.size > 0 || feeds.get(output) !== feed) return;
          feeds.delete(output);
          feed.stop();
        },
      };
    },
  };
}

/** The lines after number `had`; the batch itself when that is all of it, null when it is nothing. */
export function after(batch: Lines, had: number): Lines | null {
  const known = had - batch.first + 1;
  if (known <= 0) return batch;
  return known >= batch.lines.length ? null : linesFrom(batch.first + known, batch.lines.slice(known));
}

function linesFrom(first: number, lines: readonly OutputLine[]): Lines {
  let plain: readonly string[] | null = null;
  let numbered: readonly string[] | null = null;
  return {
    first,
    lines,
    frames() {
      plain ??= lines.map(frameOf);
      return plain;
    },
    numberedFrames() {
      numbered ??= lines.map((line, index) => `id: ${first + index}\n${timedFrameOf(line)}`);
      return numbered;
    },
  };
}

function frameOf({ stream, line }: OutputLine): string {
  return `event: line\ndata: ${JSON.stringify({ stream, line })}\n\n`;
}

function timedFrameOf({ stream, line, readAt }: OutputLine): string {
  const ts = readAt === undefined ? {} : { ts: isoInstant(readAt) };
  return `event: line\ndata: ${JSON.stringify({ stream, line, ...ts })}\n\n`;
}
