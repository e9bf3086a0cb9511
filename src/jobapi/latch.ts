/** Something that happens at most once, and that others may wait for: a run's end, a client that hangs up. */
export interface Latch {
  readonly tripped: boolean;
  /** Calls `listener` when it happens, at once if it has. @returns stops listening */
  onTrip(listener: () => void): () => void;
}

export interface TrippableLatch extends Latch {
  trip(): void;
}

/** Cheaper than an AbortSignal, and without its limit of listeners: a run may wait for many locks. */
export function createLatch(): TrippableLatch {
  const listeners = new Set<() => void>();
  let tripped = false;
  return {
    get tripped() {
      return tripped;
    },
    onTrip(listener) {
      if (tripped) {
        listener();
        return () => undefined;
      }
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    trip() {
      if (tripped) return;
      tripped = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
  };
}
