import type { PoolConfig } from "../config/model.ts";
import type { EndedEntry, PoolDocument, PoolEntry, PoolView, RunningEntry, WaitingEntry } from "../contract/pool.ts";
import type { EpochMs } from "../platform/clock.ts";

/*
 * What holds for a pool's document as it stands: whose turn it is, which retry sequences go on, what time alone changes. The
 * steps that change it, and the numbered rules, are in pools.rules.ts.
 */

/** Ended entries that are kept to be looked at. */
export const RECENT_MAX = 50;

export function emptyPool({ name, slots }: PoolConfig): PoolDocument {
  return { pool: name, slots, entries: [], retryScopes: {}, recent: [] };
}

/** One retry sequence for all nodes of the store; one per node for a job that runs on every node (F-26). */
export function retryScope(job: string, everyNodeHost: string | null): string {
  return everyNodeHost === null ? job : `${job}@${everyNodeHost}`;
}

/** Whether a retry sequence goes on as far as the pool knows: asked when one of its runs has failed (F-31). */
export function ladderStands(document: PoolDocument, scope: string, epoch: number): boolean {
  return epochOf(document, scope) === epoch;
}

/** The entry whose turn it is: highest priority, then longest in the queue, then smallest id (P2). */
export function headOf(document: PoolDocument): WaitingEntry | null {
  let head: WaitingEntry | null = null;
  for (const entry of document.entries) {
    if (entry.state === "waiting" && (head === null || goesBefore(entry, head))) head = entry;
  }
  return head;
}

/** All that waits, in the order of their turns. */
export function headsOf({ entries }: PoolDocument): readonly WaitingEntry[] {
  return entries
    .filter((entry): entry is WaitingEntry => entry.state === "waiting")
    .sort((a, b) => (goesBefore(a, b) ? -1 : 1));
}

export function poolView(stored: PoolDocument, pool: PoolConfig, now: EpochMs): PoolView {
  const document = withTime(stored, pool, now);
  return {
    name: pool.name,
    slots: document.slots,
    used: usedIn(document),
    queued: document.entries.filter((entry) => entry.state === "waiting").length,
    maxQueued: pool.maxQueued,
    entries: document.entries,
    recent: document.recent,
  };
}

/** When something in the document falls due by itself: the earliest deadline or end of a claim; Infinity when nothing does. */
export function nextChangeAt(document: PoolDocument): EpochMs {
  let earliest = Number.POSITIVE_INFINITY;
  for (const entry of document.entries) {
    if (entry.state === "waiting") earliest = Math.min(earliest, entry.deadline);
    else if (entry.state === "running") earliest = Math.min(earliest, entry.leaseUntil);
  }
  return earliest;
}

/**
 * What time alone does: claims run out, entries that waited too long or belong to an ended retry sequence leave the queue, ended
 * ones become history, a new capacity comes into force.
 */
export function withTime(document: PoolDocument, pool: PoolConfig, now: EpochMs): PoolDocument {
  const aged = document.entries.map((entry) => {
    const freed: PoolEntry = entry.state === "running" && entry.leaseUntil <= now ? { ...entry, ...WAITING } : entry;
    if (freed.state !== "waiting") return freed;
    if (freed.source === "retry" && isSuperseded(document, freed)) {
      return ended(freed, "cancelled", "its retry sequence has ended", now);
    }
    return freed.deadline <= now ? ended(freed, "expired", "queue timeout", now) : freed;
  });
  const entries = aged.filter(staysInQueue);
  const recent = [...document.recent, ...aged.filter((entry) => !staysInQueue(entry))].slice(-RECENT_MAX);
  const slots = entries.some(isLive) ? document.slots : pool.slots; // P6
  return { ...document, slots, entries, recent };
}

/** What an entry is while it waits, whatever it was before. */
export const WAITING = {
  state: "waiting",
  holder: null,
  leaseUntil: null,
  startedAt: null,
  finishedAt: null,
  reason: null,
} as const;

export function ended(
  entry: WaitingEntry | RunningEntry,
  state: EndedEntry["state"],
  reason: string | null,
  now: EpochMs,
): EndedEntry {
  return { ...entry, state, leaseUntil: null, finishedAt: now, reason };
}

/**
 * What is known by the id of work that asks for admission. What became of a job's start is remembered for as long as there is room. Of a
 * task's the workflow engine knows better: it asks for what its document says has not run, so that only what is not done with counts.
 */
export function knownEntry(
  { entries, recent }: PoolDocument,
  { id, kind }: Pick<PoolEntry, "id" | "kind">,
): PoolEntry | undefined {
  return (kind === "task" ? entries : [...entries, ...recent]).find((entry) => entry.id === id);
}

export function replaced(document: PoolDocument, entry: PoolEntry): PoolDocument {
  return { ...document, entries: document.entries.map((it) => (it.id === entry.id ? entry : it)) };
}

export function isLive(entry: PoolEntry): boolean {
  return entry.state === "waiting" || entry.state === "running";
}

/** P5: a task that came to nothing in the queue is news for the workflow engine. */
function staysInQueue(entry: PoolEntry): boolean {
  return isLive(entry) || (entry.kind === "task" && entry.state !== "done");
}

export function isHeldBy(entry: PoolEntry, holder: string): entry is RunningEntry {
  return entry.state === "running" && entry.holder === holder;
}

export function usedIn(document: PoolDocument): number {
  return document.entries.reduce((sum, entry) => sum + (entry.state === "running" ? entry.slots : 0), 0);
}

/** What counts against `maxQueued`: all that waits, and ended tasks nobody took note of (P5). */
export function queuedIn(document: PoolDocument): number {
  return document.entries.filter((entry) => entry.state !== "running").length;
}

function goesBefore(a: WaitingEntry, b: WaitingEntry): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.enqueuedAt !== b.enqueuedAt) return a.enqueuedAt < b.enqueuedAt;
  return a.id < b.id;
}

export function isFire({ source }: Pick<PoolEntry, "source">): boolean {
  return source === "schedule" || source === "reboot";
}

/** The sequence an entry of a job belongs to: what is pinned and not started by hand is of a job that runs on every node. */
export function scopeOf({ name, source, pinnedTo }: Pick<PoolEntry, "name" | "source" | "pinnedTo">): string {
  return retryScope(name, source === "manual" ? null : pinnedTo);
}

export function isSuperseded(document: PoolDocument, entry: PoolEntry): boolean {
  return epochOf(document, scopeOf(entry)) !== entry.retryEpoch;
}

export function epochOf({ retryScopes }: PoolDocument, scope: string): number {
  return (Object.hasOwn(retryScopes, scope) ? retryScopes[scope]?.epoch : undefined) ?? 0;
}
