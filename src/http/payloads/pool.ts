import type { PoolEntry, PoolView } from "../../contract/pool.ts";
import type { Pools, QueueEntry } from "../../contract/wire/pool.ts";
import { isoInstant } from "../../journal/instant.ts";
import { instantOrNull } from "./run.ts";

/** All pools as `GET /pools` shows them. */
export function poolsPayload(views: readonly PoolView[]): Pools {
  return {
    pools: views.map(({ name, slots, used, queued, maxQueued, entries, recent }) => ({
      name,
      slots,
      used,
      queued,
      maxQueued,
      entries: entries.map(entryPayload),
      recent: recent.map(entryPayload),
    })),
  };
}

/** An entry of a queue, without what only nodes have to know of it. */
export function entryPayload(entry: PoolEntry): QueueEntry {
  const { id, kind, name, source, state, slots, priority, pinnedTo, attempt, holder, reason, dag } = entry;
  return {
    id,
    kind,
    name,
    source,
    state,
    slots,
    priority,
    enqueuedAt: isoInstant(entry.enqueuedAt),
    deadline: isoInstant(entry.deadline),
    pinnedTo,
    attempt,
    holder,
    leaseUntil: instantOrNull(entry.leaseUntil),
    startedAt: instantOrNull(entry.startedAt),
    finishedAt: instantOrNull(entry.finishedAt),
    reason,
    dag,
  };
}
