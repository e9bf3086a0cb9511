import type { Worker } from "node:worker_threads";
import type { Clock } from "../../platform/clock.ts";
import { type ArgumentsOf, type Lane, type Operation, operationTraits, type ResultOf } from "../engine.ts";
import { type Executor, failed, newTally } from "../executor.ts";
import { PENDING_READS_MAX, PENDING_WRITES_MAX } from "../limits.ts";
import type { Outcome } from "../store.ts";
import { type Job, type LaneClient, openLane } from "./lane.ts";
import { sharedElapsedMs } from "./lane-messages.ts";
import { LANE_WINDOW } from "./limits.ts";
import { throttle } from "./throttle.ts";

const LANES = ["write", "read", "lease"] as const;

export interface LanesOptions {
  readonly clock: Clock;
  /** 0 for no limit. */
  readonly maxOpsPerSecond: number;
  spawn(lane: Lane): Worker;
  warn(message: string): void;
}

/** Calls an engine in three threads of its own: records and documents are written in one, read in another, leases have a third. */
export function openLanes({ clock, maxOpsPerSecond, spawn, warn }: LanesOptions): Executor {
  const tally = newTally();
  const lane = (name: Lane): LaneClient => openLane({ clock, tally, spawn: () => spawn(name), warn });
  const lanes: Readonly<Record<Lane, LaneClient>> = { write: lane("write"), read: lane("read"), lease: lane("lease") };
  const pending: Record<Lane, number> = { write: 0, read: 0, lease: 0 };
  const live = new Set<Job>();
  const limiter = throttle(maxOpsPerSecond, clock);
  let lastId = 0;
  let closed = false;
  let onEmpty: (() => void) | null = null;

  const newJob = <K extends Operation>(
    operation: K,
    args: ArgumentsOf<K>,
    patienceMs: number,
    resolve: (outcome: Outcome<ResultOf<K>>) => void,
  ): Job<K> => {
    const { lane: name } = operationTraits[operation];
    let isSettled = false;
    const settle = (outcome: Outcome<ResultOf<K>>): void => {
      if (isSettled) return;
      isSettled = true;
      cancelDeadline();
      resolve(outcome);
    };
    const cancelDeadline = clock.after(patienceMs, () =>
      settle({ kind: "unknown", because: `no answer within ${patienceMs / 1000} s` }),
    );
    const ended = (): void => {
      live.delete(job);
      pending[name]--;
      if (live.size === 0) onEmpty?.();
    };
    const deadlineMs = sharedElapsedMs() + patienceMs;
    const job: Job<K> = { id: ++lastId, operation, args, deadlineMs, isSettled: () => isSettled, settle, ended };
    live.add(job);
    pending[name]++;
    return job;
  };

  const enqueue = (job: Job): void => {
    const traits = operationTraits[job.operation];
    if (traits.lane === "lease" || job.operation === "start") lanes[traits.lane].enqueue(job);
    else
      limiter.admit({
        wanted() {
          const isDropped = job.isSettled() && traits.afterDeadline === "drop";
          if (isDropped) job.ended();
          return !isDropped;
        },
        go(waitedSeconds) {
          if (waitedSeconds > 0) tally.throttled(waitedSeconds);
          lanes[traits.lane].enqueue(job);
        },
      });
  };

  return {
    call(operation, args, patienceMs) {
      const { lane: name } = operationTraits[operation];
      if (closed) return Promise.resolve(failed("closed", "the store is closed"));
      if (pending[name] >= (name === "write" ? PENDING_WRITES_MAX : PENDING_READS_MAX)) {
        if (name === "write") tally.shed();
        return Promise.resolve(failed("overflow", `${pending[name]} operations are waiting already`));
      }
      return new Promise((resolve) => enqueue(newJob(operation, args, patienceMs, resolve)));
    },

    learn: (name, lesson) => lanes[name].learn(lesson),

    counters() {
      const [write, read, lease] = LANES.map((name) => lanes[name].load());
      return tally.read({
        bulk: {
          inflight: (write?.inflight ?? 0) + (read?.inflight ?? 0),
          capacity: 2 * LANE_WINDOW,
          peak: (write?.peak ?? 0) + (read?.peak ?? 0),
        },
        lease: { inflight: lease?.inflight ?? 0, capacity: LANE_WINDOW, peak: lease?.peak ?? 0 },
      });
    },

    pendingWrites: () => pending.write,

    async close(patienceMs) {
      closed = true;
      await new Promise<void>((resolve) => {
        if (live.size === 0) return resolve();
        const cancel = clock.after(patienceMs, resolve);
        onEmpty = () => {
          cancel();
          resolve();
        };
      });
      limiter.stop();
      const unfinished = live.size;
      const ends = await Promise.all(LANES.map((name) => lanes[name].end()));
      for (const job of live) job.settle({ kind: "unknown", because: "the store was closed" });
      return { unfinished, threads: ends.includes("hung") ? "hung" : "ended" };
    },
  };
}
