import type { Clock } from "../platform/clock.ts";

/** How bounded work ended. */
export type Bounded<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "late" }
  | { readonly kind: "cancelled" };

/** A configured limit in milliseconds; one that would be none falls back to the default. At most an hour. */
export function limitMs(seconds: number, defaultMs: number): number {
  return seconds > 0 ? Math.min(seconds * 1_000, 3_600_000) : defaultMs;
}

/**
 * Runs `work` for at most `limitMs`. Its signal fires at the limit or when `cancelled` does, so that it can let go of what it holds; the
 * answer comes then, whether or not it does.
 *
 * @throws what `work` throws in time; later failures are nobody's business any more
 */
export function within<T>(
  clock: Clock,
  limitMs: number,
  cancelled: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Bounded<T>> {
  if (cancelled.aborted) return Promise.resolve({ kind: "cancelled" });
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      cancelTimer();
      cancelled.removeEventListener("abort", onCancelled);
    };
    const end = (kind: "late" | "cancelled"): void => {
      settle();
      resolve({ kind });
      controller.abort();
    };
    const onCancelled = (): void => end("cancelled");
    const cancelTimer = clock.after(limitMs, () => end("late"));
    cancelled.addEventListener("abort", onCancelled, { once: true });
    work(controller.signal).then(
      (value) => {
        settle();
        resolve({ kind: "done", value });
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}
