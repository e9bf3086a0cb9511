import type { Clock } from "../platform/clock.ts";

/** Acquires of one process that wait for the same lock, longest wait first. */
export interface WaitingLine {
  join(lock: string): Place;
  /** The lock may be free: the first in line that does not know it yet looks at once. */
  call(lock: string): void;
}

export interface Place {
  /** Resolves after `delayMs`, or as soon as this place is called or `wake` is. A call since the last wait counts. */
  wait(delayMs: number): Promise<void>;
  wake(): void;
  leave(): void;
}

interface Waiter {
  called: boolean;
  wake: () => void;
}

export function createWaitingLine(clock: Clock): WaitingLine {
  const lines = new Map<string, Set<Waiter>>();
  return {
    join(lock) {
      const waiter: Waiter = { called: false, wake: () => undefined };
      const line = lines.get(lock) ?? new Set();
      lines.set(lock, line.add(waiter));
      return {
        async wait(delayMs) {
          if (!waiter.called) {
            await new Promise<void>((resolve) => {
              const cancel = clock.after(delayMs, resolve);
              waiter.wake = () => {
                cancel();
                resolve();
              };
            });
          }
          waiter.called = false;
        },
        wake: () => waiter.wake(),
        leave() {
          line.delete(waiter);
          if (line.size === 0 && lines.get(lock) === line) lines.delete(lock);
        },
      };
    },
    call(lock) {
      for (const waiter of lines.get(lock) ?? []) {
        if (waiter.called) continue;
        waiter.called = true;
        waiter.wake();
        return;
      }
    },
  };
}
