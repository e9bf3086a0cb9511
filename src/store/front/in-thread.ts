import type { Clock } from "../../platform/clock.ts";
import { attempt } from "../attempt.ts";
import { type ArgumentsOf, type Engine, type Operation, operationTraits, type ResultOf } from "../engine.ts";
import { type Executor, failed, newTally } from "../executor.ts";
import { PENDING_WRITES_MAX } from "../limits.ts";
import type { Outcome, Store } from "../store.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { storeOver } from "./store.ts";

/** How the store behaves for one operation. */
export type Conduct =
  | { readonly kind: "answer" }
  /** Takes this long; operations of its lane wait for it. Infinity: hangs. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** Answers with an error of the medium, having done nothing. */
  | { readonly kind: "fail"; readonly message: string }
  /** Never answers; `lands` tells whether it was done. */
  | { readonly kind: "silent"; readonly lands: boolean };

export interface InThreadOptions {
  readonly clock: Clock;
  /** By default shared, as stores on one medium are. */
  readonly topology?: "single-node" | "shared";
  /** Asked before each operation; by default every one is answered at once. */
  readonly conduct?: (operation: Operation, args: ArgumentsOf<Operation>) => Conduct;
  /** Told of each operation the moment it has been done, whether or not its caller will hear of it. */
  readonly onDone?: (operation: Operation, args: ArgumentsOf<Operation>) => void;
}

/**
 * A store whose engine works in this very thread, on the clock it is given, as good or as bad as `conduct` says. Deterministic if the
 * engine is. For tests and simulations: a daemon's own store never does I/O in its main thread.
 */
export function openInThread(engine: Engine, { clock, topology, conduct, onDone }: InThreadOptions): Store {
  const tally = newTally();
  const inTurn = oneAtATime();
  let pendingWrites = 0;
  let underWay = 0;
  let onIdle: (() => void) | null = null;
  let closed = false;

  const perform = <K extends Operation>(operation: K, args: ArgumentsOf<K>): Outcome<ResultOf<K>> => {
    const found = attempt(engine, operation, args);
    const outcome =
      found.kind === "busy" ? failed("io", "a lock that one thread takes and gives back is never busy") : found;
    tally.finished(operationTraits[operation].label, outcome.kind !== "done", 0);
    onDone?.(operation, args);
    return outcome;
  };

  /** Answers, or stays silent as "nothing". */
  const behave = async <K extends Operation>(
    operation: K,
    args: ArgumentsOf<K>,
  ): Promise<Outcome<ResultOf<K>> | "nothing"> => {
    const way = conduct?.(operation, args) ?? { kind: "answer" };
    if (way.kind === "fail") {
      tally.finished(operationTraits[operation].label, true, 0);
      return failed("io", way.message);
    }
    if (way.kind === "silent") {
      if (way.lands) perform(operation, args);
      return "nothing";
    }
    if (way.kind === "slow") await new Promise<void>((resolve) => clock.after(way.delayMs, resolve));
    return perform(operation, args);
  };

  const executor: Executor = {
    async call(operation, args, deadlineMs) {
      if (closed) return failed("closed", "the store is closed");
      const { lane } = operationTraits[operation];
      if (lane === "write" && pendingWrites >= PENDING_WRITES_MAX) {
        tally.shed();
        return failed("overflow", `${pendingWrites} operations are waiting already`);
      }
      underWay++;
      if (lane === "write") pendingWrites++;
      const answer = inTurn(lane, () => behave(operation, args)).finally(() => {
        if (lane === "write") pendingWrites--;
        if (--underWay === 0) onIdle?.();
      });
      return withinDeadline(answer, deadlineMs);
    },
    learn: () => undefined,
    counters: () => tally.read({ bulk: idle, lease: idle }),
    pendingWrites: () => pendingWrites,
    async close(patienceMs) {
      closed = true;
      await new Promise<void>((resolve) => {
        if (underWay === 0) return resolve();
        const cancel = clock.after(patienceMs, resolve);
        onIdle = () => {
          cancel();
          resolve();
        };
      });
      return { unfinished: underWay, threads: "ended" };
    },
  };

  const withinDeadline = <T>(answer: Promise<Outcome<T> | "nothing">, deadlineMs: number): Promise<Outcome<T>> =>
    new Promise((resolve) => {
      const cancel = clock.after(deadlineMs, () =>
        resolve({ kind: "unknown", because: `no answer within ${deadlineMs / 1000} s` }),
      );
      void answer.then((outcome) => {
        if (outcome === "nothing") return;
        cancel();
        resolve(outcome);
      });
    });

  return storeOver(executor, engine.start({ topology: topology ?? "shared" }), clock.elapsedNow);
}

const idle = { inflight: 0, capacity: 0, peak: 0 };
