import type { EpochMs } from "../../../src/platform/clock.ts";

/** The one true time of a simulated world, which only its driver moves. The clocks of hosts are views of it. */
export interface WorldTime {
  now(): EpochMs;
  /**
   * Calls `run` once when the world gets to `at`; calls for one instant come in the order they were asked for.
   *
   * @returns cancels the call
   */
  at(at: EpochMs, run: () => void): () => void;
  /** Goes to the next call and makes it; at the end of `until` without one, and then answers false. */
  step(until: EpochMs): boolean;
}

interface Call {
  readonly at: EpochMs;
  readonly order: number;
  run: (() => void) | null;
}

export function worldTime(startAt: EpochMs): WorldTime {
  const heap: Call[] = [];
  let now = startAt;
  let order = 0;

  const isBefore = (a: Call, b: Call): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (call: Call): void => {
    let index = heap.push(call) - 1;
    for (;;) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (index === 0 || parent === undefined || !isBefore(call, parent)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = call;
  };

  const pop = (): void => {
    const moved = heap.pop();
    if (moved === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      const right = heap[childIndex + 1];
      let child = heap[childIndex];
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childIndex++;
      }
      if (!isBefore(child, moved)) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = moved;
  };

  return {
    now: () => now,
    at(at, run) {
      const call: Call = { at: Math.max(now, Math.ceil(at)), order: order++, run };
      push(call);
      return () => {
        call.run = null;
      };
    },
    step(until) {
      for (let first = heap[0]; first !== undefined && first.at <= until; first = heap[0]) {
        pop();
        const { run } = first;
        if (run === null) continue;
        now = first.at;
        run();
        return true;
      }
      now = Math.max(now, until);
      return false;
    },
  };
}
