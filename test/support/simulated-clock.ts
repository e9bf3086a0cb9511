import type { Clock, EpochMs } from "../../src/platform/clock.ts";

/** Time that only tests move. Wall and elapsed time are apart: `step` moves the one and not the other. */
export interface SimulatedClock extends Clock {
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
}

export function simulatedClock(startAt: EpochMs): SimulatedClock {
  let elapsed = 0;
  let offset = startAt;
  let order = 0;
  const timers = new Set<Timer>();

  const soonest = (): Timer | null => {
    let first: Timer | null = null;
    for (const timer of timers) {
      if (first === null || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer;
    }
    return first;
  };

  /** Takes the next timer due by then and stands at its instant; null when there is none. */
  const advance = (untilElapsed: number): Timer | null => {
    const timer = soonest();
    if (timer === null || timer.at > untilElapsed) {
      elapsed = Math.max(elapsed, untilElapsed);
      return null;
    }
    timers.delete(timer);
    elapsed = Math.max(elapsed, timer.at);
    return timer;
  };

  return {
    wallNow: () => offset + elapsed,
    elapsedNow: () => elapsed,
    after(delayMs, run) {
      const timer: Timer = { at: elapsed + Math.max(0, delayMs), order: order++, run };
      if (timer.at < Number.POSITIVE_INFINITY) timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    runUntil(until) {
      for (let timer = advance(until - offset); timer !== null; timer = advance(until - offset)) timer.run();
    },
    async runUntilSettled(until) {
      await settled();
      for (let timer = advance(until - offset); timer !== null; timer = advance(until - offset)) {
        timer.run();
        await settled();
      }
    },
    step(byMs) {
      offset += byMs;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Resolves when every promise that could settle without time or I/O has. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
