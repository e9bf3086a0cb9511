/** Lets so many through at once; the others wait in line. */
export interface Gate {
  /**
   * Resolves when it is this caller's turn, with what gives the place back.
   *
   * @throws GateFull when too many wait already; the signal's reason when it fires first
   */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Nobody is in and nobody waits. */
  readonly empty: boolean;
}

export class GateFull extends Error {}

export function gate(atOnceMax: number, waitingMax: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;
  const place = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = waiting;
      if (next === undefined) inside--;
      else {
        waiting.delete(next);
        next();
      }
    };
  };
  return {
    enter(signal) {
      signal.throwIfAborted();
      if (inside < atOnceMax) {
        inside++;
        return Promise.resolve(place());
      }
      if (waiting.size >= waitingMax) return Promise.reject(new GateFull(`${waitingMax} reports wait for it already`));
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener("abort", giveUp);
          resolve(place());
        };
        const giveUp = (): void => {
          waiting.delete(admit);
          reject(signal.reason);
        };
        waiting.add(admit);
        signal.addEventListener("abort", giveUp, { once: true });
      });
    },
    get empty() {
      return inside === 0;
    },
  };
}
