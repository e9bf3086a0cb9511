import type { Clock } from "../platform/clock.ts";
import { STAMP_GATHER_MS } from "./cadence.ts";
import { type Claim, claimKey } from "./claim.rules.ts";
import type { PidStamp } from "./pid-stamp.rules.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/**
 * Pids of launched tasks, on their way into their run with the next pass over it (6.3 step 6): one of their own is asked for only when none
 * came for a while. Best effort: a task that is over by then is not said to have had one.
 */
export interface PidStamps {
  add(run: RunRef, runId: string, stamp: PidStamp): void;
  /** What waits to be written. */
  of(run: RunRef, runId: string): readonly PidStamp[];
  /** They are written, or nobody looks for these processes any more. */
  remove(run: RunRef, runId: string, claims: readonly Claim[]): void;
}

export function createPidStamps(parts: { readonly clock: Clock; readonly askPass: (run: RunRef) => void }): PidStamps {
  const { clock, askPass } = parts;
  const gathered = new Map<string, { readonly stamps: Map<string, PidStamp>; cancelAsking: () => void }>();
  const askLater = (run: RunRef): (() => void) => clock.after(STAMP_GATHER_MS, () => askPass(run));
  const nameOf = ({ dag, runKey }: RunRef, runId: string): string => `${advanceLease(dag, runKey)}\0${runId}`;

  return {
    add(run, runId, stamp) {
      const name = nameOf(run, runId);
      const burst = gathered.get(name) ?? { stamps: new Map(), cancelAsking: askLater(run) };
      gathered.set(name, burst);
      burst.stamps.set(claimKey(stamp.claim), stamp);
    },
    of: (run, runId) => [...(gathered.get(nameOf(run, runId))?.stamps.values() ?? [])],
    remove(run, runId, claims) {
      const name = nameOf(run, runId);
      const burst = gathered.get(name);
      if (burst === undefined) return;
      for (const claim of claims) burst.stamps.delete(claimKey(claim));
      burst.cancelAsking();
      if (burst.stamps.size === 0) gathered.delete(name);
      else burst.cancelAsking = askLater(run); // they came while those were being written
    },
  };
}
