import { fencesRise } from "../invariants/fences.ts";
import { ITEMS } from "../world/drawn-tasks.ts";
import { createDagWorld, type DagFigures, type DagWorld, somethingHappens, type TaskProcess } from "./dag-world.ts";

const HOUR_SECONDS = 3600;

/** How long a process that a frozen or failing daemon has may be unknown to its peers: its lease and their scan. */
const UNKNOWN_FOR_MS = 95_000;

/** A broken promise, told so that it can be made to happen again. */
export class BrokenDagPromise extends Error {}

export interface SimulatedDags {
  readonly figures: DagFigures;
  readonly simulatedMs: number;
}

/**
 * Runs the world of a seed: while things go wrong no task runs twice at once, unless its process is one that nobody who answers can
 * know of; when all is whole again every run comes to its end.
 *
 * @throws BrokenDagPromise with what is wrong, the last launches, and the command that replays it
 */
export async function simulateDags(seed: number, wrongHours = 2): Promise<SimulatedDags> {
  const world = createDagWorld(seed);
  const { fleet, random } = world;
  const beganAt = fleet.clock.wallNow();
  let wrong: string | null = null;
  const judge = (found: string | null): void => {
    wrong ??= found;
  };
  const fences = fencesRise(() => [...fleet.medium.leases.values()].map(({ lease }) => lease));
  world.onLaunch = (process) => judge(runsTwice(world, process));

  const look = (): void => {
    judge(fences.after?.() ?? null);
    if (wrong !== null)
      throw new BrokenDagPromise(
        `${wrong}\n${tail(world)}\nreplay: DAG_SIM_SEED=${seed} npx vitest run test/sim/dag-simulation`,
      );
  };
  while (fleet.clock.wallNow() - beganAt < wrongHours * HOUR_SECONDS * 1000) {
    await somethingHappens(world);
    await fleet.until(random.between(1, 60));
    look();
  }

  // Longer than any freeze, bad weather, outage, lease, back-off or task that is still to come to its end.
  await fleet.until(300);
  for (let minute = 0; minute < 180; minute++) {
    await world.decide();
    await fleet.until(60);
    look();
  }
  judge(endedWell(world));
  look();
  return { figures: world.figures, simulatedMs: fleet.clock.wallNow() - beganAt };
}

/** No process starts beside one of the same instance, and no attempt starts twice (D-CLM-1, D-CLM-3, D-CRS-4). */
function runsTwice(world: DagWorld, started: TaskProcess): string | null {
  const { launch } = started;
  const ofInstance = [...world.processes, started].filter(
    (process) => process.launch.runKey === launch.runKey && process.launch.taskKey === launch.taskKey,
  );
  for (const other of ofInstance.slice(0, -1)) {
    const { launch: earlier } = other;
    const overlaps = (other.killedAt ?? other.endsAt) > launch.at;
    const isSensor = launch.request.job.command === "look";
    const sameAttempt = !isSensor && earlier.request.attempt === launch.request.attempt;
    if (!overlaps && !sameAttempt) continue;
    // Another host could not see it, and what that one started stands in the record since.
    const later = ofInstance.slice(ofInstance.indexOf(other) + 1);
    if (other.isOrphan && later.some(({ host }) => host !== other.host)) continue;
    const wasKnown = world.places.every(({ troubleAt }) => troubleAt + UNKNOWN_FOR_MS < earlier.at);
    if (wasKnown)
      return `${launch.taskKey} of ${launch.runKey} ${overlaps ? "runs twice at once" : `made attempt ${launch.request.attempt} twice`}: ${earlier.node} ${earlier.time}, ${launch.node} ${launch.time}`;
  }
  return null;
}

/** Every run has ended, nothing of it is left waiting, and what it says is what its processes did. */
function endedWell(world: DagWorld): string | null {
  for (const { dag, runKey, run } of world.runs()) {
    const of = `run ${runKey} of ${dag}`;
    if (run.state === "running") return `${of} has not ended: ${world.fleet.states(dag, runKey)}`;
    for (const [key, task] of run.tasks) {
      if (task.state === "running" || task.state === "pending")
        return `${of} ended as ${run.state} with ${key} ${task.state}`;
      const own = world.processes.filter(({ launch }) => launch.runKey === runKey && launch.taskKey === key);
      const attempts = own.filter(({ launch }) => launch.request.attempt === task.attempt);
      const hadSuccess = attempts.some(({ exitCode, killedAt }) => exitCode === 0 && killedAt === null);
      if (own.length > 0 && task.state === "success" && !hadSuccess)
        return `${of} tells of a success of ${key} that was none`;
    }
    for (const { items } of run.mapped.values())
      if (items.length !== 0 && items.length !== ITEMS) return `${of} was expanded over ${items.length} items`;
  }
  return null;
}

function tail({ fleet }: DagWorld): string {
  return fleet.transcript().split("\n").slice(-40).join("\n");
}
