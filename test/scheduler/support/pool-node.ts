import type { PoolConfig } from "../../../src/config/model.ts";
import type { PoolDocument, PoolEntry } from "../../../src/contract/pool.ts";
import { createLockTrust } from "../../../src/journal/lock-trust.ts";
import { createPoolQueues, type PoolQueues } from "../../../src/scheduler/pool-queue.ts";
import type { HeadFacts, NewWork } from "../../../src/scheduler/pools.rules.ts";
import type { Operation } from "../../../src/store/engine.ts";
import type { LockFidelity, Store } from "../../../src/store/store.ts";
import { type JournalBench, journalBench } from "../../journal/support/journal-bench.ts";

/** One daemon's pools, with what it told its host. */
export interface PoolNode {
  readonly bench: JournalBench;
  readonly queues: PoolQueues;
  /** One line per thing that the host was told: `admitted a`, `admitted a without retries`, `lost a`, `left a expired`. */
  readonly told: string[];
  /** Names of the operations the store was asked for. */
  readonly asked: Operation[];
  /** What this node thinks of a job, beyond that it may run here. */
  readonly facts: Map<string, Partial<HeadFacts>>;
  /** The host gives back what is admitted. */
  refuses: boolean;
  configure(...pools: readonly PoolConfig[]): void;
  /** As if the process was killed: it asks and tells nothing any more. */
  kill(): void;
}

export const warehouse = (slots: number, maxQueued = 1000): PoolConfig => ({ name: "warehouse", slots, maxQueued });

export function work(id: string, facts: Partial<NewWork> = {}): NewWork {
  return {
    id,
    kind: "job",
    name: id,
    source: "schedule",
    slots: 1,
    priority: 0,
    timeoutMs: 3600_000,
    jobDigest: "d",
    pinnedTo: null,
    attempt: 0,
    retryEpoch: null,
    dag: null,
    ...facts,
  };
}

export const task = (id: string, facts: Partial<NewWork> = {}): NewWork =>
  work(id, {
    kind: "task",
    source: "dag",
    dag: { name: "d", runKey: "r", runId: "i", taskkey: id, poke: null },
    ...facts,
  });

let processes = 0;

export function poolNode(
  options: {
    readonly on?: JournalBench;
    readonly host?: string;
    readonly pool?: PoolConfig;
    readonly fidelity?: LockFidelity;
    /** Other nodes may work on the store; by default they do. */
    readonly topology?: "single-node" | "shared";
  } = {},
): PoolNode {
  const { on, host = "host-a", pool = warehouse(2), fidelity, topology = "shared" } = options;
  const bench = journalBench(on === undefined ? {} : { clock: on.clock, medium: on.medium });
  const asked: Operation[] = [];
  const told: string[] = [];
  const facts = new Map<string, Partial<HeadFacts>>();
  let alive = true;
  const store: Store = {
    ...bench.store,
    facts: { ...bench.store.facts, topology },
    leases: {
      ...bench.store.leases,
      fidelity: async (patience) =>
        fidelity === undefined ? bench.store.leases.fidelity(patience) : { kind: "done", value: fidelity },
    },
  };
  bench.behave((operation) => {
    asked.push(operation);
    return { kind: "answer" };
  });
  const backend = () => (alive && bench.backend() !== null ? store : null);
  const tell = (line: string): void => {
    if (alive) told.push(line);
  };
  const node: PoolNode = {
    bench: {
      ...bench,
      behave(conduct) {
        bench.behave((operation) => {
          asked.push(operation);
          return conduct === null ? { kind: "answer" } : conduct(operation);
        });
      },
    },
    told,
    asked,
    facts,
    refuses: false,
    queues: createPoolQueues({
      self: { host, proc: (++processes).toString(16).padStart(12, "0") },
      backend,
      locks: createLockTrust({ backend, log: bench.log }),
      clock: bench.clock,
      log: bench.log,
      host: {
        facts: ({ name }) => ({
          host,
          job: { digest: "d", isEnabled: true },
          isOwner: true,
          isPaused: false,
          isForbidden: false,
          ...facts.get(name),
        }),
        admitted(name, { id }, ladderEnded) {
          tell(`admitted ${id}${ladderEnded ? " without retries" : ""}`);
          if (node.refuses) node.queues.released(name, id);
        },
        lost: (_, { id }) => tell(`lost ${id}`),
        left: (_, { id, state, reason }) => tell(`left ${id} ${state}${reason === null ? "" : `: ${reason}`}`),
      },
    }),
    configure: (...pools) => node.queues.configure(new Map(pools.map((it) => [it.name, it]))),
    kill() {
      alive = false;
    },
  };
  node.configure(pool);
  return node;
}

/** Two nodes on one store. */
export function twoNodes(pool = warehouse(2)): { a: PoolNode; b: PoolNode; pass(ms: number): Promise<void> } {
  const on = journalBench();
  return {
    a: poolNode({ on, host: "host-a", pool }),
    b: poolNode({ on, host: "host-b", pool }),
    pass: on.pass,
  };
}

/** The stored queue of the pool. */
export function stored({ bench }: PoolNode): PoolDocument {
  const text = bench.medium.documents.get("pool")?.get("warehouse");
  if (text === undefined) throw new Error("the pool has no document");
  return JSON.parse(text).data;
}

/** `id state` of what waits or runs, and of what ended. */
export const states = (entries: readonly PoolEntry[]): string[] => entries.map(({ id, state }) => `${id} ${state}`);
