import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact, SimProcess, TaskStart } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant, type Trouble } from "./invariant.ts";

/** Renewals that failed this long before a launch may have cost the run its lease: time to live, and the scan of its peers. */
const LEASE_LOST_WITHIN_MS = 130_000;

interface Started {
  readonly process: SimProcess;
  readonly at: EpochMs;
  endedAt: EpochMs | null;
  /** Its run says which process it is, so that whoever adopts the run on that host can look for it. */
  isRecorded: boolean;
}

/**
 * No process of an instance starts beside another one of it, and no attempt starts twice (D-CLM-1, D-CLM-3, D-CRS-4, D-INT-7).
 *
 * A second time of one attempt is excused where the DAG was edited since the first. A second process is excused beside one that its record
 * does not name yet; beside one whose daemon is gone and that only daemons of its own host can see; and in a fleet, when one of the two
 * hosts may have lost its lease to a store or clock that failed it.
 */
export function tasksOnce(world: World, trouble: Trouble): Invariant {
  const startsOf = new Map<string, Started[]>();
  const gone = new Set<string>();
  const editedAt = new Map<string, EpochMs>();

  const runsTwice = (fact: { readonly at: EpochMs; readonly process: SimProcess }): string | null => {
    const { task, daemon, job } = fact.process;
    if (task === null) return null;
    const instance = instanceOf(task);
    const earlier = startsOf.get(instance) ?? [];
    startsOf.set(instance, [...earlier, { process: fact.process, at: fact.at, endedAt: null, isRecorded: false }]);
    for (const [index, other] of earlier.entries()) {
      const { process, endedAt, at, isRecorded } = other;
      const first = `${process.daemon.host} (${clockTime(at)})`;
      const isSensor = job.command === "look";
      // The end of a task whose DAG is configured no more is dropped (13.3): it is as if it had not run when the DAG comes back.
      const mayBeDropped = endedAt !== null && (editedAt.get(task.dag) ?? 0) >= at;
      if (!isSensor && !mayBeDropped && process.task?.attempt === task.attempt)
        return `${instance}: attempt ${task.attempt} started on ${first} and again on ${daemon.host}`;
      if (endedAt !== null) continue;
      const hosts = [...earlier.slice(index + 1).map((one) => one.process.daemon.host), daemon.host];
      const wasElsewhere = hosts.some((host) => host !== process.daemon.host);
      const isOrphan = gone.has(process.daemon.proc);
      if (isOrphan && (!isRecorded || wasElsewhere)) continue;
      const since = at - LEASE_LOST_WITHIN_MS;
      const failed = [process.daemon.host, daemon.host].some(
        (host) => trouble.since(host, null, since) || trouble.clockSince(host, since),
      );
      if (world.places.length > 1 && failed) continue;
      return `${instance} runs twice: on ${first}${isOrphan ? ", whose daemon is gone" : ""}, and on ${daemon.host}`;
    }
    return null;
  };

  return {
    promise: "no task runs twice while its process is known, and no attempt twice at all (D-CLM-1, D-CRS-1, D-CRS-4)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "process started":
          return runsTwice(fact);
        case "process ended": {
          const { task, runId } = fact.process;
          if (task === null) return null;
          const own = startsOf.get(instanceOf(task)) ?? [];
          for (const started of own) if (started.process.runId === runId) started.endedAt = fact.at;
          return null;
        }
        case "dag edited":
          editedAt.set(fact.dag, fact.at);
          return null;
        case "daemon ended":
          gone.add(fact.daemon.proc);
          return null;
        case "run written": {
          const { run } = fact;
          if (run === null) return null;
          for (const [taskKey, { proc, pid }] of run.tasks) {
            if (pid === null) continue;
            for (const started of startsOf.get(instanceOf({ ...run, taskKey })) ?? [])
              if (started.process.pid === pid && started.process.daemon.proc === proc) started.isRecorded = true;
          }
          return null;
        }
        default:
          return null;
      }
    },
  };
}

/** A key may get another run once retention has deleted its first. */
function instanceOf({ dag, runKey, runId, taskKey }: Omit<TaskStart, "attempt">): string {
  return `${dag} ${runKey} ${runId.slice(-6)} ${taskKey}`;
}
