import type { Clock } from "../../../src/platform/clock.ts";
import type { WorldTime } from "./world-time.ts";

/** The clocks of one machine: its wall clock may be wrong and be set, and it may sleep, which stops its elapsed time. */
export interface HostClock extends Clock {
  /** Sets the wall clock forward, or back. */
  step(byMs: number): void;
  /** Suspends the machine: nothing on it goes on for this long, then `woken` is called. No-op while it sleeps. */
  sleep(forMs: number, woken: () => void): void;
  readonly asleep: boolean;
}

interface Timer {
  readonly dueAt: number;
  readonly run: () => void;
  drop: () => void;
}

export function hostClock(world: WorldTime, skewMs: number): HostClock {
  const bornAt = world.now();
  const timers = new Set<Timer>();
  let wallOffset = skewMs;
  let sleptMs = 0;
  let asleepSince: number | null = null;

  const elapsedNow = (): number => (asleepSince ?? world.now()) - bornAt - sleptMs;

  const arm = (timer: Timer): void => {
    timer.drop = world.at(bornAt + sleptMs + timer.dueAt, () => {
      timers.delete(timer);
      timer.run();
    });
  };

  return {
    wallNow: () => world.now() + wallOffset,
    elapsedNow,
    after(delayMs, run) {
      const timer: Timer = { dueAt: elapsedNow() + Math.max(0, delayMs), run, drop: () => {} };
      if (timer.dueAt === Number.POSITIVE_INFINITY) return () => {};
      timers.add(timer);
      if (asleepSince === null) arm(timer);
      return () => {
        timers.delete(timer);
        timer.drop();
      };
    },
    step(byMs) {
      wallOffset += byMs;
    },
    sleep(forMs, woken) {
      if (asleepSince !== null) return;
      asleepSince = world.now();
      for (const timer of timers) timer.drop();
      world.at(world.now() + forMs, () => {
        sleptMs += world.now() - (asleepSince ?? world.now());
        asleepSince = null;
        for (const timer of timers) arm(timer);
        woken();
      });
    },
    get asleep() {
      return asleepSince !== null;
    },
  };
}
