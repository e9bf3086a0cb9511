import { randomBytes } from "node:crypto";
import type { RunId } from "../contract/run.ts";
import type { Lease } from "../store/store.ts";
import type { Latch } from "./latch.ts";
import { HOLDS_PER_RUN_MAX, PASS_MAX_MS, PROBE_DEADLINE_MS, WAITS_PER_RUN_MAX } from "./limits.ts";
import { freeLease, type Hold, type HoldParts, holdLease } from "./lock-hold.ts";
import { Refusal } from "./refusal.ts";
import type { RunSession } from "./run-sessions.ts";
import type { StoreTrouble } from "./store-trouble.ts";
import { createWaitingLine } from "./waiting-line.ts";

/** What a run asks for: one of `permits` permits of a lock. */
export interface LockWish {
  readonly scope: string;
  readonly name: string;
  readonly permits: number;
  readonly ttlMs: number;
  /** 0: one walk over the permits. */
  readonly blockMs: number;
}

export type LockAnswer =
  | { readonly kind: "acquired"; readonly token: string; readonly permit: number; readonly fence: number }
  | { readonly kind: "taken" }
  /** The run ended, or its client went, while it waited: nothing is held. */
  | { readonly kind: "run ended" };

/**
 * Holds locks on behalf of runs (LOK-1).
 *   L1. A lock is held for a live run or not at all: one that is won after the end of the run, or after its client hung up, is handed
 *       back before anything is answered.
 *   L2. Each hold has a holder name of its own, so that two runs of this process exclude each other (LOK-4).
 *   L3. A lease that took the store half its time to live to hand out is no lease to build on: it is handed back.
 *   L4. Only a lease in hand counts. A permit whose lease was asked for without an answer may be ours unknown to us: it is looked
 *       at again, and freed.
 */
export interface LockKeeper {
  /** @throws Refusal when a limit is reached, or the store answered nothing about any permit */
  acquire(run: RunSession, wish: LockWish, hungUp: Latch): Promise<LockAnswer>;
  /** False for a token that is no hold of this run: foreign, unknown, or lost. */
  release(runId: RunId, token: string): Promise<boolean>;
  /** Lets go of all that a run holds. Resolves when the store has been told. */
  releaseRun(runId: RunId): Promise<void>;
  releaseAll(): Promise<void>;
}

export interface LockKeeperParts extends HoldParts {
  readonly trouble: StoreTrouble;
  readonly host: string;
  readonly procId: string;
  /** How often a taken lock is looked at again. */
  readonly pollMs: number;
}

interface HeldLock {
  readonly wish: LockWish;
  readonly hold: Hold;
}

/** One walk over the permits. `answered`: the store said something about at least one. */
type Walk =
  | { readonly kind: "won"; readonly lease: Lease; readonly permit: number; readonly askedAtMs: number }
  | { readonly kind: "none free"; readonly answered: boolean };

export function createLockKeeper(parts: LockKeeperParts): LockKeeper {
  const { leases, clock, log, trouble, host, procId, pollMs } = parts;
  const byRun = new Map<RunId, Map<string, HeldLock>>();
  const heldHere = new Set<string>();
  const waits = new Map<RunId, number>();
  const line = createWaitingLine(clock);

  const walk = async (wish: LockWish, holder: string, silent: Set<string>, over: () => boolean): Promise<Walk> => {
    const untilMs = clock.elapsedNow() + PASS_MAX_MS;
    let answered = false;
    for (let permit = 0; permit < wish.permits && !over() && clock.elapsedNow() < untilMs; permit++) {
      const name = leaseName(wish, permit);
      if (heldHere.has(name)) {
        answered = true;
        continue;
      }
      const askedAtMs = clock.elapsedNow();
      const outcome = await leases.acquire(name, holder, wish.ttlMs, { deadlineMs: PROBE_DEADLINE_MS });
      if (outcome.kind === "unknown") silent.add(name);
      if (outcome.kind !== "done") continue;
      answered = true;
      if (outcome.value.kind !== "held") continue;
      silent.delete(name);
      return { kind: "won", lease: outcome.value.lease, permit, askedAtMs };
    }
    return { kind: "none free", answered: answered || over() };
  };

  const letGo = async (runId: RunId, token: string): Promise<boolean> => {
    const held = byRun.get(runId)?.get(token);
    if (held === undefined) return false;
    forget(runId, token);
    await held.hold.letGo();
    heldHere.delete(held.hold.lease.name);
    line.call(lockName(held.wish));
    return true;
  };

  const forget = (runId: RunId, token: string): void => {
    const locks = byRun.get(runId);
    locks?.delete(token);
    if (locks?.size === 0) byRun.delete(runId);
  };

  const keep = (run: RunSession, token: string, wish: LockWish, lease: Lease, askedAtMs: number): void => {
    const { runId, job } = run;
    heldHere.add(lease.name);
    const hold = holdLease(parts, lease, wish.ttlMs, askedAtMs, (by) => {
      heldHere.delete(lease.name);
      forget(runId, token);
      const now = by === null ? "it was released elsewhere" : `${by.holder.replace(/#[^#]*$/, "")} has it now`;
      log.warning(
        `job ${job}: lock '${wish.name}' in scope '${wish.scope}' (fence ${lease.fence}) was lost, ${now}; the run goes on`,
      );
    });
    const locks = byRun.get(runId) ?? new Map<string, HeldLock>();
    byRun.set(runId, locks.set(token, { wish, hold }));
  };

  /** L4: frees what the store may have granted without our hearing of it. */
  const freeSilent = async (silent: ReadonlySet<string>, holder: string, ttlMs: number): Promise<void> => {
    for (const name of silent) {
      const found = await leases.read(name, { deadlineMs: PROBE_DEADLINE_MS });
      if (found.kind === "done" && found.value?.holder === holder) await freeLease(parts, found.value, ttlMs);
    }
  };

  const wait = async (run: RunSession, wish: LockWish, hungUp: Latch): Promise<LockAnswer> => {
    const token = randomBytes(16).toString("hex");
    const holder = `${host}#${procId}#${token}`; // L2
    const silent = new Set<string>();
    const untilMs = clock.elapsedNow() + wish.blockMs;
    const over = (): boolean => run.ended.tripped || hungUp.tripped;
    const place = line.join(lockName(wish));
    const stopListening = [run.ended, hungUp].map((latch) => latch.onTrip(place.wake));
    try {
      for (;;) {
        const found = await walk(wish, holder, silent, over);
        const fresh = found.kind === "won" && clock.elapsedNow() - found.askedAtMs < wish.ttlMs / 2; // L3
        if (found.kind === "won" && fresh && !over()) {
          keep(run, token, wish, found.lease, found.askedAtMs);
          return { kind: "acquired", token, permit: found.permit, fence: found.lease.fence };
        }
        if (found.kind === "won") await freeLease(parts, found.lease, wish.ttlMs); // L1, L3
        if (over()) return { kind: "run ended" };
        const leftMs = untilMs - clock.elapsedNow();
        if (leftMs > 0) await place.wait(Math.min(pollMs, leftMs));
        else if (found.kind === "none free" && found.answered) return { kind: "taken" };
        else throw trouble.refusal(`no lease of lock '${wish.name}' was answered in time`);
      }
    } finally {
      for (const stop of stopListening) stop();
      place.leave();
      // Whoever leaves may have been called for a lock that is free: the next in line looks then.
      line.call(lockName(wish));
      if (silent.size > 0) void freeSilent(silent, holder, wish.ttlMs);
    }
  };

  return {
    async acquire(run, wish, hungUp) {
      const { runId } = run;
      if ((byRun.get(runId)?.size ?? 0) >= HOLDS_PER_RUN_MAX)
        throw new Refusal(429, `this run holds ${HOLDS_PER_RUN_MAX} locks already; release some first`);
      const waiting = waits.get(runId) ?? 0;
      if (waiting >= WAITS_PER_RUN_MAX) throw new Refusal(429, `this run waits for ${WAITS_PER_RUN_MAX} locks already`);
      waits.set(runId, waiting + 1);
      try {
        return await wait(run, wish, hungUp);
      } finally {
        const left = (waits.get(runId) ?? 1) - 1;
        if (left > 0) waits.set(runId, left);
        else waits.delete(runId);
      }
    },
    release: letGo,
    async releaseRun(runId) {
      await Promise.all([...(byRun.get(runId)?.keys() ?? [])].map((token) => letGo(runId, token)));
    },
    async releaseAll() {
      const held = [...byRun].flatMap(([runId, locks]) => [...locks.keys()].map((token) => ({ runId, token })));
      await Promise.all(held.map(({ runId, token }) => letGo(runId, token)));
    },
  };
}

function lockName({ scope, name }: LockWish): string {
  return `lock/${scope}/${name}`;
}

function leaseName(wish: LockWish, permit: number): string {
  return `${lockName(wish)}#${permit}`;
}
