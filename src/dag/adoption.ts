import type { Clock } from "../platform/clock.ts";
import type { Advancer } from "./advancer.ts";
import { ADOPT_ALL_EVERY_MS } from "./cadence.ts";
import type { HandOuts } from "./hand-outs.ts";
import type { Ownership } from "./ownership.ts";
import type { RunIndex } from "./run-index.ts";
import type { RunStore } from "./run-store.ts";

/** Looks for active runs that nobody advances, and takes them (D-CRS-1). */
export interface Adoption {
  /** One scan over all DAGs; every so often it reads finished runs again too. */
  scan(dags: readonly string[]): Promise<void>;
}

export function createAdoption(parts: {
  readonly runs: RunStore;
  readonly index: RunIndex;
  readonly ownership: Ownership;
  readonly advancer: Advancer;
  readonly handOuts: HandOuts;
  readonly clock: Clock;
  readonly isStopped: () => boolean;
}): Adoption {
  const { runs, index, ownership, advancer, handOuts, clock, isStopped } = parts;
  let allDueAt = Number.NEGATIVE_INFINITY;

  const scanDag = async (dag: string): Promise<void> => {
    const listed = await index.look(dag, 0);
    if (listed.kind !== "done") return; // the next scan
    for (const { runKey, state } of listed.value.runs) {
      const run = { dag, runKey };
      if (isStopped()) return;
      if (state !== "running" || ownership.owns(run)) continue;
      if (await ownership.take(run)) advancer.advance(run); // a live peer keeps its own (D-CRS-2)
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
  };
}
