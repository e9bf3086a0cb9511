import type { ArgumentsOf, Lesson, Operation, ResultOf } from "../engine.ts";
import type { Outcome } from "../store.ts";
import type { FilesystemEngineOptions } from "./engine.ts";

/** What a store thread is started with. */
export type LaneData = FilesystemEngineOptions;

export interface LaneRequest<K extends Operation = Operation> {
  readonly id: number;
  readonly operation: K;
  readonly args: ArgumentsOf<K>;
  /** On the machine's monotonic clock, which all threads share. */
  readonly deadlineMs: number;
}

export interface LaneAnswer<K extends Operation = Operation> {
  readonly id: number;
  readonly outcome: Outcome<ResultOf<K>>;
  /** Spent in the store. */
  readonly seconds: number;
  /** Spent waiting for a lock before that. */
  readonly lockWaitSeconds: number;
}

export type ToLane =
  | { readonly kind: "run"; readonly requests: readonly LaneRequest[] }
  | { readonly kind: "learn"; readonly lesson: Lesson }
  | { readonly kind: "end" };

export interface FromLane {
  readonly answers: readonly LaneAnswer[];
  readonly warnings: readonly string[];
}

/** Milliseconds on the clock both sides of a lane read. */
export function sharedElapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
