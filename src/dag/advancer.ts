import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { type AfterPass, advancePass, type PassMemory, type PassParts } from "./advance-pass.ts";
import { PASS_RETRY_MS } from "./cadence.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/**
 * Passes over owned runs, each when it is due or asked for.
 *   V1. Passes of one run never overlap; who asks while one is under way gets one more after it (6.3).
 *   V2. Each run has its own timer, for the instant its last pass named (D-PLN-1).
 */
export interface Advancer {
  advance(run: RunRef): void;
  /** The run is not ours any more. A pass under way ends by itself. */
  drop(run: RunRef): void;
  /** No timer goes off any more. Resolves when no pass is under way. */
  stop(): Promise<void>;
  /** Resolves when no pass is under way. */
  settled(): Promise<void>;
}

interface Advanced {
  readonly memory: PassMemory;
  underWay: Promise<void> | null;
  again: boolean;
  cancelWake: () => void;
}

export function createAdvancer(parts: PassParts & { readonly clock: Clock; readonly log: Logger }): Advancer {
  const { clock, log, ownership, admissions } = parts;
  const advanced = new Map<string, Advanced>();
  let stopped = false;

  const passes = async (name: string, run: RunRef, own: Advanced): Promise<void> => {
    let after: AfterPass;
    do {
      own.again = false;
      own.cancelWake();
      try {
        after = await advancePass(run, own.memory, parts);
      } catch (error) {
        // One run's trouble is its own (D-INT-11).
        log.error(
          `dag ${run.dag}: a pass over run ${run.runKey} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
        after = { kind: "again", afterMs: PASS_RETRY_MS };
      }
    } while (own.again && after.kind === "again");
    own.underWay = null;
    if (!ownership.owns(run)) admissions.letGo(run);
    if (after.kind === "again" && !stopped && ownership.owns(run)) {
      own.cancelWake = clock.after(after.afterMs, () => advance(run)); // V2
    } else if (!own.again) advanced.delete(name);
    else advance(run);
  };

  const advance = (run: RunRef): void => {
    const name = advanceLease(run.dag, run.runKey);
    const own = advanced.get(name) ?? {
      memory: { uncertain: false, foreign: new Map(), said: null },
      underWay: null,
      again: false,
      cancelWake: () => {},
    };
    if (own.underWay !== null) {
      own.again = true; // V1
      return;
    }
    own.again = false;
    if (stopped || !ownership.owns(run)) {
      own.cancelWake();
      advanced.delete(name);
      return;
    }
    advanced.set(name, own);
    own.underWay = passes(name, run, own);
  };

  const settled = async (): Promise<void> => {
    for (;;) {
      const underWay = [...advanced.values()].flatMap((own) => (own.underWay === null ? [] : [own.underWay]));
      if (underWay.length === 0) return;
      await Promise.all(underWay);
    }
  };

  return {
    advance,
    drop(run) {
      const name = advanceLease(run.dag, run.runKey);
      const own = advanced.get(name);
      own?.cancelWake();
      if (own?.underWay === null) advanced.delete(name);
      admissions.letGo(run);
    },
    settled,
    async stop() {
      stopped = true;
      for (const { cancelWake } of advanced.values()) cancelWake();
      await settled();
    },
  };
}
