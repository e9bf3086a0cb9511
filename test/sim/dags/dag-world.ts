import type { RunDocument } from "../../../src/dag/run-document.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { type Fleet, type FleetNode, type Launched, type Play, startFleet } from "../../dag/support/fleet.ts";
import { drawnDags, ITEMS } from "../world/drawn-tasks.ts";
import { type Random, seededRandom } from "../world/random.ts";
import { badWeather, fair, type Weather } from "../world/store-trouble.ts";

const SECOND = 1000;

/** A process of a task, as the operating system would see it. */
export interface TaskProcess {
  readonly launch: Launched;
  readonly endsAt: EpochMs;
  readonly exitCode: number;
  readonly host: string;
  /** It was killed with its daemon. */
  killedAt: EpochMs | null;
  /** Its daemon was killed and it was not: only daemons of its host can tell that it is there. */
  isOrphan: boolean;
}

/** A machine with at most one daemon at a time. */
interface Place {
  readonly host: string;
  node: FleetNode | null;
  weather: Weather;
  /** When its store last did not answer well, or its daemon was frozen; with a frozen one, until when. */
  troubleAt: EpochMs;
}

/** What a world has been through. */
export interface DagFigures {
  runs: number;
  launches: number;
  kills: number;
  freezes: number;
  storeFaults: number;
  decisions: number;
}

/** Engines on several hosts, one store, and a seed that says what happens to them. */
export interface DagWorld {
  readonly fleet: Fleet;
  readonly random: Random;
  readonly places: readonly Place[];
  readonly processes: readonly TaskProcess[];
  readonly figures: DagFigures;
  /** Worlds without these two are strict: whatever runs twice there has no excuse. */
  readonly alsoHappens: readonly ("freeze" | "weather")[];
  /** Told of each process at the moment it starts. */
  onLaunch: (process: TaskProcess) => void;
  start(place: Place): void;
  kill(place: Place): void;
  freeze(place: Place): void;
  trigger(): Promise<void>;
  /** Decides a gate that waits, if there is one. */
  decide(): Promise<void>;
  runs(): { readonly dag: string; readonly runKey: string; readonly run: RunDocument }[];
}

export function createDagWorld(seed: number): DagWorld {
  const random = seededRandom(seed ^ 0xda6);
  const { yaml, names } = drawnDags(random.fork());
  const fates = random.fork();
  const trouble = random.fork();
  const processes: TaskProcess[] = [];
  const figures: DagFigures = { runs: 0, launches: 0, kills: 0, freezes: 0, storeFaults: 0, decisions: 0 };
  const alsoHappens = (["freeze", "weather"] as const).filter(() => random.chance(0.5));
  /** How often the processes of a killed daemon die with it. */
  const dieTogether = random.pick([0, 0.6, 1, 1]);
  let lives = 0;

  const play =
    (draw: () => Play) =>
    (launch: Launched): Play => {
      const drawn = draw();
      const { exitCode = 0, seconds = 0 } = drawn;
      const [host = ""] = launch.node.split(".");
      const endsAt = launch.at + seconds * SECOND;
      const process: TaskProcess = { launch, host, endsAt, exitCode, killedAt: null, isOrphan: false };
      figures.launches++;
      world.onLaunch(process);
      processes.push(process);
      return drawn;
    };
  const seconds = (): number => (fates.chance(0.3) ? 0 : fates.between(1, 150));
  const list = JSON.stringify(Array.from({ length: ITEMS }, (_, index) => index));
  const fleet = startFleet({
    at: "2026-07-04T00:00:00Z",
    yaml,
    commands: {
      work: play(() => ({ seconds: seconds(), exitCode: fates.chance(0.2) ? 1 : 0 })),
      source: play(() => ({ seconds: seconds(), exitCode: fates.chance(0.1) ? 1 : 0, push: { list } })),
      look: play(() => ({ seconds: fates.between(0, 5), exitCode: fates.chance(0.6) ? 1 : 0 })),
    },
  });

  const places: Place[] = Array.from({ length: random.between(1, 3) }, (_, index) => ({
    host: `host${index}`,
    node: null,
    weather: fair,
    troubleAt: Number.NEGATIVE_INFINITY,
  }));

  const live = (): FleetNode[] => places.flatMap(({ node }) => (node === null ? [] : [node]));

  const world: DagWorld = {
    fleet,
    random,
    places,
    processes,
    figures,
    alsoHappens,
    onLaunch: () => {},
    start(place) {
      const node = fleet.start(`${place.host}.${++lives}`, { host: place.host });
      node.conduct = () => {
        const { slow, fail, silent, slowMsMax } = place.weather;
        const drawn = trouble.next();
        if (drawn >= slow + fail + silent) return { kind: "answer" };
        place.troubleAt = fleet.clock.wallNow();
        figures.storeFaults++;
        if (drawn < slow) return { kind: "slow", delayMs: trouble.between(1, slowMsMax) };
        if (drawn < slow + fail) return { kind: "fail", message: "the simulated disk is full" };
        return { kind: "silent", lands: trouble.chance(0.5) };
      };
      place.node = node;
    },
    kill(place) {
      if (place.node === null) return;
      figures.kills++;
      const now = fleet.clock.wallNow();
      const take = trouble.chance(dieTogether);
      for (const process of processes) {
        if (process.launch.node !== place.node.name || process.killedAt !== null || process.endsAt <= now) continue;
        if (take) process.killedAt = now;
        else process.isOrphan = true;
      }
      place.node.crash(take ? "die" : "live");
      place.node = null;
    },
    freeze(place) {
      const { node } = place;
      if (node === null) return;
      figures.freezes++;
      const thawAfter = trouble.between(1, 120) * SECOND;
      place.troubleAt = fleet.clock.wallNow() + thawAfter;
      node.freeze();
      fleet.clock.after(thawAfter, () => node.thaw());
    },
    async trigger() {
      const [node] = live().filter(() => random.chance(0.7));
      if (node === undefined) return;
      const outcome = node.control.trigger(random.pick(names), null);
      void outcome.then(({ kind }) => {
        if (kind === "triggered") figures.runs++;
      });
    },
    async decide() {
      const [node] = live();
      const waiting = world
        .runs()
        .flatMap(({ dag, runKey, run }) =>
          [...run.tasks].flatMap(([key, task]) =>
            task.state === "running" && task.awaitingApproval ? [{ dag, runKey, key }] : [],
          ),
        );
      const [gate, ...others] = waiting;
      if (node === undefined || gate === undefined) return;
      const { dag, runKey, key } = random.pick([gate, ...others]);
      const decision = random.chance(0.7) ? "approve" : "reject";
      void node.control.decide(dag, runKey, key, decision, "alice").then(({ kind }) => {
        if (kind === "decided") figures.decisions++;
      });
    },
    runs: () => names.flatMap((dag) => fleet.keys(dag).map((runKey) => ({ dag, runKey, run: fleet.run(dag, runKey) }))),
  };
  for (const place of places) world.start(place);
  return world;
}

/** Lets one thing happen, of the kinds that do. */
export async function somethingHappens(world: DagWorld): Promise<void> {
  const { random, places } = world;
  const [first, ...others] = places;
  if (first === undefined) return;
  const place = random.pick([first, ...others]);
  switch (random.pick(["trigger", "trigger", "decide", "decide", "kill", ...world.alsoHappens])) {
    case "trigger":
      await world.trigger();
      break;
    case "decide":
      await world.decide();
      break;
    case "kill":
      if (place.node === null) break;
      world.kill(place);
      world.fleet.clock.after(random.between(1, 200) * SECOND, () => {
        if (place.node === null) world.start(place);
      });
      break;
    case "freeze":
      world.freeze(place);
      break;
    case "weather":
      place.weather = badWeather(random);
      world.fleet.clock.after(random.between(5, 120) * SECOND, () => {
        place.weather = fair;
      });
  }
}
