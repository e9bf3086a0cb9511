import type { Clock, EpochMs } from "../src/platform/clock.ts";

/** A clock that stands still until a test moves it. */
export interface VirtualClock extends Clock {
  /** Moves on, calling what falls due in order, each at its own instant. */
  advance(ms: number): void;
}

export function virtualClock(wallStart: EpochMs = Date.UTC(2026, 0, 1)): VirtualClock {
  let elapsed = 0;
  const timers = new Set<{ readonly dueAt: number; readonly run: () => void }>();
  return {
    wallNow: () => Math.floor(wallStart + elapsed),
    elapsedNow: () => elapsed,
    after(delayMs, run) {
      const timer = { dueAt: elapsed + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = elapsed + ms;
      for (;;) {
        const next = [...timers].reduce<{ dueAt: number; run: () => void } | null>(
          (first, timer) => (timer.dueAt <= until && (first === null || timer.dueAt < first.dueAt) ? timer : first),
          null,
        );
        if (next === null) break;
        timers.delete(next);
        elapsed = Math.max(elapsed, next.dueAt);
        next.run();
      }
      elapsed = until;
    },
  };
}
