import type { PoolEntry } from "../contract/pool.ts";
import type { Admissions, TaskPools } from "./admissions.ts";
import { awaits } from "./completion.rules.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunStore, StoredRun } from "./run-store.ts";

/**
 * Retires what no task waits for any more and whose owner is not there to say so (D-POL-6): the entry of a claim that its daemon died with,
 * or that it could not take note of. Whoever looks may do it, for only the run's document is asked.
 */
export async function sweepQueues(parts: {
  readonly pools: () => TaskPools | null;
  readonly runs: RunStore;
  readonly admissions: Admissions;
  readonly isStopped: () => boolean;
}): Promise<void> {
  const { pools, runs, admissions, isStopped } = parts;
  const listed = await pools()?.list();
  if (listed === undefined || listed === "unavailable") return;
  const read = new Map<string, StoredRun | null>();

  const runOf = async (dag: string, runKey: string): Promise<StoredRun | null> => {
    const name = advanceLease(dag, runKey);
    const known = read.get(name);
    if (known !== undefined) return known;
    const found = await runs.read({ dag, runKey });
    const stored = found.kind === "done" ? found.value : null;
    read.set(name, stored);
    return stored;
  };

  for (const { name: pool, entries } of listed) {
    for (const entry of entries) {
      if (entry.dag === null || entry.state === "running" || admissions.knows(entry.id)) continue;
      if (isStopped()) return;
      const stored = await runOf(entry.dag.name, entry.dag.runKey);
      if (stored === null || stored.kind === "damaged") continue;
      if (!isAwaited(stored, entry) && !admissions.knows(entry.id)) pools()?.retire(pool, entry.id);
    }
  }
}

function isAwaited(stored: StoredRun, { dag, attempt }: PoolEntry): boolean {
  if (stored.kind !== "run" || dag === null) return false;
  const { state, runId, tasks } = stored.run;
  const record = tasks.get(dag.taskkey);
  return (
    state === "running" && runId === dag.runId && record !== undefined && awaits(record, { attempt, poke: dag.poke })
  );
}
