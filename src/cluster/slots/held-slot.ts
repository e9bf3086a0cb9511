import { type Backend, onBackend } from "../../journal/backend.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Lease } from "../../store/store.ts";
import { SLOT_PERIOD_MIN_MS } from "../limits.ts";
import { renewLease, takeLease } from "./slot-lease.ts";
import { isYieldRequested } from "./yield-request.ts";

/** The slot of one job while this node has it. */
export interface HeldSlot {
  /** As the last answer of the store told it. */
  readonly lease: Lease;
  /** No more renewals, and nothing more is told. The lease is as it is. */
  end(): void;
}

/** What comes of holding a slot. */
export interface SlotNews {
  /** Somebody else has it: renewals have ended. Told once. */
  lost(by: Lease | null): void;
  /** Somebody asks for it; told at each renewal while the request stands, since runs may have joined since. */
  yieldRequested(): void;
}

/**
 * Renews the lease every third of its time to live, counted from when it was asked for. Only a positive answer loses it; whatever else
 * the store says is tried again a period later (running 7.4).
 *
 * Requests to make way are read after a renewal, on their own time: however slow that read is, the next renewal does not wait for it
 * (RAT-2).
 *
 * @param askedAtMs on the elapsed clock
 */
export function holdSlot(
  { backend, clock, ttlMs }: { readonly backend: Backend; readonly clock: Clock; readonly ttlMs: () => number },
  job: string,
  taken: { readonly lease: Lease; readonly askedAtMs: number },
  news: SlotNews,
): HeldSlot {
  let lease = taken.lease;
  let over = false;
  let looking = false;
  let cancelTimer = (): void => undefined;

  const renewAfter = (askedAtMs: number): void => {
    const dueAtMs = askedAtMs + Math.max(SLOT_PERIOD_MIN_MS, ttlMs() / 3);
    cancelTimer = clock.after(dueAtMs - clock.elapsedNow(), () => void renew());
  };

  const renew = async (): Promise<void> => {
    const askedAtMs = clock.elapsedNow();
    const outcome = await onBackend(backend, ({ leases }) => renewLease(leases, lease, ttlMs()));
    if (over) return;
    if (outcome.kind === "done" && outcome.value.kind === "lost") {
      if (outcome.value.by !== null || !(await takenAgain())) return lose(outcome.value.by);
      if (over) return;
    } else if (outcome.kind === "done" && outcome.value.kind === "held") lease = outcome.value.lease;
    renewAfter(askedAtMs);
    void look();
  };

  /** Freed behind our back, as by a release that landed late, and nobody came since: it is ours to take again. */
  const takenAgain = async (): Promise<boolean> => {
    const store = backend();
    if (store === null) return false;
    const again = await takeLease(store.leases, clock, { job, holder: lease.holder, ttlMs: ttlMs() });
    if (again.kind === "won") lease = again.lease;
    return again.kind === "won";
  };

  const lose = (by: Lease | null): void => {
    if (over) return;
    over = true;
    news.lost(by);
  };

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    const isRequested = await isYieldRequested(backend, job, lease.fence);
    looking = false;
    if (isRequested && !over) news.yieldRequested();
  };

  renewAfter(taken.askedAtMs);
  return {
    get lease() {
      return lease;
    },
    end() {
      over = true;
      cancelTimer();
    },
  };
}
