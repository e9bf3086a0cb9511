import type { ClusterSlot } from "../../contract/job-view.ts";
import type { Logger } from "../../contract/log.ts";
import { type Backend, onBackend } from "../../journal/backend.ts";
import { failureText } from "../../journal/drops.ts";
import type { DaemonProcess } from "../../journal/inflight/inflight-record.ts";
import type { LockTrust } from "../../journal/lock-trust.ts";
import type { Clock } from "../../platform/clock.ts";
import { oneAtATime } from "../../store/front/one-at-a-time.ts";
import type { Lease } from "../../store/store.ts";
import { type HeldSlot, holdSlot } from "./held-slot.ts";
import { nodeOf } from "./messages.ts";
import { type Pursuit, type PursuitOutcome, startPursuit } from "./pursuit.ts";
import { freeLease, isLive, takeLease } from "./slot-lease.ts";

export type SlotAnswer =
  /** The run may start. `fresh`: won just now, so that what another holder left open in flight may be closed (running 7.4). */
  | { readonly kind: "held"; readonly fresh: boolean }
  /** A live foreign holder, as `<host>#<process>`. */
  | { readonly kind: "taken"; readonly holder: string }
  /** No answer, no store, or locks that do not exclude: `onStoreUnavailable` decides. */
  | { readonly kind: "unavailable"; readonly because: string };

/**
 * The one slot that a job with `concurrencyScope: cluster` has over all nodes of a store (running 7): lease `slots/<job>`.
 *   S1. Each run that was answered "held" has one claim and gives back one; the lease lives while claims do.
 *   S2. Claims and releases of one job run one after the other: a late release never frees a fresh claim.
 *   S3. Only a positive answer loses a slot, and losing it never stops a run.
 *   S4. What was claimed on a backend that is gone neither holds nor frees anything on the one that came.
 */
export interface ClusterSlots {
  claim(job: string): Promise<SlotAnswer>;
  /** One run that held it has ended, or never started. The last one gives the lease back. */
  release(job: string): void;
  /** Asks the holder to make way and waits for it, at most 2×TTL. While one goes on for a job, this is that one. */
  pursue(job: string): Promise<PursuitOutcome>;
  /** From memory. `holder`: this process while it holds, else whom the store named last, until that lease has run out. */
  state(job: string): ClusterSlot;
  /** What this node holds, for the look into the store. */
  held(): readonly { readonly lease: Lease; readonly refs: number }[];
  /** Another backend: all leases are dropped and lapse, pursuits end (GEN-6). Runs go on without a slot. */
  forget(): void;
  /** Shutdown: pursuits end. What runs keeps its slot. */
  stop(): void;
}

interface JobSlot {
  held: HeldSlot | null;
  refs: number;
  /** Claims of a backend that is gone, whose releases are still to come (S4). */
  stale: number;
  /** Another node's lease, as it was last told. */
  seen: Lease | null;
}

export function createClusterSlots(parts: {
  readonly self: DaemonProcess;
  readonly backend: Backend;
  readonly locks: LockTrust;
  readonly ttlSeconds: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Another node asks for our slot: its runs here are to be stopped as replaced. Told again while they go on. */
  readonly onYield: (job: string) => void;
}): ClusterSlots {
  const { self, backend, locks, clock, log, onYield } = parts;
  const holder = `${self.host}#${self.proc}`;
  const ttlMs = (): number => parts.ttlSeconds() * 1000;
  const slots = new Map<string, JobSlot>();
  const pursuits = new Map<string, Pursuit>();
  const inTurn = oneAtATime();
  let era = 0;

  const slotOf = (job: string): JobSlot => {
    const slot = slots.get(job) ?? { held: null, refs: 0, stale: 0, seen: null };
    slots.set(job, slot);
    return slot;
  };

  const tidy = (job: string, { held, refs, stale, seen }: JobSlot): void => {
    if (held === null && refs === 0 && stale === 0 && seen === null) slots.delete(job);
  };

  const keep = (job: string, slot: JobSlot, lease: Lease, askedAtMs: number): void => {
    slot.seen = null;
    slot.held = holdSlot(
      { backend, clock, ttlMs },
      job,
      { lease, askedAtMs },
      {
        yieldRequested: () => onYield(job),
        lost(by) {
          slot.held = null;
          slot.seen = by;
          const now = by === null ? "it was released elsewhere" : `${nodeOf(by.holder)} has it now`;
          log.warning(`Job ${job}: its cluster concurrency slot was lost, ${now}; the run goes on`);
        },
      },
    );
  };

  const claimInTurn = async (job: string): Promise<SlotAnswer> => {
    const known = slots.get(job);
    if (known !== undefined && known.held !== null) {
      known.refs++;
      return { kind: "held", fresh: false };
    }
    const asked = era;
    const distrust = await locks.distrust();
    if (distrust !== null) return { kind: "unavailable", because: `locks of the store do not exclude: ${distrust}` };
    const store = backend();
    if (store === null) return { kind: "unavailable", because: "the state backend is not running" };
    const askedAtMs = clock.elapsedNow();
    const taking = await takeLease(store.leases, clock, { job, holder, ttlMs: ttlMs() });
    if (era !== asked) {
      if (taking.kind === "won") void freeLease(store.leases, taking.lease);
      return { kind: "unavailable", because: "the state backend has been replaced" };
    }
    const slot = slotOf(job);
    switch (taking.kind) {
      case "won":
        slot.refs++;
        keep(job, slot, taking.lease, askedAtMs);
        return { kind: "held", fresh: true };
      case "taken":
        slot.seen = taking.by;
        return { kind: "taken", holder: taking.by.holder };
      case "undecided":
        tidy(job, slot);
        return { kind: "unavailable", because: taking.because };
    }
  };

  const releaseInTurn = async (job: string): Promise<void> => {
    const slot = slots.get(job);
    if (slot === undefined) return;
    if (slot.stale > 0) slot.stale--;
    else if (slot.refs > 0) slot.refs--;
    const { held } = slot;
    if (slot.refs === 0 && held !== null) {
      held.end();
      slot.held = null;
      const freed = await onBackend(backend, ({ leases }) => freeLease(leases, held.lease));
      if (freed.kind !== "done") {
        log.warning(
          `Job ${job}: its cluster concurrency slot could not be released (${failureText(freed)}); it frees itself within ${parts.ttlSeconds()} s`,
        );
      }
    }
    tidy(job, slot);
  };

  const endPursuits = (): void => {
    for (const pursuit of [...pursuits.values()]) pursuit.end();
  };

  return {
    claim: (job) => inTurn(job, () => claimInTurn(job)),
    release(job) {
      void inTurn(job, () => releaseInTurn(job));
    },
    pursue(job) {
      const known = pursuits.get(job);
      if (known !== undefined) return known.outcome;
      const pursuit = startPursuit({ self, backend, clock, log }, job, { holder, ttlMs: ttlMs() });
      pursuits.set(job, pursuit);
      return pursuit.outcome.finally(() => {
        if (pursuits.get(job) === pursuit) pursuits.delete(job);
      });
    },
    state(job) {
      const slot = slots.get(job);
      if (slot === undefined) return { held: false, holder: null, refs: 0 };
      const { held, seen, refs } = slot;
      if (held !== null) return { held: true, holder, refs };
      return { held: false, holder: seen !== null && isLive(seen, clock) ? seen.holder : null, refs };
    },
    held: () => [...slots.values()].flatMap(({ held, refs }) => (held === null ? [] : [{ lease: held.lease, refs }])),
    forget() {
      era++;
      endPursuits();
      for (const [job, slot] of [...slots]) {
        slot.held?.end();
        slot.held = null;
        slot.seen = null;
        slot.stale += slot.refs;
        slot.refs = 0;
        tidy(job, slot);
      }
    },
    stop: endPursuits,
  };
}
