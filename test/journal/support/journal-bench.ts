import type { Logger } from "../../../src/contract/log.ts";
import type { Backend } from "../../../src/journal/backend.ts";
import { createDrops, type Drops } from "../../../src/journal/drops.ts";
import { createWriteQueue, type WriteQueue } from "../../../src/journal/write-queue.ts";
import { type SimulatedClock, simulatedClock } from "../../../src/platform/simulated-clock.ts";
import type { Operation } from "../../../src/store/engine.ts";
import type { Conduct } from "../../../src/store/front/in-thread.ts";
import type { JsonObject } from "../../../src/store/json.ts";
import { type MemoryMedium, memoryMedium } from "../../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../../src/store/memory/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { writtenLog } from "../../support/node.ts";

/** What the services of the journal stand on, in memory and on virtual time. Several nodes may share a medium. */
export interface JournalBench {
  readonly clock: SimulatedClock;
  readonly medium: MemoryMedium;
  readonly topology: "single-node" | "shared";
  readonly store: Store;
  readonly backend: Backend;
  readonly log: Logger;
  readonly logged: string[];
  readonly drops: Drops;
  readonly writes: WriteQueue;
  /** How operations behave from now on; by default all are answered. */
  behave(conduct: ((operation: Operation) => Conduct) | null): void;
  /** As if the backend could not be started. */
  unplug(): void;
  plugIn(): void;
  /** Puts a record body into a stream as another writer would, and waits until it is there. */
  put(stream: string, body: JsonObject): Promise<void>;
  /** Bodies of a stream, oldest first. */
  bodies(stream: string): Promise<readonly JsonObject[]>;
  /** Lets time pass, and everything due with it. */
  pass(milliseconds: number): Promise<void>;
}

export const NOON = Date.parse("2026-11-30T12:00:00Z");

let writer = 0;

export function journalBench(
  shared: Partial<Pick<JournalBench, "clock" | "medium" | "topology">> & { readonly at?: string } = {},
): JournalBench {
  const clock = shared.clock ?? simulatedClock(shared.at === undefined ? NOON : Date.parse(shared.at));
  const medium = shared.medium ?? memoryMedium();
  const topology = shared.topology ?? "shared";
  let conduct: ((operation: Operation) => Conduct) | null = null;
  let plugged = true;
  const open = (behaviour: (operation: Operation) => Conduct): Store =>
    openMemoryStore({ medium, clock, topology, writer: (writer++).toString(16).padStart(12, "0"), conduct: behaviour });
  const store = open((operation) => conduct?.(operation) ?? { kind: "answer" });
  const hand = open(() => ({ kind: "answer" }));
  const logged: string[] = [];
  const log = writtenLog(logged);
  const drops = createDrops(log);
  return {
    clock,
    medium,
    topology,
    store,
    backend: () => (plugged ? store : null),
    log,
    logged,
    drops,
    writes: createWriteQueue(clock, drops),
    behave: (next) => {
      conduct = next;
    },
    unplug: () => {
      plugged = false;
    },
    plugIn: () => {
      plugged = true;
    },
    async put(stream, body) {
      const outcome = await hand.records.append(stream, body);
      if (outcome.kind !== "done") throw new Error(`the record did not land: ${JSON.stringify(outcome)}`);
    },
    async bodies(stream) {
      const found = await hand.records.list(stream, { order: "oldest first", limit: 10_000, reading: "tolerant" });
      if (found.kind !== "done") throw new Error(`the stream cannot be read: ${JSON.stringify(found)}`);
      return found.value.map(({ data }) => data);
    },
    pass: (milliseconds) => clock.runUntilSettled(clock.wallNow() + milliseconds),
  };
}

/** Every operation of these kinds fails. */
export function failing(...operations: readonly Operation[]): (operation: Operation) => Conduct {
  return (operation) =>
    operations.length === 0 || operations.includes(operation)
      ? { kind: "fail", message: "the disk is full" }
      : { kind: "answer" };
}

/** Every operation of these kinds is never answered, and never done. */
export function hanging(...operations: readonly Operation[]): (operation: Operation) => Conduct {
  return (operation) =>
    operations.length === 0 || operations.includes(operation) ? { kind: "silent", lands: false } : { kind: "answer" };
}
