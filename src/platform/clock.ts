/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number;

/**
 * Time as the daemon sees it. Wall time tells when a slot is due and may step; elapsed time measures durations and never
 * goes back. A simulated clock implements the same three methods, so no room calls `Date.now()` or `setTimeout` itself.
 */
export interface Clock {
  /** The wall clock, whole milliseconds. */
  wallNow(): EpochMs;
  /** Milliseconds on the monotonic clock, from an arbitrary start. */
  elapsedNow(): number;
  /**
   * Calls `run` once, `delayMs` of elapsed time from now, never in the same turn of the event loop. A negative delay counts as 0, any
   * length up to Infinity (never) is served, also beyond setTimeout's own limit of 2^31 ms.
   *
   * @returns cancels the call; harmless when it has been made
   */
  after(delayMs: number, run: () => void): () => void;
}

/** setTimeout fires at once when its delay exceeds this. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** The system's clocks. Its timers keep the process alive. */
export const systemClock: Clock = {
  wallNow: () => Date.now(),
  elapsedNow: () => performance.now(),
  after(delayMs, run) {
    const dueAt = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = dueAt - performance.now();
      timer = setTimeout(leftMs > TIMEOUT_MAX_MS ? arm : run, Math.max(0, Math.min(leftMs, TIMEOUT_MAX_MS)));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
