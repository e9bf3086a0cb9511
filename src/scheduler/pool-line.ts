import type { PoolConfig } from "../config/model.ts";
import type { EndedEntry, PoolDocument, PoolEntry, RunningEntry, WaitingEntry } from "../contract/pool.ts";
import type { Clock } from "../platform/clock.ts";
import { type Asked, type AskedFor, poolAsk } from "./pool-ask.ts";
import { isLive, nextChangeAt, withTime } from "./pool-document.rules.ts";
import { planHeads } from "./pool-heads.rules.ts";
import { applyItems, type PoolItem, type PoolStep, poolItem } from "./pool-items.ts";
import { nextPassInMs, waits } from "./pool-passes.rules.ts";
import type { PoolStore, PoolTrouble } from "./pool-store.ts";
import {
  admit,
  CLAIM_RENEWAL_MS,
  type ClaimAnswer,
  cancelEntry,
  complete,
  type HeadFacts,
  release,
  renew,
} from "./pools.rules.ts";

/** What becomes of a pool's work at this node. Nothing here throws or waits. */
export interface PoolHost {
  /** What this node knows of an entry whose turn it is; asked right before it is claimed. */
  facts(entry: WaitingEntry): HeadFacts;
  /**
   * The claim is this node's: start it now, or give it back with `released`. `ladderEnded`: a newer fire, a success or a cancel came
   * since it was queued, so without retries.
   */
  admitted(pool: string, entry: RunningEntry, ladderEnded: boolean): void;
  /** Another node has the claim, or may have it: stop the process, as cancelled. */
  lost(pool: string, entry: RunningEntry): void;
  /**
   * An entry that this process queued has ended without having been admitted here: it expired, was cancelled, or another node ran it
   * ("done", also when the pool remembers nothing of it any more).
   */
  left(pool: string, entry: EndedEntry): void;
}

/**
 * One pool as this node works it: what it runs there, what it has to tell the document, and when it looks at the head.
 *   Q1. One turn at a time, and all that a turn has to write goes in one read-modify-write, renewals first: a claim of this node never
 *       runs out by its own hand, also after the machine was asleep (P4).
 *   Q2. What has to be told (a completion, an end of retries) is told again each pass until the store confirms it.
 *   Q3. Whoever asks is answered within 5 s. What lands after its asker was told that it did not is undone.
 *   Q4. A claim nobody here knows of is one whose answer never came: it goes back to the queue.
 *   Q5. While nothing waits, runs or has to be told there is no traffic; on a shared store one look every 10 s, because another node
 *       may have died and left work behind.
 *   Q6. After `stop` nothing is admitted. What runs is renewed until it has ended.
 */
export interface PoolLine {
  readonly config: PoolConfig;
  /** Null: it is configured no more. What runs in it goes on. */
  configure(config: PoolConfig | null): void;
  /** Changes the document and answers within 5 s (Q3). */
  ask<A>(step: PoolStep<A>, hears?: AskedFor<A>): Promise<Asked<A>>;
  /** Has the document changed sooner or later (Q2); by `key` there is one such errand. */
  owe<A>(key: string, step: PoolStep<A>, hears?: Owed<A>): void;
  /** Something is to be told yet. */
  readonly owes: boolean;
  /** What happens to this entry is told as `left`. */
  follow(entry: PoolEntry): void;
  unfollow(id: string): void;
  isFollowed(id: string): boolean;
  finished(id: string, how: "completed" | "released"): void;
  /** Looks at the head soon, if anything waits. */
  kick(): void;
  stop(): void;
  /** Another backend: nothing of the old one is told or renewed any more. */
  forget(): void;
  /** Tells what is to be told once more, and is done. */
  close(): Promise<void>;
  /** Neither runs nor owes anything, and is configured no more. */
  readonly isSpent: boolean;
}

export interface Owed<A> {
  landed?(answer: A): void;
  missed?(): void;
}

export function createPoolLine(
  parts: {
    readonly holder: string;
    readonly store: PoolStore;
    readonly host: PoolHost;
    readonly clock: Clock;
    readonly isShared: () => boolean;
    readonly onLostCompletion: (pool: string, entry: RunningEntry) => void;
  },
  initial: PoolConfig,
): PoolLine {
  const { holder, store, host, clock, isShared, onLostCompletion } = parts;
  let config = initial;
  let isConfigured = true;
  /** As it was read or written last; null before that. */
  let document: PoolDocument | null = null;
  const running = new Map<string, RunningEntry>();
  /** Claims that are over and whose end is to be told yet; without a renewal of their own (19.4.8). */
  const closing = new Map<string, RunningEntry>();
  const followed = new Map<string, PoolEntry>();
  const errands = new Map<string, PoolItem>();
  let asks: PoolItem[] = [];
  let renewedAtMs = clock.elapsedNow();
  let stopped = false;
  let closed = false;
  let turning: Promise<void> | null = null;
  let again = false;
  /** Counts backends: what was asked of one is no answer of the next. */
  let era = 0;
  let cancelTimer = (): void => undefined;

  const owe = <A>(key: string, step: PoolStep<A>, hears: Owed<A> = {}): void => {
    const errand = poolItem(
      step,
      (answer) => {
        if (errands.get(key) === errand) errands.delete(key);
        hears.landed?.(answer);
      },
      () => hears.missed?.(),
    );
    errands.delete(key); // a newer one goes last
    errands.set(key, errand);
  };

  /** Q1. In the same write as a completion it extends that claim too: it is ours until somebody has seen it expire (P4). */
  const renewal = (): PoolItem[] => {
    const ids = [...running.keys(), ...closing.keys()];
    if (ids.length === 0) return [];
    return [
      poolItem(
        (before, pool, now) => renew(before, pool, { holder, ids }, now),
        ({ lost }) => {
          for (const id of lost) {
            const entry = running.get(id);
            if (!running.delete(id) || entry === undefined) continue;
            followed.delete(id);
            host.lost(config.name, entry);
          }
        },
      ),
    ];
  };

  const write = async (extra: readonly PoolItem[]): Promise<PoolDocument | null> => {
    const items = [...renewal(), ...errands.values(), ...asks, ...extra];
    asks = [];
    const asked = era;
    const askedAtMs = clock.elapsedNow();
    const pool = config;
    const written = await store.change(pool, (before, now) => {
      const { document: after, answer } = applyItems(items, before, pool, now);
      return { document: withTime(after, pool, now), answer };
    });
    if (written.kind === "changed" && era === asked) {
      written.answer();
      renewedAtMs = askedAtMs;
      return seen(written.document);
    }
    const trouble: PoolTrouble = written.kind === "changed" ? replaced : written;
    for (const item of items) item.missed(trouble);
    return null;
  };

  const look = async (): Promise<PoolDocument | null> => {
    const asked = era;
    const found = await store.read(config);
    return found.kind === "read" && era === asked ? seen(found.document) : null;
  };

  const seen = (now: PoolDocument): PoolDocument => {
    document = now;
    const byId = new Map(now.recent.map((entry) => [entry.id, entry]));
    for (const entry of now.entries) byId.set(entry.id, entry);
    for (const entry of now.entries) {
      const isOurs = entry.state === "running" && entry.holder === holder;
      if (isOurs && !running.has(entry.id) && !closing.has(entry.id)) giveBack(entry); // Q4
    }
    for (const [id, last] of followed) {
      if (running.has(id) || closing.has(id)) continue;
      const entry = byId.get(id) ?? forgotten(last, clock.wallNow());
      if (isLive(entry)) followed.set(id, entry);
      else {
        followed.delete(id);
        if (entry.state !== "waiting" && entry.state !== "running") host.left(config.name, entry);
      }
    }
    return now;
  };

  const end = (entry: RunningEntry, step: PoolStep<ClaimAnswer>, landed: (answer: ClaimAnswer) => void): void => {
    closing.set(entry.id, entry);
    owe(`claim ${entry.id}`, step, {
      landed(answer) {
        closing.delete(entry.id);
        landed(answer);
      },
    });
  };

  const giveBack = (entry: RunningEntry): void => {
    end(
      entry,
      (before, pool, now) => release(before, pool, { id: entry.id, holder }, now),
      () => undefined,
    );
  };

  /** Nobody works a pool that is gone: what was queued here in its time is not to wait in it until it expires. */
  const takeBack = (): void => {
    const because = "the pool is gone from the configuration";
    for (const id of followed.keys()) {
      if (!running.has(id)) owe(`cancel ${id}`, (before, pool, now) => cancelEntry(before, pool, { id, because }, now));
    }
  };

  const claimOf = ({ id }: WaitingEntry, onLanded: () => void): PoolItem => {
    return poolItem(
      (before, pool, now) => admit(before, pool, { id, holder }, now),
      (answer) => {
        if (answer.kind !== "admitted") return;
        onLanded();
        if (stopped || !isConfigured) return giveBack(answer.entry); // Q6
        running.set(id, answer.entry);
        host.admitted(config.name, answer.entry, answer.ladderEnded);
      },
    );
  };

  /** Takes from the head what may run here, until nothing more may (P2). */
  const dispatch = async (from: PoolDocument): Promise<void> => {
    const claimed = new Set<string>();
    for (let now: PoolDocument | null = from; now !== null && !stopped && isConfigured; ) {
      const { admit: heads, cancel } = planHeads(now, host.facts);
      let landed = 0;
      const onLanded = (): void => {
        landed++;
      };
      const items = [
        ...cancel.map(({ entry: { id }, because }) =>
          poolItem((before, pool, at) => cancelEntry(before, pool, { id, because }, at), onLanded),
        ),
        ...heads.map((head) => claimOf(head, onLanded)),
      ];
      // What was given back as soon as it was claimed has its next chance at the next pass.
      if (items.length === 0 || heads.some(({ id }) => claimed.has(id))) return;
      for (const { id } of heads) claimed.add(id);
      now = await write(items);
      if (landed === 0) return; // another node was faster: the next look tells
    }
  };

  const isRenewalDue = (): boolean => running.size > 0 && clock.elapsedNow() - renewedAtMs >= CLAIM_RENEWAL_MS;

  const turn = async (): Promise<void> => {
    const mustWrite = errands.size > 0 || asks.length > 0 || isRenewalDue();
    if (!mustWrite && (stopped || !isConfigured)) return;
    let now = mustWrite ? await write([]) : await look();
    if (now !== null && nextChangeAt(now) <= clock.wallNow()) now = await write([]);
    if (now !== null) await dispatch(now);
  };

  const turns = async (): Promise<void> => {
    cancelTimer();
    do {
      again = false;
      await turn();
    } while (again && !closed);
    turning = null;
    schedule();
  };

  const wake = (): void => {
    if (closed) return;
    again = true;
    turning ??= turns();
  };

  const schedule = (): void => {
    cancelTimer();
    if (closed || turning !== null) return;
    const facts = {
      document,
      holder,
      owes: errands.size > 0,
      renewalInMs: running.size > 0 ? renewedAtMs + CLAIM_RENEWAL_MS - clock.elapsedNow() : null,
      isWorked: !stopped && isConfigured,
      isShared: isShared(),
    };
    cancelTimer = clock.after(nextPassInMs(facts, clock.wallNow()), wake);
  };

  wake();
  return {
    get config() {
      return config;
    },
    configure(next) {
      isConfigured = next !== null;
      if (next !== null) config = next;
      else takeBack();
      wake();
    },
    ask(step, hears = {}) {
      const { item, answer } = poolAsk(clock, step, hears, (late) => {
        asks = asks.filter((it) => it !== late);
      });
      asks.push(item);
      wake();
      return answer;
    },
    owe(key, step, hears) {
      owe(key, step, hears);
      wake();
    },
    get owes() {
      return errands.size > 0;
    },
    follow(entry) {
      followed.set(entry.id, entry);
    },
    unfollow(id) {
      followed.delete(id);
    },
    isFollowed: (id) => followed.has(id),
    finished(id, how) {
      const entry = running.get(id);
      if (entry === undefined) return;
      running.delete(id);
      if (how === "released") {
        giveBack(entry);
        schedule(); // not at once: what could not start now will hardly do so in the same instant
        return;
      }
      followed.delete(id);
      const step: PoolStep<ClaimAnswer> = (before, pool, now) => complete(before, pool, { id, holder }, now);
      end(entry, step, (answer) => {
        if (answer === "lost") onLostCompletion(config.name, entry);
      });
      wake();
    },
    kick() {
      if (document === null || waits(document)) wake();
    },
    stop() {
      stopped = true;
      schedule();
    },
    forget() {
      era++;
      running.clear();
      closing.clear();
      followed.clear();
      errands.clear();
      document = null;
      wake();
    },
    async close() {
      stopped = true;
      closed = true;
      cancelTimer();
      await turning;
      if (errands.size > 0) await write([]);
    },
    get isSpent() {
      return !isConfigured && running.size === 0 && errands.size === 0 && asks.length === 0 && turning === null;
    },
  };
}

const replaced: PoolTrouble = {
  kind: "unavailable",
  why: "the state backend has been replaced",
  mayHaveLanded: false,
};

/** What ran elsewhere and left no trace: the pool remembers only so many. */
function forgotten(last: PoolEntry, now: number): EndedEntry {
  return { ...last, state: "done", leaseUntil: null, finishedAt: now, reason: null };
}
