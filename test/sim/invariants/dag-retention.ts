import type { RunDocument } from "../../../src/dag/run-document.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import type { Invariant } from "./invariant.ts";

/** A pass comes each hour. */
const KEPT_LONGER_AT_MOST_MS = 75 * 60_000;

/** Retention deletes finished runs only, keeps the newest, and does get to the others (D-RET-1 to D-RET-8). */
export function dagRetention(world: World): Invariant {
  const runs = new Map<string, RunDocument>();
  const endedAt = new Map<string, EpochMs>();
  /** What a daemon that has not heard of an edit may go by. */
  const leastKept = new Map<string, number>();
  const keepOf = (dag: string): number => {
    const configured = world.dags.get(dag)?.config.retainRuns ?? 1;
    const least = Math.min(configured, leastKept.get(dag) ?? configured);
    leastKept.set(dag, least);
    return least;
  };
  const finished = (dag: string): RunDocument[] =>
    [...runs.values()].filter((run) => run.dag === dag && run.state !== "running");
  return {
    promise: "retention never deletes a live run, nor one of the newest (D-RET-1, D-RET-2)",
    saw(fact: Fact) {
      if (fact.kind !== "run written") return null;
      const { dag, runKey, run } = fact;
      const key = `${dag} ${runKey}`;
      const before = runs.get(key);
      const keep = keepOf(dag);
      if (run !== null) {
        if (run.state !== "running" && before?.state !== run.state) endedAt.set(key, fact.at);
        runs.set(key, run);
        return null;
      }
      runs.delete(key);
      if (before === undefined) return null;
      if (before.state === "running") return `${key} was deleted while it was running`;
      const left = finished(dag).length;
      return left < keep ? `${key} was deleted, of ${keep} to keep there are ${left}` : null;
    },
    atEnd() {
      for (const [name, { config }] of world.dags) {
        const old = finished(name).filter(
          ({ runKey }) => world.time.now() - (endedAt.get(`${name} ${runKey}`) ?? 0) > KEPT_LONGER_AT_MOST_MS,
        );
        if (old.length > config.retainRuns)
          return `${name} has ${old.length} finished runs for more than an hour, and is to keep ${config.retainRuns}`;
      }
      return null;
    },
  };
}
