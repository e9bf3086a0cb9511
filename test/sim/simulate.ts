import { bootOnce } from "./invariants/boot-once.ts";
import { catchUpOwed } from "./invariants/catch-up.ts";
import { clusterOverlap } from "./invariants/cluster-overlap.ts";
import { dagRecords } from "./invariants/dag-records.ts";
import { dagRetention } from "./invariants/dag-retention.ts";
import { dagRunsEnd } from "./invariants/dag-runs-end.ts";
import { fencesRise } from "./invariants/fences.ts";
import { forbidOverlap } from "./invariants/forbid-overlap.ts";
import { type Invariant, troubleBook } from "./invariants/invariant.ts";
import { launchBound } from "./invariants/launch-bound.ts";
import { poolSlots } from "./invariants/pool-slots.ts";
import { retriesOnce } from "./invariants/retries.ts";
import { runsAccounted } from "./invariants/runs-accounted.ts";
import { slotsServed } from "./invariants/slots-served.ts";
import { tasksOnce } from "./invariants/tasks-once.ts";
import { decideGates, heal, letThingsGoWrong } from "./mischief.ts";
import { seededRandom } from "./world/random.ts";
import type { Figures } from "./world/transcript.ts";
import { createWorld, type Setup, type World } from "./world/world.ts";

const HOUR = 3_600_000;

/** How long a world lasts where nobody says otherwise; a seed breaks its promise again only in a world as long. */
export const usualSpan: Span = { wrongHours: 4, wholeHours: 2 };

/** How long things go wrong, and how long everything is then left alone so that all that is owed can happen. */
export interface Span {
  readonly wrongHours: number;
  readonly wholeHours: number;
}

export interface Simulated {
  readonly figures: Figures;
  readonly simulatedMs: number;
}

/** A broken promise, told so that it can be made to happen again. */
export class BrokenPromise extends Error {}

/** The world that a seed stands for. */
export function setupOf(seed: number, store: Setup["store"] = "memory"): Setup {
  const random = seededRandom(seed ^ 0x5eed);
  return {
    seed,
    hosts: random.pick([1, 1, 1, 3]),
    jobs: random.between(3, 9),
    policy: random.pick(["degrade", "degrade", "fail-closed"]),
    dags: random.pick([0, 1, 1, 2, 3]),
    pools: random.pick([0, 0, 1, 2]),
    store,
  };
}

/**
 * Runs a world: first safety while things go wrong, then, healed, liveness.
 *
 * @throws BrokenPromise with the promise, what broke it, the end of the transcript, and the command that replays it
 */
export async function simulate(setup: Setup, span: Span): Promise<Simulated> {
  const world = createWorld(setup);
  try {
    return await live(world, span);
  } finally {
    world.end();
  }
}

async function live(world: World, span: Span): Promise<Simulated> {
  const { setup } = world;
  const trouble = troubleBook();
  const invariants: readonly Invariant[] = [
    launchBound(world),
    forbidOverlap(trouble),
    clusterOverlap(trouble),
    retriesOnce(world, trouble),
    catchUpOwed(world),
    runsAccounted(world),
    slotsServed(world),
    bootOnce(world, trouble),
    fencesRise(world.leases),
    tasksOnce(world, trouble),
    dagRecords(),
    dagRunsEnd(world, trouble),
    dagRetention(world),
    poolSlots(world, trouble),
  ];
  let broken: BrokenPromise | null = null;
  const judge = ({ promise }: Invariant, wrong: string | null): void => {
    if (wrong === null || broken !== null) return;
    const words = /\b(?:job|pooled|dag|pool)\d+\b/.exec(wrong) ?? [];
    broken = new BrokenPromise(
      [
        `${promise}: ${wrong}`,
        "",
        world.transcript.tail(Number(process.env.SIM_LINES ?? 120), [
          ...words,
          "daemon",
          "clock",
          "store:",
          "owner",
          "healed",
          "edited",
        ]),
        "",
        `replay: SIM_SEED=${setup.seed} SIM_STORE=${setup.store} npx vitest run test/sim`,
      ].join("\n"),
    );
  };
  world.watch((fact) => {
    trouble.saw(fact);
    for (const invariant of invariants) judge(invariant, invariant.saw(fact));
  });
  const look = (): void => {
    for (const invariant of invariants) judge(invariant, invariant.after?.() ?? null);
    if (broken !== null) throw broken;
  };

  const beganAt = world.time.now();
  for (const place of world.places) world.startDaemon(place);
  decideGates(world);
  letThingsGoWrong(world, beganAt + span.wrongHours * HOUR);
  await world.pass(span.wrongHours * HOUR, look);
  heal(world);
  await world.pass(span.wholeHours * HOUR, look);
  for (const invariant of invariants) judge(invariant, invariant.atEnd?.() ?? null);
  look();
  return { figures: world.transcript.figures, simulatedMs: world.time.now() - beganAt };
}
