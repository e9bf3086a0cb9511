import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import type { Lease, Leases } from "../store/store.ts";
import type { Latch } from "./latch.ts";
import { LEASE_RETRY_MAX_MS, LEASE_RETRY_MS, PROBE_DEADLINE_MS } from "./limits.ts";

/** A lease taken for a run: kept alive until it is let go or turns out to be somebody else's. */
export interface Hold {
  readonly lease: Lease;
  /** Frees the lease. Resolves when the store has answered or would not; in the latter case it is tried again until the lease has expired. */
  letGo(): Promise<void>;
}

export interface HoldParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Set when the endpoint has stopped: nothing is tried again then. */
  readonly stopped: Latch;
}

/**
 * Renews a lease every third of its time to live (LOK-4), counted from when it was asked for: that is the earliest it may run from. What
 * the store does not confirm is tried again soon; only a positive refusal loses the lease, and a lost lease is left alone.
 *
 * @param askedAtMs on the elapsed clock
 * @param onLost told once, with who has it now
 */
export function holdLease(
  parts: HoldParts,
  taken: Lease,
  ttlMs: number,
  askedAtMs: number,
  onLost: (by: Lease | null) => void,
): Hold {
  const { leases, clock } = parts;
  const everyMs = Math.max(1000, ttlMs / 3);
  let state: "held" | "lost" | "let go" = "held";
  let cancelTimer = (): void => undefined;

  const renewAt = (atMs: number): void => {
    cancelTimer = clock.after(atMs - clock.elapsedNow(), () => void renew());
  };

  const renew = async (): Promise<void> => {
    const askedMs = clock.elapsedNow();
    const outcome = await leases.renew(taken, ttlMs, { deadlineMs: PROBE_DEADLINE_MS });
    if (state !== "held") return;
    if (outcome.kind === "done" && outcome.value.kind === "lost") {
      state = "lost";
      onLost(outcome.value.by);
    } else if (outcome.kind === "done" && outcome.value.kind === "held") renewAt(askedMs + everyMs);
    else renewAt(clock.elapsedNow() + LEASE_RETRY_MS);
  };

  renewAt(askedAtMs + everyMs);
  return {
    lease: taken,
    async letGo() {
      const wasHeld = state === "held";
      state = "let go";
      cancelTimer();
      if (wasHeld) await freeLease(parts, taken, ttlMs);
    },
  };
}

/**
 * Frees a lease and answers when the store has been asked once. What it does not confirm is tried again, ever more rarely, until the
 * lease has run out by itself (LOK-1) or the endpoint has stopped.
 */
export async function freeLease(parts: HoldParts, lease: Lease, ttlMs: number): Promise<void> {
  const { leases, clock, log, stopped } = parts;
  const expiresAtMs = clock.elapsedNow() + ttlMs;
  const attempt = async (): Promise<boolean> =>
    (await leases.release(lease, { deadlineMs: PROBE_DEADLINE_MS })).kind === "done";
  const again = async (delayMs: number): Promise<void> => {
    if (stopped.tripped || clock.elapsedNow() + delayMs >= expiresAtMs) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(delayMs, resolve);
      stopped.onTrip(() => {
        cancel();
        resolve();
      });
    });
    if (!(await attempt())) await again(Math.min(2 * delayMs, LEASE_RETRY_MAX_MS));
  };
  if (await attempt()) return;
  log.warning(`state: lock lease ${lease.name} could not be released; it frees itself within ${ttlMs / 1000} s`);
  void again(LEASE_RETRY_MS);
}
