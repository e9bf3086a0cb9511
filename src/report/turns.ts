import type { Clock } from "../platform/clock.ts";
import { SLICE_MS } from "./limits.ts";

/** Spreads work over turns of the event loop, in order of asking. */
export interface Turns {
  /** Does `work` soon, and gives its result. */
  take<T>(work: () => T): Promise<T>;
}

/**
 * Hundreds of runs that end together are told of in slices of some milliseconds, so that timers and sockets are served between them. The
 * first slice runs at the end of this turn.
 */
export function turns(clock: Clock): Turns {
  const queue: (() => void)[] = [];
  const slice = (): void => {
    const until = clock.elapsedNow() + SLICE_MS;
    let done = 0;
    for (const work of queue) {
      work();
      done++;
      if (clock.elapsedNow() >= until) break;
    }
    queue.splice(0, done);
    if (queue.length > 0) setImmediate(slice);
  };
  return {
    take: (work) =>
      new Promise((resolve, reject) => {
        queue.push(() => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        });
        if (queue.length === 1) setImmediate(slice);
      }),
  };
}
