import type { PoolDocument } from "../../../src/contract/pool.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact, SimProcess } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant, type Trouble } from "./invariant.ts";

/** A claim lasts half a minute; what failed its renewal shortly before may have cost it. */
const CLAIM_LOST_WITHIN_MS = 60_000;

/** Free slots reach the head of a queue by then: a dead claim lapses, a node looks, Forbid lets the longest run end. */
const ADMITTED_WITHIN_MS = 20 * 60_000;

/**
 * A pool never has more holders than slots, in its document and, while the store answers, in processes; and nothing waits for ever for slots
 * that are free (running 19.4).
 *
 * Processes of a daemon that is gone hold nothing after their claim has lapsed, and neither do those whose renewals a store or clock failed.
 */
export function poolSlots(world: World, trouble: Trouble): Invariant {
  const live = new Map<string, { readonly process: SimProcess; readonly at: EpochMs }>();
  const documents = new Map<string, PoolDocument>();
  const gone = new Set<string>();
  /** Since when a pool has had room for its head. */
  const roomSince = new Map<string, { readonly head: string; readonly at: EpochMs }>();

  const overfull = (name: string): string | null => {
    const slots = world.pools.get(name)?.slots ?? Number.POSITIVE_INFINITY;
    const holders = [...live.values()].filter(({ process, at }) => {
      const { daemon, job } = process;
      if (job.launch.pool?.pool !== name || gone.has(daemon.proc)) return false;
      const since = at - CLAIM_LOST_WITHIN_MS;
      return !trouble.since(daemon.host, null, since) && !trouble.clockSince(daemon.host, since);
    });
    const used = holders.reduce((sum, { process }) => sum + (process.job.launch.pool?.slots ?? 0), 0);
    if (used <= slots) return null;
    return `${name} of ${slots} slots has ${used} taken, by ${holders.map(({ process, at }) => `${process.job.name} on ${process.daemon.host} since ${clockTime(at)}`).join(", ")}`;
  };

  const usedIn = ({ entries }: PoolDocument): number =>
    entries.reduce((sum, { state, slots }) => sum + (state === "running" ? slots : 0), 0);

  return {
    promise: "a pool has no more holders than slots, and nobody waits for ever for free ones (running 19.4, D-POL-7)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "process started": {
          const { pool } = fact.process.job.launch;
          if (pool === null) return null;
          live.set(fact.process.runId, { process: fact.process, at: fact.at });
          return overfull(pool.pool);
        }
        case "process ended":
          live.delete(fact.process.runId);
          return null;
        case "daemon ended":
          gone.add(fact.daemon.proc);
          return null;
        case "pool written": {
          const { document } = fact;
          documents.set(document.pool, document);
          const used = usedIn(document);
          if (used > document.slots) return `${document.pool} of ${document.slots} slots has ${used} claimed`;
          const [head] = document.entries
            .filter(({ state }) => state === "waiting")
            .sort((a, b) => b.priority - a.priority || a.enqueuedAt - b.enqueuedAt || (a.id < b.id ? -1 : 1));
          const hasRoom = head !== undefined && head.slots <= document.slots - used;
          const before = roomSince.get(document.pool);
          if (!hasRoom) roomSince.delete(document.pool);
          else if (before?.head !== head.id) roomSince.set(document.pool, { head: head.id, at: fact.at });
          return null;
        }
        default:
          return null;
      }
    },
    atEnd() {
      for (const [pool, { head, at }] of roomSince) {
        const now = world.time.now();
        if (now - at > ADMITTED_WITHIN_MS)
          return `${pool} has had room for its head ${head} since ${clockTime(at)}, and has not let it in: ${JSON.stringify(documents.get(pool)?.entries)}`;
      }
      for (const [pool, document] of documents) {
        for (const { state, holder, leaseUntil, name } of document.entries)
          if (state === "running" && leaseUntil < world.time.now() - ADMITTED_WITHIN_MS)
            return `${pool}: ${holder} has held ${name} since its claim ran out at ${clockTime(leaseUntil)}`;
      }
      return null;
    },
  };
}
