import type { LiveOutput, OutputLine } from "../../contract/launcher.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import { LIVE_BYTES_MAX, RECENT_LINES_MAX, SUBSCRIBER_LINES_MAX } from "../limits.ts";
import { linesOf, newestBlocks, type TextBlock } from "./text-block.ts";

interface StreamBlock extends TextBlock {
  readonly stream: OutputLine["stream"];
  readonly readAt: EpochMs;
}

/** The live log of one run, and the way to fill it. */
export interface LiveOutputSource {
  readonly output: LiveOutput;
  publish(stream: OutputLine["stream"], block: TextBlock): void;
  /** No more lines come. Subscribers get what is theirs, then the end. */
  end(): void;
}

/**
 * A subscriber is called once per turn of the event loop at most, with what has come since; of a flood it gets the newest lines. It must not
 * throw.
 */
export function liveOutput(clock: Pick<Clock, "wallNow">): LiveOutputSource {
  const recent = newestBlocks<StreamBlock>(RECENT_LINES_MAX, LIVE_BYTES_MAX);
  const subscribers = new Set<Subscriber>();
  let published = 0;
  let ended = false;
  let deliveryIsDue = false;

  function deliverLater(): void {
    if (deliveryIsDue) return;
    deliveryIsDue = true;
    setImmediate(deliver);
  }

  function deliver(): void {
    deliveryIsDue = false;
    for (const subscriber of [...subscribers]) {
      if (ended) subscribers.delete(subscriber);
      subscriber.deliver(ended);
    }
  }

  return {
    output: {
      recent: () => newestLines(recent.blocks(), RECENT_LINES_MAX),
      get published() {
        return published;
      },
      subscribe(onLines, onEnd) {
        const subscriber = subscriberOf(onLines, onEnd);
        subscribers.add(subscriber);
        if (ended) deliverLater();
        return () => {
          subscribers.delete(subscriber);
          subscriber.cancel();
        };
      },
    },
    publish(stream, block) {
      const streamBlock = { stream, readAt: clock.wallNow(), ...block };
      published += block.lines;
      recent.push(streamBlock);
      if (subscribers.size === 0) return;
      for (const subscriber of subscribers) subscriber.push(streamBlock);
      deliverLater();
    },
    end() {
      ended = true;
      if (subscribers.size > 0) deliverLater();
    },
  };
}

interface Subscriber {
  push(block: StreamBlock): void;
  deliver(ended: boolean): void;
  cancel(): void;
}

function subscriberOf(onLines: (lines: readonly OutputLine[]) => void, onEnd: () => void): Subscriber {
  let waiting = newestBlocks<StreamBlock>(SUBSCRIBER_LINES_MAX, LIVE_BYTES_MAX);
  let cancelled = false;
  return {
    push: (block) => waiting.push(block),
    deliver(ended) {
      const lines = newestLines(waiting.blocks(), SUBSCRIBER_LINES_MAX);
      waiting = newestBlocks<StreamBlock>(SUBSCRIBER_LINES_MAX, LIVE_BYTES_MAX);
      if (lines.length > 0 && !cancelled) onLines(lines);
      if (ended && !cancelled) onEnd();
    },
    cancel() {
      cancelled = true;
    },
  };
}

function newestLines(blocks: readonly StreamBlock[], limit: number): readonly OutputLine[] {
  return blocks
    .flatMap(({ stream, readAt, text }) => linesOf(text).map((line) => ({ stream, line, readAt })))
    .slice(-limit);
}
