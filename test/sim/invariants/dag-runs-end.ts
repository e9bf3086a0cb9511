import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact } from "../world/facts.ts";
import { slotsOf } from "../world/sim-job.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant, type Trouble } from "./invariant.ts";

/** By then a run has ended of which nothing is held up: all its retries, pokes, gates, and its turns in the pools. */
const ENDS_WITHIN_MS = 80 * 60_000;

/** By then after everything is whole every daemon is up and has adopted and seeded. */
const WHOLE_WITHIN_MS = 15 * 60_000;

const CREATED_WITHIN_MS = 30_000;

/**
 * When all is whole every run comes to its end, whatever it went through, and each due slot of a DAG has one (D-CRS-1, D-SCH-4).
 *
 * Not judged are runs whose host's clock went back since they began: what they wait for was put down in the time before.
 */
export function dagRunsEnd(world: World, trouble: Trouble): Invariant {
  const created = new Map<string, EpochMs>();
  const editedAt = new Map<string, EpochMs>();
  let wholeAt: EpochMs = Number.POSITIVE_INFINITY;
  return {
    promise: "a run always ends, and every due slot has its run (D-CRS-1, D-SCH-4)",
    saw(fact: Fact) {
      if (fact.kind === "healed") wholeAt = fact.at;
      if (fact.kind === "dag edited") editedAt.set(fact.dag, fact.at);
      if (fact.kind === "run written") {
        const key = `${fact.dag} ${fact.runKey}`;
        if (!created.has(key)) created.set(key, fact.at);
      }
      return null;
    },
    atEnd() {
      const now = world.time.now();
      const clockMoved = (since: EpochMs): boolean =>
        world.places.length === 1 && world.places.some(({ host }) => trouble.clockSince(host.name, since));
      for (const { dag, runKey, state, tasks } of world.runs()) {
        const since = created.get(`${dag} ${runKey}`) ?? now;
        if (!world.dags.has(dag) || now - since < ENDS_WITHIN_MS || clockMoved(since)) continue;
        const states = [...tasks].map(([key, task]) => `${key} ${task.state}`).join(", ");
        if (state === "running") return `${dag} ${runKey}, begun ${clockTime(since)}, has not ended: ${states}`;
      }
      for (const [name, { timetable }] of world.dags) {
        const from = Math.max(wholeAt, editedAt.get(name) ?? 0) + WHOLE_WITHIN_MS;
        if (timetable === null || clockMoved(from)) continue;
        const wall = world.places[0]?.host.clock.wallNow() ?? now;
        for (const slot of slotsOf(timetable, from + wall - now, wall - CREATED_WITHIN_MS)) {
          const runKey = new Date(slot).toISOString().replace(/\.\d+Z$/, "_00:00");
          const at = created.get(`${name} ${runKey}`);
          if (at === undefined) return `${name} has no run of its slot ${clockTime(slot)}`;
        }
      }
      return null;
    },
  };
}
