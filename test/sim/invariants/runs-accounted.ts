import { readInstant } from "../../../src/journal/instant.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact, FactOf } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant } from "./invariant.ts";

interface StartedRun {
  readonly spawned: FactOf<"spawned">;
  /** Others of its job were running on its daemon: only the first of them has a record (INF-1). */
  readonly overlaps: boolean;
  state: "runs" | "row given away" | "replaced";
}

/**
 * A run that was started is in the ledger at the end: as a row of its own, or as one of outcome unknown (GEN-5, INF-1 to INF-7).
 *
 * Excused are the documented losses: a row or record whose write failed (WRT-1), a record that had not landed when the daemon was killed,
 * an instance beside another one of its job (INF-1), and a record that newer ones have pushed out of the newest eight (INF-5).
 */
export function runsAccounted(world: World): Invariant {
  const runs = new Map<string, StartedRun>();
  const alive = new Map<string, number>();
  const rows = new Set<string>();
  const unknowns = new Set<string>();
  const lostWrites = new Set<string>();
  const opened = new Map<string, number>();
  const landedIn = new Map<string, number>();
  const endedDaemons = new Set<string>();

  const isAccounted = (runId: string, { spawned, overlaps, state }: StartedRun): boolean => {
    const { daemon, job, startedAt } = spawned;
    if (state === "replaced" || rows.has(runId) || unknowns.has(`${job.name} ${startedAt}`)) return true;
    if (overlaps || lostWrites.has(runId)) return true;
    if (state === "runs" && !endedDaemons.has(daemon.proc)) return true; // it goes on, or its daemon tells of it yet
    const order = opened.get(`${daemon.proc} ${job.name} ${startedAt}`);
    if (order === undefined) return true; // its record had not landed
    return (landedIn.get(job.name) ?? 0) - order >= 8 || world.jobs.get(job.name) === undefined;
  };

  return {
    promise: "no run vanishes: it is in the ledger, as itself or as an unknown one (GEN-5, INF-2)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "spawned": {
          const key = `${fact.daemon.proc} ${fact.job.name}`;
          const others = alive.get(key) ?? 0;
          alive.set(key, others + 1);
          runs.set(fact.runId, { spawned: fact, overlaps: others > 0, state: "runs" });
          return null;
        }
        case "finished": {
          const key = `${fact.daemon.proc} ${fact.job.name}`;
          alive.set(key, Math.max(0, (alive.get(key) ?? 0) - 1));
          const run = runs.get(fact.runId);
          if (run !== undefined) run.state = fact.row === null ? "replaced" : "row given away";
          return null;
        }
        case "daemon ended":
          endedDaemons.add(fact.daemon.proc);
          return null;
        case "operation": {
          const { body, fate, target } = fact;
          if (body === null || fate === "answered" || fate === "silent, done" || fate === "slow") return null;
          if (target.startsWith("runs/") && typeof body.runId === "string") {
            // What a killed daemon had handed over and was not done is no lost write: its open record is there to tell.
            if (!endedDaemons.has(fact.daemon.proc)) lostWrites.add(body.runId);
          }
          return null;
        }
        case "landed": {
          const { stream, body } = fact;
          if (stream.startsWith("runs/")) {
            const job = stream.slice("runs/".length);
            if (typeof body.runId === "string") rows.add(body.runId);
            if (body.outcome === "unknown") unknowns.add(`${job} ${instantOf(body.interruptedAt ?? body.finished_at)}`);
          }
          if (stream.startsWith("inflight/")) {
            const job = stream.slice("inflight/".length);
            landedIn.set(job, (landedIn.get(job) ?? 0) + 1);
            if (body.kind === "open")
              opened.set(`${String(body.proc)} ${job} ${instantOf(body.startedAt)}`, landedIn.get(job) ?? 0);
          }
          return null;
        }
        default:
          return null;
      }
    },
    atEnd() {
      for (const [runId, run] of runs) {
        if (isAccounted(runId, run)) continue;
        const { job, daemon, startedAt } = run.spawned;
        return `${job.name}: run ${runId.slice(-6)} of ${daemon.host}, started ${clockTime(startedAt)}, is in no ledger (it was last seen as: ${run.state})`;
      }
      return null;
    },
  };
}

function instantOf(value: unknown): EpochMs | null {
  return typeof value === "string" ? readInstant(value) : null;
}
