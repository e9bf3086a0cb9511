import type { PoolConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { PoolDocument, PoolEntry } from "../contract/pool.ts";
import type { PoolControl } from "../contract/pool-control.ts";
import type { Backend } from "../journal/backend.ts";
import type { DaemonProcess } from "../journal/inflight/inflight-record.ts";
import type { LockTrust } from "../journal/lock-trust.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { epochOf, isFire, knownEntry, ladderStands, poolView, scopeOf } from "./pool-document.rules.ts";
import { createPoolLine, type PoolHost, type PoolLine } from "./pool-line.ts";
import { createPoolStore } from "./pool-store.ts";
import {
  cancelEntry,
  type EnqueueAnswer,
  endLadderUpTo,
  enqueue,
  type NewWork,
  retire,
  withdraw,
} from "./pools.rules.ts";

/** What comes of asking for admission. `unavailable`: the pool's state cannot be read or written; nothing is queued. */
export type Enqueued = EnqueueAnswer | { readonly kind: "unavailable"; readonly why: string };

/**
 * The queues of all pools, kept in the store and worked by all its nodes (running 19). No call waits longer than 5 s; those without an
 * answer never wait. What they have to tell the store is told again until it lands.
 */
export interface PoolQueues extends PoolControl {
  /** The pools of the configuration in force. What runs in one that is gone keeps its claim. */
  configure(pools: ReadonlyMap<string, PoolConfig>): void;
  /**
   * Puts work into a queue. By the same id it is queued once, and the answer is what became of it. A fire ends the retries of its job
   * first, also when it is then refused (F-21). Work of a job that does not get in is a WARNING, but a retry's, whose first deferral is
   * the caller's to tell (F-31).
   */
  enqueue(pool: string, work: NewWork): Promise<Enqueued>;
  /** A success, an operator's cancel or a newer fire: the retry sequence of the scope ends (F-24, F-26). */
  endLadder(pool: string, scope: string): void;
  /** Asked when a run has failed; "unknown": WARNING by the caller, and on as if it stood (F-31). */
  ladderStands(pool: string, scope: string, epoch: number): Promise<boolean | "unknown">;
  /** Command and verification of a claim are over. */
  completed(pool: string, id: string): void;
  /** Nothing ran: the claim goes back, and the entry waits where it stood. */
  released(pool: string, id: string): void;
  /** The workflow engine took note of an entry's end, or its task waits no longer (D-POL-4, D-POL-6). */
  retire(pool: string, id: string): void;
  /** A pause, an ownership, a running instance changed: the heads are looked at soon. */
  kick(): void;
  /** Nothing is admitted or queued any more; what runs is renewed until it has ended. */
  stop(): void;
  /**
   * The store is another one, with other queues: claims and what was still to be told belong to the old one. Not for a backend that was
   * restarted on the same directory: there claims go on.
   */
  forget(): void;
  /** Last step of a shutdown: tells what is still to be told, within 10 s, and ends all timers. */
  close(): Promise<void>;
}

export function createPoolQueues(parts: {
  readonly self: DaemonProcess;
  readonly backend: Backend;
  readonly locks: LockTrust;
  readonly host: PoolHost;
  readonly clock: Clock;
  readonly log: Logger;
}): PoolQueues {
  const { self, backend, host, clock, log } = parts;
  const store = createPoolStore(parts);
  const lines = new Map<string, PoolLine>();
  let configured: ReadonlyMap<string, PoolConfig> = new Map();
  let stopped = false;

  const newLine = (pool: PoolConfig): PoolLine =>
    createPoolLine(
      {
        holder: `${self.host}#${self.proc}`,
        store,
        host,
        clock,
        isShared: () => backend()?.facts.topology === "shared",
        onLostCompletion: (name, { kind, name: work }) =>
          log.warning(
            `pool ${name}: the claim of ${kind} ${work} ran out before its completion could be written; it may run again`,
          ),
      },
      pool,
    );

  const lineOf = (pool: string): PoolLine | null => (configured.has(pool) ? (lines.get(pool) ?? null) : null);

  /**
   * Has a retry sequence ended whenever the store lets it. Each one that cannot be written at once is said.
   *
   * @param upTo the epoch that is to end, where an attempt before has seen it
   */
  const settle = (line: PoolLine, scope: string, upTo: number | null, isDeferred: boolean): void => {
    const pool = line.config.name;
    let target = upTo;
    let told = false;
    const tell = (): void => {
      if (!told) log.warning(`pool ${pool}: retry settlement deferred`);
      told = true;
    };
    line.owe(
      `ladder ${scope}`,
      (before: PoolDocument, config: PoolConfig, now: EpochMs) => {
        target ??= epochOf(before, scope);
        return endLadderUpTo(before, config, { scope, upTo: target }, now);
      },
      { missed: tell },
    );
    if (isDeferred) tell();
  };

  const enqueueIn = async (line: PoolLine, work: NewWork): Promise<Enqueued> => {
    const scope = scopeOf(work);
    let isNew = false;
    let epochSeen: number | null = null;
    const asked = await line.ask<EnqueueAnswer>(
      (before, config, now) => {
        isNew = knownEntry(before, work) === undefined;
        epochSeen ??= epochOf(before, scope);
        return enqueue(before, config, work, now);
      },
      {
        landed(answer) {
          if (answer.kind === "queued") line.follow(answer.entry);
        },
        late(answer) {
          const isQueued = answer === null || answer.kind === "queued";
          if (!isNew || !isQueued || line.isFollowed(work.id)) return;
          line.owe(`withdraw ${work.id}`, (before, config, now) => withdraw(before, config, work.id, now));
        },
      },
    );
    if (asked.kind === "done") return asked.answer;
    if (isFire(work)) settle(line, scope, epochSeen, true);
    return asked.kind === "refused" ? asked : { kind: "unavailable", why: `its state is unavailable (${asked.why})` };
  };

  return {
    configure(pools) {
      configured = pools;
      for (const [name, pool] of pools) {
        const line = lines.get(name);
        if (line !== undefined) line.configure(pool);
        else lines.set(name, newLine(pool));
      }
      for (const [name, line] of [...lines]) {
        if (pools.has(name)) continue;
        line.configure(null);
        if (line.isSpent) lines.delete(name);
      }
    },
    async enqueue(pool, work) {
      const line = lineOf(pool);
      const answer = line === null || stopped ? notTaken(line) : await enqueueIn(line, work);
      const isDropped = answer.kind === "refused" || answer.kind === "unavailable";
      if (isDropped && work.kind === "job" && work.source !== "retry")
        log.warning(`Job ${work.name} could not enter pool ${pool}: ${answer.why}`);
      return answer;
    },
    endLadder(pool, scope) {
      const line = lines.get(pool);
      if (line !== undefined) settle(line, scope, null, false);
    },
    async ladderStands(pool, scope, epoch) {
      const line = lines.get(pool);
      if (line === undefined) return "unknown";
      if (line.owes) {
        const asked = await line.ask((document) => ({ document, answer: ladderStands(document, scope, epoch) }));
        return asked.kind === "done" ? asked.answer : "unknown";
      }
      const found = await store.read(line.config);
      return found.kind === "read" ? ladderStands(found.document, scope, epoch) : "unknown";
    },
    completed: (pool, id) => lines.get(pool)?.finished(id, "completed"),
    released: (pool, id) => lines.get(pool)?.finished(id, "released"),
    retire(pool, id) {
      const line = lines.get(pool);
      line?.unfollow(id);
      line?.owe(`retire ${id}`, (before, config, now) => retire(before, config, id, now));
    },
    async list() {
      const found = await Promise.all(
        [...configured.values()].map(async (pool) => {
          const read = await store.read(pool);
          return read.kind === "read" ? poolView(read.document, pool, clock.wallNow()) : null;
        }),
      );
      const views = found.filter((view) => view !== null);
      return views.length === found.length ? views.sort((a, b) => (a.name < b.name ? -1 : 1)) : "unavailable";
    },
    async cancel(pool, id, by) {
      const line = lineOf(pool);
      if (line === null) return { kind: "unknown pool" };
      const because = "cancelled by operator";
      const asked = await line.ask((before, config, now) => cancelEntry(before, config, { id, because }, now));
      if (asked.kind === "unavailable") return { kind: "unavailable" };
      if (asked.kind === "refused") return asked;
      const { answer } = asked;
      if (answer.kind === "unknown") return { kind: "unknown entry" };
      if (answer.kind === "cancelled")
        log.info(`pool ${pool}: ${described(answer.entry)} was cancelled in the queue by ${by ?? "an operator"}`);
      return answer;
    },
    kick() {
      for (const line of lines.values()) line.kick();
    },
    stop() {
      stopped = true;
      for (const line of lines.values()) line.stop();
    },
    forget() {
      for (const line of lines.values()) line.forget();
    },
    async close() {
      stopped = true;
      await Promise.all([...lines.values()].map((line) => line.close()));
    },
  };
}

function notTaken(line: PoolLine | null): Enqueued {
  return { kind: "refused", why: line === null ? "it is not configured" : "the daemon is shutting down" };
}

function described({ kind, name, id }: PoolEntry): string {
  return `${kind} ${name} (${id})`;
}
