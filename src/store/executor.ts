import type { ArgumentsOf, Lane, Lesson, Operation, ResultOf } from "./engine.ts";
import type { LaneLoad, OperationCount, OperationLabel, Outcome, Store, StoreCounters } from "./store.ts";

/** How the operations of an engine are called: in other threads, or here. Answers as `Store` promises. */
export interface Executor extends Pick<Store, "counters" | "pendingWrites" | "close"> {
  call<K extends Operation>(operation: K, args: ArgumentsOf<K>, deadlineMs: number): Promise<Outcome<ResultOf<K>>>;
  /** Tells the engine of a lane before its next operation. */
  learn(lane: Lane, lesson: Lesson): void;
}

/** Running totals behind `StoreCounters`. */
export interface Tally {
  finished(label: OperationLabel, failed: boolean, seconds: number): void;
  locked(waitSeconds: number): void;
  throttled(waitSeconds: number): void;
  shed(): void;
  read(lanes: { readonly bulk: LaneLoad; readonly lease: LaneLoad }): StoreCounters;
}

export function newTally(): Tally {
  const operations: Partial<Record<OperationLabel, OperationCount>> = {};
  let lockAcquisitions = 0;
  let lockWaitSeconds = 0;
  let throttledOperations = 0;
  let throttleWaitSeconds = 0;
  let shedWrites = 0;
  return {
    finished(label, failed, seconds) {
      const before = operations[label] ?? { finished: 0, errors: 0, seconds: 0 };
      operations[label] = {
        finished: before.finished + 1,
        errors: before.errors + (failed ? 1 : 0),
        seconds: before.seconds + seconds,
      };
    },
    locked(waitSeconds) {
      lockAcquisitions++;
      lockWaitSeconds += waitSeconds;
    },
    throttled(waitSeconds) {
      throttledOperations++;
      throttleWaitSeconds += waitSeconds;
    },
    shed() {
      shedWrites++;
    },
    read: (lanes) => ({
      operations: { ...operations },
      lockAcquisitions,
      lockWaitSeconds,
      throttledOperations,
      throttleWaitSeconds,
      shedWrites,
      lanes,
    }),
  };
}

export function failed(reason: "io" | "overflow" | "closed", message: string): Outcome<never> {
  return { kind: "failed", failure: { reason, message } };
}
