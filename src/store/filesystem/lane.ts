import type { Worker } from "node:worker_threads";
import type { Clock } from "../../platform/clock.ts";
import { type ArgumentsOf, type Lesson, type Operation, operationTraits, type ResultOf } from "../engine.ts";
import type { Tally } from "../executor.ts";
import type { Outcome } from "../store.ts";
import type { FromLane, LaneRequest, ToLane } from "./lane-messages.ts";
import { LANE_WINDOW, THREAD_END_MS, WORKER_RESTART_MS } from "./limits.ts";

/** One operation from the call to its end in the store, which may come long after its caller stopped waiting. */
export interface Job<K extends Operation = Operation> {
  readonly id: number;
  readonly operation: K;
  readonly args: ArgumentsOf<K>;
  readonly deadlineMs: number;
  /** Whether the caller has its answer. */
  isSettled(): boolean;
  settle(outcome: Outcome<ResultOf<K>>): void;
  /** The store has nothing more to do with it. */
  ended(): void;
}

export interface LaneSurroundings {
  readonly clock: Clock;
  readonly tally: Tally;
  /** Starts a worker that serves this lane. */
  spawn(): Worker;
  warn(message: string): void;
}

/** The near side of one store thread. */
export interface LaneClient {
  enqueue(job: Job): void;
  learn(lesson: Lesson): void;
  /** Operations the thread has and has not answered, and the most there were. */
  load(): { readonly inflight: number; readonly peak: number };
  /** Ends the thread, also in the midst of an operation; "hung" when that does not work. */
  end(): Promise<"ended" | "hung">;
}

/**
 * Keeps at most a window of operations in the thread and the rest here, in ranks, where an urgent one still gets ahead and one
 * nobody waits for any more is dropped. All that was called in one turn travels in one message.
 *
 *   L1. Operations of one rank begin in the order they came.
 *   L2. Every job ends exactly once: answered by the thread, dropped here, or lost with its thread.
 */
export function openLane({ clock, tally, spawn, warn }: LaneSurroundings): LaneClient {
  const waiting = {
    urgent: new Map<number, Job>(),
    usual: new Map<number, Job>(),
    idle: new Map<number, Job>(),
  };
  const inThread = new Map<number, Job>();
  let worker: Worker | null = null;
  let dispatchPlanned = false;
  let resting = false;
  let ending = false;
  let peak = 0;

  const nextJob = (): Job | null => {
    for (const rank of [waiting.urgent, waiting.usual, waiting.idle]) {
      for (const [id, job] of rank) {
        rank.delete(id);
        if (!job.isSettled() || operationTraits[job.operation].afterDeadline === "run") return job;
        job.ended();
      }
    }
    return null;
  };

  const dispatch = (): void => {
    dispatchPlanned = false;
    if (resting || ending) return;
    const requests: LaneRequest[] = [];
    while (inThread.size < LANE_WINDOW) {
      const job = nextJob();
      if (job === null) break;
      inThread.set(job.id, job);
      const { id, operation, args, deadlineMs } = job;
      requests.push({ id, operation, args, deadlineMs });
    }
    if (requests.length === 0) return;
    peak = Math.max(peak, inThread.size);
    thread().postMessage({ kind: "run", requests } satisfies ToLane);
  };

  const receive = ({ answers, warnings }: FromLane): void => {
    for (const warning of warnings) warn(warning);
    for (const { id, outcome, seconds, lockWaitSeconds } of answers) {
      const job = inThread.get(id);
      if (job === undefined) continue;
      inThread.delete(id);
      const { label } = operationTraits[job.operation];
      tally.finished(label, outcome.kind !== "done", seconds);
      if (takesLock(job.operation)) tally.locked(lockWaitSeconds);
      job.settle(outcome);
      job.ended();
    }
    dispatch();
  };

  /** A thread ends unasked only when it runs out of memory or by a bug. What it had may or may not have landed. */
  const lost = (why: string): void => {
    worker = null;
    if (ending) return;
    warn(`state: a store thread ended (${why}); starting another`);
    for (const [id, job] of inThread) {
      inThread.delete(id);
      tally.finished(operationTraits[job.operation].label, true, 0);
      job.settle({ kind: "unknown", because: "the store thread ended" });
      job.ended();
    }
    resting = true;
    clock.after(WORKER_RESTART_MS, () => {
      resting = false;
      dispatch();
    });
  };

  const thread = (): Worker => {
    if (worker !== null) return worker;
    const fresh = spawn();
    let why = "no reason given";
    fresh.on("message", receive);
    fresh.on("error", (error) => {
      why = error instanceof Error ? error.message : String(error);
    });
    fresh.on("exit", () => {
      if (worker === fresh) lost(why);
    });
    worker = fresh;
    return fresh;
  };

  return {
    enqueue(job) {
      waiting[operationTraits[job.operation].rank].set(job.id, job);
      if (dispatchPlanned) return;
      dispatchPlanned = true;
      queueMicrotask(dispatch);
    },
    learn(lesson) {
      // A thread that has not begun has nothing to unlearn.
      worker?.postMessage({ kind: "learn", lesson } satisfies ToLane);
    },
    load: () => ({ inflight: inThread.size, peak }),
    async end() {
      ending = true;
      const last = worker;
      worker = null;
      if (last === null) return "ended";
      // A thread that comes back from the operating system later on finds this and goes.
      last.postMessage({ kind: "end" } satisfies ToLane);
      last.unref();
      return await new Promise((resolve) => {
        const giveUp = clock.after(THREAD_END_MS, () => resolve("hung"));
        void last.terminate().then(() => {
          giveUp();
          resolve("ended");
        });
      });
    },
  };
}

function takesLock(operation: Operation): boolean {
  const { label } = operationTraits[operation];
  return label === "doc-mutate" || (operationTraits[operation].lane === "lease" && label !== "lease-read");
}
