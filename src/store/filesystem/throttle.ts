import type { Clock } from "../../platform/clock.ts";

/** Something that waits for its turn under the rate limit. */
export interface Throttled {
  /** Whether it still wants its turn; asked when the turn comes. */
  wanted(): boolean;
  /** Its turn, `waitedSeconds` after it asked. */
  go(waitedSeconds: number): void;
}

/**
 * A token bucket over the operations of a store (RAT-1): `perSecond` on average, at most one second's worth at once. What comes
 * too fast waits in line and is never refused.
 *
 * @param perSecond 0 for no limit
 */
export function throttle(perSecond: number, clock: Clock): { admit(item: Throttled): void; stop(): void } {
  const burst = Math.max(1, perSecond);
  const line: { readonly item: Throttled; readonly sinceMs: number }[] = [];
  let tokens = burst;
  let filledAtMs = clock.elapsedNow();
  let cancelWake: (() => void) | null = null;

  const fill = (): void => {
    const now = clock.elapsedNow();
    tokens = Math.min(burst, tokens + ((now - filledAtMs) / 1000) * perSecond);
    filledAtMs = now;
  };

  const serve = (): void => {
    cancelWake = null;
    fill();
    while (line[0] !== undefined && (tokens >= 1 || !line[0].item.wanted())) {
      const [{ item, sinceMs }] = line.splice(0, 1) as [(typeof line)[number]];
      if (!item.wanted()) continue;
      tokens--;
      item.go((clock.elapsedNow() - sinceMs) / 1000);
    }
    if (line.length > 0) cancelWake = clock.after(((1 - tokens) / perSecond) * 1000, serve);
  };

  return {
    admit(item) {
      if (perSecond <= 0) return item.go(0);
      fill();
      if (line.length === 0 && tokens >= 1) {
        tokens--;
        return item.go(0);
      }
      line.push({ item, sinceMs: clock.elapsedNow() });
      cancelWake ??= clock.after(((1 - tokens) / perSecond) * 1000, serve);
    },
    stop() {
      cancelWake?.();
      line.length = 0;
    },
  };
}
