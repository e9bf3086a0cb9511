import type { Logger } from "../contract/log.ts";
import type { LockFidelity, Outcome, Store } from "../store/store.ts";
import type { Backend } from "./backend.ts";
import { LOCK_PROBE_DEADLINE_MS } from "./limits.ts";

/**
 * Whether the locks of the store keep nodes apart (TOP-6). What relies on them alone, cluster slots and pools, asks here first. The
 * verdict is found once per backend; bad locks are an ERROR once.
 */
export interface LockTrust {
  /** Why the locks cannot be relied on; null when they can, when nothing proves otherwise, and without a backend. */
  distrust(): Promise<string | null>;
}

export function createLockTrust({ backend, log }: { readonly backend: Backend; readonly log: Logger }): LockTrust {
  const verdicts = new WeakMap<Store, Promise<Outcome<LockFidelity>>>();

  const probe = (store: Store): Promise<Outcome<LockFidelity>> => {
    const verdict = store.leases.fidelity({ deadlineMs: LOCK_PROBE_DEADLINE_MS }).then((outcome) => {
      if (outcome.kind !== "done")
        verdicts.delete(store); // it proves nothing, and is asked again
      else if (outcome.value.kind === "unreliable") {
        log.error(
          `state: the locks of ${store.facts.location} do not keep nodes apart: ${outcome.value.because}; cluster concurrency slots follow onStoreUnavailable, and pools take nothing in`,
        );
      }
      return outcome;
    });
    verdicts.set(store, verdict);
    return verdict;
  };

  return {
    async distrust() {
      const store = backend();
      if (store === null) return null;
      const outcome = await (verdicts.get(store) ?? probe(store));
      return outcome.kind === "done" && outcome.value.kind === "unreliable" ? outcome.value.because : null;
    },
  };
}
