import type { DagFigures } from "../contract/dag-control.ts";
import type { Events, TaskOutcome } from "../contract/events.ts";
import type { EpochMs } from "../platform/clock.ts";
import { compareCodePoints } from "../store/json.ts";
import { type FamilyText, labelSet } from "./exposition.ts";
import type { FamilyName } from "./families.ts";

/** What is counted of one DAG on this node. */
interface Counted {
  readonly runs: { success: number; failed: number };
  readonly attempts: Map<string, Record<TaskOutcome, number>>;
  lastSuccessAt: EpochMs | null;
}

/** Counts what happens to DAGs (dags 20), from its creation on. */
export interface DagTally {
  /** `configured`: names of the DAGs in force; what was counted of others is let go. */
  samples(of: (name: FamilyName) => FamilyText, configured: readonly string[], figures: readonly DagFigures[]): void;
}

export function createDagTally(events: Pick<Events, "on">): DagTally {
  const counted = new Map<string, Counted>();
  const entryOf = (dag: string): Counted => {
    const entry = counted.get(dag) ?? { runs: { success: 0, failed: 0 }, attempts: new Map(), lastSuccessAt: null };
    counted.set(dag, entry);
    return entry;
  };
  events.on("dag.run.ended", ({ dag, state, at }) => {
    const entry = entryOf(dag);
    entry.runs[state]++;
    if (state === "success") entry.lastSuccessAt = at;
  });
  events.on("dag.task.ended", ({ dag, task, outcome }) => {
    const { attempts } = entryOf(dag);
    const known = attempts.get(task) ?? { success: 0, failed: 0, "not met": 0 };
    attempts.set(task, known);
    known[outcome]++;
  });

  return {
    samples(of, configured, figures) {
      for (const dag of counted.keys()) if (!configured.includes(dag)) counted.delete(dag);
      for (const dag of configured.toSorted(compareCodePoints)) {
        const { runs, attempts, lastSuccessAt } = entryOf(dag);
        for (const state of ["success", "failed"] as const)
          of("dagRuns").sample(labelSet(["dag", dag], ["state", state]), runs[state]);
        for (const [task, outcomes] of [...attempts].sort(([a], [b]) => compareCodePoints(a, b))) {
          for (const [outcome, count] of Object.entries(outcomes)) {
            if (count > 0)
              of("dagAttempts").sample(labelSet(["dag", dag], ["task", task], ["outcome", outcome]), count);
          }
        }
        if (lastSuccessAt !== null) of("dagLastSuccess").sample(labelSet(["dag", dag]), lastSuccessAt / 1000);
      }
      for (const { dag, activeRuns, gatesWaiting } of figures.toSorted((a, b) => compareCodePoints(a.dag, b.dag))) {
        of("dagActive").sample(labelSet(["dag", dag]), activeRuns);
        of("dagGates").sample(labelSet(["dag", dag]), gatesWaiting);
      }
    },
  };
}
