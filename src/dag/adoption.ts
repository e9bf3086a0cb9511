import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Advancer } from "./advancer.ts";
import { ADOPT_ALL_EVERY_MS, ADOPT_EVERY_MS, ADOPT_SPREAD_MS } from "./cadence.ts";
import type { HandOuts } from "./hand-outs.ts";
import type { Ownership, Taken } from "./ownership.ts";
import type { RunIndex } from "./run-index.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

/**
 * Looks for active runs that nobody advances, and takes them (D-CRS-1). A run that another node has is tried once more when that node's
 * lease would lapse, not a whole scan later: its tasks wait for whoever goes on with it.
 */
export interface Adoption {
  /** One scan over all DAGs; every so often it reads finished runs again too. */
  scan(dags: readonly string[]): Promise<void>;
  /** Nothing is tried any more. */
  stop(): void;
}

export function createAdoption(parts: {
  readonly runs: RunStore;
  readonly index: RunIndex;
  readonly ownership: Ownership;
  readonly advancer: Advancer;
  readonly handOuts: HandOuts;
  readonly clock: Clock;
  /** At least 0 and less than 1: nodes that wait for one lease do not come all at once. */
  readonly random: () => number;
  readonly isStopped: () => boolean;
}): Adoption {
  const { runs, index, ownership, advancer, handOuts, clock, isStopped } = parts;
  let allDueAt = Number.NEGATIVE_INFINITY;
  /** Tries to come, by run. */
  const tries = new Map<string, () => void>();

  const take = async (run: RunRef): Promise<Taken> => {
    const taken = await ownership.take(run); // a live peer keeps its own (D-CRS-2)
    if (taken.kind === "ours") advancer.advance(run);
    return taken;
  };

  /** Once, when the other node's lease would lapse: if it was renewed, the next scan comes back to it. */
  const tryAt = (run: RunRef, at: EpochMs): void => {
    const delayMs = Math.max(0, at - clock.wallNow()) + ADOPT_SPREAD_MS * parts.random();
    if (isStopped() || delayMs >= ADOPT_EVERY_MS) return; // the scan is sooner
    const name = advanceLease(run.dag, run.runKey);
    tries.get(name)?.();
    const cancel = clock.after(delayMs, () => {
      tries.delete(name);
      if (!isStopped()) void take(run);
    });
    tries.set(name, cancel);
  };

  const scanDag = async (dag: string): Promise<void> => {
    const listed = await index.look(dag, 0);
    if (listed.kind !== "done") return; // the next scan
    for (const { runKey, state } of listed.value.runs) {
      const run = { dag, runKey };
      if (isStopped()) return;
      if (state !== "running" || ownership.owns(run)) continue;
      const taken = await take(run);
      if (taken.kind === "theirs") tryAt(run, taken.until);
    }
    await forgetOver(dag);
  };

  /** D-CLM-7: whichever node finished or deleted the run. */
  const forgetOver = async (dag: string): Promise<void> => {
    for (const { run, runId } of handOuts.runs(dag)) {
      if (ownership.owns(run)) continue; // its own passes see to that
      const found = await runs.read(run);
      if (found.kind !== "done" || found.value.kind === "damaged") continue;
      const isThere = found.value.kind === "run" && found.value.run.runId === runId;
      if (!isThere || (found.value.kind === "run" && found.value.run.state !== "running")) handOuts.forget(run, runId);
    }
  };

  return {
    async scan(dags) {
      if (clock.elapsedNow() >= allDueAt) {
        allDueAt = clock.elapsedNow() + ADOPT_ALL_EVERY_MS;
        for (const dag of dags) index.drop(dag);
      }
      for (const dag of dags) if (!isStopped()) await scanDag(dag);
    },
    stop() {
      for (const cancel of tries.values()) cancel();
      tries.clear();
    },
  };
}
