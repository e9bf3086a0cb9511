import type { Clock } from "../../platform/clock.ts";

/** A clock for one process: when that is killed, its timers are gone and no new one ever runs. */
export interface MortalClock extends Clock {
  kill(): void;
}

export function mortalClock(clock: Clock): MortalClock {
  const cancels = new Set<() => void>();
  let isDead = false;
  return {
    wallNow: clock.wallNow,
    elapsedNow: clock.elapsedNow,
    after(delayMs, run) {
      if (isDead) return () => {};
      const cancel = clock.after(delayMs, () => {
        cancels.delete(cancel);
        run();
      });
      cancels.add(cancel);
      return () => {
        cancels.delete(cancel);
        cancel();
      };
    },
    kill() {
      isDead = true;
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}
