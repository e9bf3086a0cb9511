import type { Clock, EpochMs } from "./clock.ts";

/** Time that only its owner moves. Wall and elapsed time are apart: `step` moves the one and not the other. */
export interface SimulatedClock extends Clock {
  /** Runs the next timer due up to wall time `until` and stands at its instant; false when there is none, and the clock stands at `until`. */
  runNext(until: EpochMs): boolean;
  /** Runs every timer due up to wall time `until`, in order, and stands there. */
  runUntil(until: EpochMs): void;
  /** Like `runUntil`, letting promises settle after each timer. */
  runUntilSettled(until: EpochMs): Promise<void>;
  /** Moves the wall clock alone: a correction, a suspended machine that woke, an operator's `date -s`. */
  step(byMs: number): void;
  /** Timers that wait. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  state: "waiting" | "run" | "cancelled";
}

/** Cancelled timers stay in the heap until they are due, or until they are this many and more than those that wait. */
const CANCELLED_MIN = 1024;

export function simulatedClock(startAt: EpochMs): SimulatedClock {
  let elapsed = 0;
  let offset = startAt;
  let order = 0;
  let cancelled = 0;
  let heap = timerHeap();

  /** The next timer that waits, left where it is. */
  const soonest = (): Timer | null => {
    for (let first = heap.first(); first !== null; first = heap.first()) {
      if (first.state !== "cancelled") return first;
      heap.takeFirst();
      cancelled--;
    }
    return null;
  };

  const runNext = (until: EpochMs): boolean => {
    const timer = soonest();
    if (timer === null || timer.at > until - offset) {
      elapsed = Math.max(elapsed, until - offset);
      return false;
    }
    heap.takeFirst();
    elapsed = Math.max(elapsed, timer.at);
    timer.state = "run";
    timer.run();
    return true;
  };

  const cancel = (timer: Timer): void => {
    if (timer.state !== "waiting") return;
    timer.state = "cancelled";
    cancelled++;
    if (cancelled < CANCELLED_MIN || cancelled * 2 < heap.size()) return;
    const waiting = heap.all().filter(({ state }) => state === "waiting");
    heap = timerHeap();
    cancelled = 0;
    for (const timer of waiting) heap.add(timer);
  };

  return {
    wallNow: () => offset + elapsed,
    elapsedNow: () => elapsed,
    after(delayMs, run) {
      const timer: Timer = { at: elapsed + Math.max(0, delayMs), order: order++, run, state: "waiting" };
      if (timer.at === Number.POSITIVE_INFINITY) return () => {};
      heap.add(timer);
      return () => cancel(timer);
    },
    runNext,
    runUntil(until) {
      while (runNext(until));
    },
    async runUntilSettled(until) {
      await settled();
      while (runNext(until)) await settled();
    },
    step(byMs) {
      offset += byMs;
    },
    get pending() {
      return heap.size() - cancelled;
    },
  };
}

/** Resolves when every promise that could settle without time or I/O has. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A binary heap: the soonest timer first, of one instant the one that was set first. */
function timerHeap() {
  const heap: Timer[] = [];
  const isSooner = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  return {
    first: (): Timer | null => heap[0] ?? null,
    all: (): readonly Timer[] => heap,
    size: (): number => heap.length,
    add(timer: Timer): void {
      let index = heap.length;
      while (index > 0) {
        const parent = heap[(index - 1) >> 1];
        if (parent === undefined || isSooner(parent, timer)) break;
        heap[index] = parent;
        index = (index - 1) >> 1;
      }
      heap[index] = timer;
    },
    takeFirst(): void {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return;
      let index = 0;
      for (;;) {
        const left = heap[2 * index + 1];
        const right = heap[2 * index + 2];
        const isRight = left !== undefined && right !== undefined && isSooner(right, left);
        const child = isRight ? right : left;
        if (child === undefined || !isSooner(child, last)) break;
        heap[index] = child;
        index = 2 * index + (isRight ? 2 : 1);
      }
      heap[index] = last;
    },
  };
}
