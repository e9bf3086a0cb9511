import type { PoolConfig } from "../config/model.ts";
import type { EndedEntry, PoolDocument, PoolEntry, RunningEntry, WaitingEntry } from "../contract/pool.ts";
import type { EpochMs } from "../platform/clock.ts";
import {
  ended,
  epochOf,
  headOf,
  isFire,
  isHeldBy,
  isLive,
  isSuperseded,
  knownEntry,
  queuedIn,
  replaced,
  scopeOf,
  usedIn,
  WAITING,
  withTime,
} from "./pool-document.rules.ts";

/*
 * The steps of a pool's queue (running 19): each takes the stored document and gives the one to store in its place, for one
 * read-modify-write under the document's lock. Each begins by letting time do its work (`withTime`).
 *
 * P1. Slots of running entries never exceed the capacity in force.
 * P2. Strict order: only the head of the queue is admitted, whatever keeps it waiting.
 * P3. Waiting uses up no attempt, and an entry that goes back to the queue keeps its place and its deadline.
 * P4. A claim is its holder's until somebody else has seen it expire; a renewal or completion that comes before that counts.
 * P5. A task entry that expired or was cancelled stays, and counts as queued, until the workflow engine took note; all else that
 *     ended becomes history.
 * P6. The capacity changes only when nothing is queued or running.
 */

/** How long a claim holds without being renewed. Renew every `CLAIM_RENEWAL_MS`. */
export const CLAIM_MS = 30_000;
export const CLAIM_RENEWAL_MS = 10_000;

/** Why the workflow engine takes an entry out of the queue (D-POL-6). */
export const TASK_NO_LONGER_WAITS = "task is no longer waiting";

export interface Step<Answer> {
  readonly document: PoolDocument;
  readonly answer: Answer;
}

/** What asks for admission. `retryEpoch`: for a retry, that of its sequence. */
export interface NewWork {
  readonly id: string;
  readonly kind: PoolEntry["kind"];
  readonly name: string;
  readonly source: PoolEntry["source"];
  readonly slots: number;
  readonly priority: number;
  readonly timeoutMs: number;
  readonly jobDigest: string;
  readonly pinnedTo: string | null;
  readonly attempt: number;
  readonly retryEpoch: number | null;
  readonly dag: PoolEntry["dag"];
}

export type EnqueueAnswer =
  /** It waits, or did already, or is what became of this id before: asking twice never queues twice. */
  | { readonly kind: "queued"; readonly entry: PoolEntry }
  /** The retry's sequence has ended meanwhile; it is not to run. */
  | { readonly kind: "superseded" }
  | { readonly kind: "refused"; readonly why: string };

/** Puts work into the queue. A scheduled or boot fire ends the job's retry sequence first, also when it is then refused (F-21). */
export function enqueue(before: PoolDocument, pool: PoolConfig, work: NewWork, now: EpochMs): Step<EnqueueAnswer> {
  const scope = scopeOf(work);
  let document = withTime(before, pool, now);
  const known = knownEntry(document, work);
  if (known !== undefined) return { document, answer: { kind: "queued", entry: known } };
  if (isFire(work)) document = endLadder(document, pool, scope, now).document;
  const epoch = epochOf(document, scope);
  if (work.source === "retry" && work.retryEpoch !== epoch) return { document, answer: { kind: "superseded" } };
  const why = obstacle(document, pool, work);
  if (why !== null) return { document, answer: { kind: "refused", why } };
  const { timeoutMs, ...facts } = work;
  const entry: WaitingEntry = {
    ...facts,
    retryEpoch: epoch,
    enqueuedAt: inLine(document.entries, now),
    deadline: now + timeoutMs,
    ...WAITING,
  };
  return { document: { ...document, entries: [...document.entries, entry] }, answer: { kind: "queued", entry } };
}

/** After all that came within this millisecond: of one burst the first asked for is the first in line, not the one of the lowest id. */
function inLine(entries: readonly PoolEntry[], now: EpochMs): EpochMs {
  let at = now;
  for (const { enqueuedAt } of entries) if (enqueuedAt >= at && enqueuedAt < now + 1) at = enqueuedAt + MICROSECOND_MS;
  return at;
}

const MICROSECOND_MS = 0.001;

function obstacle(document: PoolDocument, pool: PoolConfig, { slots }: NewWork): string | null {
  const live = document.entries.filter(isLive).length;
  if (document.slots !== pool.slots) {
    return `its capacity changes from ${document.slots} to ${pool.slots} slots when the ${live} entries before have drained`;
  }
  if (slots > document.slots) return `${slots} slots are asked for and it has ${document.slots}`;
  if (queuedIn(document) >= pool.maxQueued) return `its queue is full (${pool.maxQueued} entries)`;
  return null;
}

/** Ends the retry sequence of a scope: retries of it that wait are cancelled, a fire that waits will run without (F-19, F-26). */
export function endLadder(
  before: PoolDocument,
  pool: PoolConfig,
  scope: string,
  now: EpochMs,
): Step<{ epoch: number }> {
  const epoch = epochOf(before, scope) + 1;
  const retryScopes = { ...before.retryScopes, [scope]: { epoch } };
  return { document: withTime({ ...before, retryScopes }, pool, now), answer: { epoch } };
}

/**
 * Ends the retry sequence that had epoch `upTo`, unless it has ended since: what is written twice because nobody knows whether it
 * landed ends no later sequence.
 */
export function endLadderUpTo(
  before: PoolDocument,
  pool: PoolConfig,
  { scope, upTo }: { readonly scope: string; readonly upTo: number },
  now: EpochMs,
): Step<{ epoch: number }> {
  const epoch = epochOf(before, scope);
  if (epoch <= upTo) return endLadder(before, pool, scope, now);
  return { document: withTime(before, pool, now), answer: { epoch } };
}

/** What the node that would run the head knows of it. `job` null: not in its configuration. */
export interface HeadFacts {
  readonly host: string;
  readonly job: { readonly digest: string; readonly isEnabled: boolean } | null;
  readonly isOwner: boolean;
  readonly isPaused: boolean;
  /** An instance runs on this node and the job's concurrencyPolicy is Forbid. */
  readonly isForbidden: boolean;
}

export type HeadVerdict =
  | { readonly verdict: "admit" }
  | { readonly verdict: "wait"; readonly because: "pinned elsewhere" | "not owner" | "paused" | "forbidden" }
  | { readonly verdict: "cancel"; readonly because: string };

/**
 * Whether this node should admit the head now. A manual start goes past pause and ownership, as it does without a pool; pauses were
 * also judged when a fire came.
 */
export function judgeHead(head: WaitingEntry, facts: HeadFacts): HeadVerdict {
  if (head.pinnedTo !== null && head.pinnedTo !== facts.host) return { verdict: "wait", because: "pinned elsewhere" };
  if (facts.job === null) return { verdict: "cancel", because: "the job is gone from the configuration" };
  if (!facts.job.isEnabled) return { verdict: "cancel", because: "the job has been disabled" };
  if (facts.job.digest !== head.jobDigest) return { verdict: "cancel", because: "the job has been changed" };
  const isManual = head.source === "manual";
  if (!facts.isOwner && !isManual) return { verdict: "wait", because: "not owner" };
  if (facts.isPaused && !isManual) return { verdict: "wait", because: "paused" };
  if (facts.isForbidden) return { verdict: "wait", because: "forbidden" };
  return { verdict: "admit" };
}

export type AdmitAnswer =
  /** It is this holder's to run. `ladderEnded`: a newer fire, a success or a cancel came since it was queued, so without retries. */
  | { readonly kind: "admitted"; readonly entry: RunningEntry; readonly ladderEnded: boolean }
  | { readonly kind: "no room"; readonly freeSlots: number }
  /** Another entry's turn has come, or this one is gone. */
  | { readonly kind: "not its turn" };

/** Claims the head for a node that has judged it. All its slots have to be free; nothing overtakes it meanwhile (P1, P2). */
export function admit(
  before: PoolDocument,
  pool: PoolConfig,
  { id, holder }: { readonly id: string; readonly holder: string },
  now: EpochMs,
): Step<AdmitAnswer> {
  const document = withTime(before, pool, now);
  const head = headOf(document);
  if (head === null || head.id !== id) return { document, answer: { kind: "not its turn" } };
  const freeSlots = document.slots - usedIn(document);
  if (head.slots > freeSlots) return { document, answer: { kind: "no room", freeSlots } };
  const entry: RunningEntry = { ...head, state: "running", holder, leaseUntil: now + CLAIM_MS, startedAt: now };
  const ladderEnded = isFire(head) && isSuperseded(document, head);
  return { document: replaced(document, entry), answer: { kind: "admitted", entry, ladderEnded } };
}

/** Extends a holder's claims. Those that are not its any more are lost: their processes have to be stopped (P4). */
export function renew(
  before: PoolDocument,
  pool: PoolConfig,
  { holder, ids }: { readonly holder: string; readonly ids: readonly string[] },
  now: EpochMs,
): Step<{ readonly lost: readonly string[] }> {
  const asked = new Set(ids);
  const lost = new Set(ids);
  const entries = before.entries.map((entry) => {
    if (!asked.has(entry.id) || !isHeldBy(entry, holder)) return entry;
    lost.delete(entry.id);
    return { ...entry, leaseUntil: now + CLAIM_MS };
  });
  return { document: withTime({ ...before, entries }, pool, now), answer: { lost: [...lost] } };
}

/** Takes back work whose queueing nobody was told of, without a trace: asked for again, it is new. What runs or has ended stays. */
export function withdraw(before: PoolDocument, pool: PoolConfig, id: string, now: EpochMs): Step<null> {
  const entries = before.entries.filter((entry) => entry.id !== id || entry.state !== "waiting");
  return { document: withTime({ ...before, entries }, pool, now), answer: null };
}

export type ClaimAnswer = "done" | "lost";

/** Ends a claim: command and verification are over. Telling it twice is harmless. */
export function complete(
  before: PoolDocument,
  pool: PoolConfig,
  { id, holder }: { readonly id: string; readonly holder: string },
  now: EpochMs,
): Step<ClaimAnswer> {
  const claim = before.entries.find((entry) => entry.id === id);
  if (claim !== undefined && isHeldBy(claim, holder)) {
    return { document: withTime(replaced(before, ended(claim, "done", null, now)), pool, now), answer: "done" };
  }
  const wasCompleted = before.recent.some(
    (entry) => entry.id === id && entry.state === "done" && entry.holder === holder,
  );
  return { document: withTime(before, pool, now), answer: wasCompleted ? "done" : "lost" };
}

/** Gives a claim back unused: nothing ran, and it waits again where it stood (P3). */
export function release(
  before: PoolDocument,
  pool: PoolConfig,
  { id, holder }: { readonly id: string; readonly holder: string },
  now: EpochMs,
): Step<ClaimAnswer> {
  const claim = before.entries.find((entry) => entry.id === id);
  if (claim === undefined || !isHeldBy(claim, holder)) return { document: withTime(before, pool, now), answer: "lost" };
  return { document: withTime(replaced(before, { ...claim, ...WAITING }), pool, now), answer: "done" };
}

export type CancelAnswer =
  | { readonly kind: "cancelled"; readonly entry: EndedEntry }
  | { readonly kind: "unknown" }
  /** It runs, or ran: there is nothing left to cancel in the queue. */
  | { readonly kind: "refused"; readonly why: string };

/** Takes an entry out of the queue; cancelling it again gives the same answer. What runs is cancelled as a run, not here. */
export function cancelEntry(
  before: PoolDocument,
  pool: PoolConfig,
  { id, because }: { readonly id: string; readonly because: string },
  now: EpochMs,
): Step<CancelAnswer> {
  const document = withTime(before, pool, now);
  const entry = [...document.entries, ...document.recent].find((it) => it.id === id);
  if (entry === undefined) return { document, answer: { kind: "unknown" } };
  if (entry.state === "waiting") {
    const cancelled = ended(entry, "cancelled", because, now);
    return {
      document: withTime(replaced(document, cancelled), pool, now),
      answer: { kind: "cancelled", entry: cancelled },
    };
  }
  if (entry.state === "cancelled") return { document, answer: { kind: "cancelled", entry } };
  const why =
    entry.state === "running"
      ? `queue entry ${id} is already running; cancel ${entry.kind} ${entry.name} instead`
      : `queue entry ${id} is already ${entry.state}`;
  return { document, answer: { kind: "refused", why } };
}

/**
 * The workflow engine is through with a task's entry: it took note of its end, or the task waits no longer. A running entry stays:
 * its holder ends it.
 */
export function retire(before: PoolDocument, pool: PoolConfig, id: string, now: EpochMs): Step<null> {
  const entry = before.entries.find((it) => it.id === id);
  if (entry === undefined || entry.state === "running") return { document: withTime(before, pool, now), answer: null };
  const last = entry.state === "waiting" ? ended(entry, "cancelled", TASK_NO_LONGER_WAITS, now) : entry;
  const entries = before.entries.filter((it) => it.id !== id);
  return { document: withTime({ ...before, entries, recent: [...before.recent, last] }, pool, now), answer: null };
}

/** Forgets the retry sequences of jobs that are gone. Those of entries that wait or run stay. */
export function forgetScopes(
  before: PoolDocument,
  pool: PoolConfig,
  known: ReadonlySet<string>,
  now: EpochMs,
): Step<null> {
  const inUse = new Set(before.entries.map(scopeOf));
  const kept = Object.entries(before.retryScopes).filter(([scope]) => known.has(scope) || inUse.has(scope));
  return { document: withTime({ ...before, retryScopes: Object.fromEntries(kept) }, pool, now), answer: null };
}
