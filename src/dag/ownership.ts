import type { Logger } from "../contract/log.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Lease, Leases } from "../store/store.ts";
import { ADVANCE_TTL_MS, RENEW_EVERY_MS } from "./cadence.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/**
 * The runs this node advances, each under its lease (6.7).
 *   O1. A run is owned while its lease was given to us and nobody is known to have taken it over.
 *   O2. Only "held" and "lost" of the store prove anything; every other answer changes nothing.
 */
export interface Ownership {
  /** One try to take the run (D-OWN-2). */
  take(run: RunRef): Promise<Taken>;
  owns(run: RunRef): boolean;
  /**
   * Whether the run may be advanced now. "unclear": its lease has lapsed by our clock, or cannot be read; advancing then could fail the
   * live tasks of whoever has it (6.3 step 2).
   */
  standing(run: RunRef): Promise<"ours" | "not ours" | "unclear">;
  /** Gives a run back. Resolves when the store has been told. */
  release(run: RunRef): Promise<void>;
  owned(): readonly RunRef[];
  /** Takes nothing more, and gives all back. */
  releaseAll(): Promise<void>;
  /** The store is gone: forgets all without a word to it. */
  abandon(): void;
}

/** What a try to take a run came to. */
export type Taken =
  | { readonly kind: "ours" }
  /** Another node has it, and keeps it beyond `until` only by renewing its lease. */
  | { readonly kind: "theirs"; readonly until: EpochMs }
  /** The store did not tell, or nothing is taken any more. */
  | { readonly kind: "not taken" };

interface Held {
  readonly run: RunRef;
  lease: Lease;
  cancelRenewal: () => void;
}

export function createOwnership(parts: {
  readonly leases: Leases;
  /** `<host>#<proc>` */
  readonly holder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** A peer has taken the run over. */
  readonly onLost: (run: RunRef) => void;
}): Ownership {
  const { leases, holder, clock, log, onLost } = parts;
  const held = new Map<string, Held>();
  let closed = false;

  const lost = (name: string, { run }: Held, by: Lease | null): void => {
    held.get(name)?.cancelRenewal();
    held.delete(name);
    log.warning(
      `dag ${run.dag}: run ${run.runKey} is advanced by ${by?.holder ?? "nobody"} now: its lease was taken over; tasks that run here go on`,
    );
    onLost(run);
  };

  const armRenewal = (name: string, own: Held, delayMs: number): void => {
    own.cancelRenewal = clock.after(delayMs, () => void renew(name, own));
  };

  const renew = async (name: string, own: Held): Promise<void> => {
    const began = clock.elapsedNow();
    const renewed = await leases.renew(own.lease, ADVANCE_TTL_MS);
    if (held.get(name) !== own) return; // given back meanwhile
    if (renewed.kind === "done") {
      if (renewed.value.kind === "lost") return lost(name, own, renewed.value.by); // D-OWN-3
      if (renewed.value.kind === "held") own.lease = renewed.value.lease;
    }
    armRenewal(name, own, began + RENEW_EVERY_MS - clock.elapsedNow());
  };

  const release = async (name: string, own: Held): Promise<void> => {
    own.cancelRenewal();
    held.delete(name);
    await leases.release(own.lease);
  };

  return {
    async take(run) {
      const name = advanceLease(run.dag, run.runKey);
      if (held.has(name)) return { kind: "ours" };
      if (closed) return { kind: "not taken" };
      const taken = await leases.acquire(name, holder, ADVANCE_TTL_MS);
      if (taken.kind !== "done") return { kind: "not taken" }; // O2
      if (taken.value.kind === "denied") return { kind: "theirs", until: taken.value.by.expiresAtSeconds * 1000 };
      if (taken.value.kind !== "held") return { kind: "not taken" };
      const known = held.get(name);
      if (known !== undefined) {
        known.lease = taken.value.lease;
        return { kind: "ours" };
      }
      const own: Held = { run, lease: taken.value.lease, cancelRenewal: () => {} };
      if (closed) {
        await leases.release(own.lease);
        return { kind: "not taken" };
      }
      held.set(name, own);
      armRenewal(name, own, RENEW_EVERY_MS);
      return { kind: "ours" };
    },
    owns: ({ dag, runKey }) => held.has(advanceLease(dag, runKey)),
    async standing({ dag, runKey }) {
      const name = advanceLease(dag, runKey);
      const own = held.get(name);
      if (own === undefined) return "not ours";
      if (clock.wallNow() < own.lease.expiresAtSeconds * 1000) return "ours";
      const read = await leases.read(name);
      if (held.get(name) !== own) return "not ours";
      const now = read.kind === "done" ? read.value : null;
      if (now === null || (now.holder === holder && now.fence === own.lease.fence)) return "unclear";
      lost(name, own, now);
      return "not ours";
    },
    async release({ dag, runKey }) {
      const name = advanceLease(dag, runKey);
      const own = held.get(name);
      if (own !== undefined) await release(name, own);
    },
    owned: () => [...held.values()].map(({ run }) => run),
    async releaseAll() {
      closed = true;
      await Promise.all([...held].map(([name, own]) => release(name, own)));
    },
    abandon() {
      closed = true;
      for (const { cancelRenewal } of held.values()) cancelRenewal();
      held.clear();
    },
  };
}
