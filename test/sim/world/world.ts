import type { Config, JobConfig, PoolConfig } from "../../../src/config/model.ts";
import type { Owners, Ownership } from "../../../src/contract/ownership.ts";
import type { PoolDocument } from "../../../src/contract/pool.ts";
import type { RunDocument } from "../../../src/dag/run-document.ts";
import { decodeRun } from "../../../src/dag/run-document-codec.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { settled } from "../../../src/platform/simulated-clock.ts";
import type { ArgumentsOf, Operation } from "../../../src/store/engine.ts";
import { decodeEnvelope } from "../../../src/store/envelope.ts";
import { openInThread } from "../../../src/store/front/in-thread.ts";
import type { JsonObject } from "../../../src/store/json.ts";
import type { Lease, Store } from "../../../src/store/store.ts";
import { configOf } from "../../support/node.ts";
import type { DaemonId, Fact, NewFact } from "./facts.ts";
import { type SimHost, simHost } from "./host.ts";
import { type Life, newLife } from "./life.ts";
import { inMemory, onDisk } from "./media.ts";
import { type Random, seededRandom } from "./random.ts";
import { type SimDaemon, startSimDaemon } from "./sim-daemon.ts";
import { drawDag, type SimDag, taskBehaviour } from "./sim-dag.ts";
import { type Behaviour, drawJob, inPool, type SimJob } from "./sim-job.ts";
import { conductOf, fair, isOnLeases, type Weather } from "./store-trouble.ts";
import { type Transcript, transcript } from "./transcript.ts";
import { type WorldTime, worldTime } from "./world-time.ts";

/** What a world is drawn from. */
export interface Setup {
  readonly seed: number;
  readonly hosts: number;
  readonly jobs: number;
  readonly policy: "degrade" | "fail-closed";
  readonly dags: number;
  readonly pools: number;
  /** What the store is on: in memory, or files as a real daemon has them. */
  readonly store: "memory" | "files";
}

/** A place of one daemon after the other: a host, its daemon of the moment, and how the store is for it. */
export interface Place {
  readonly host: SimHost;
  daemon: SimDaemon | null;
  weather: Weather;
  /** Whom it takes for the owner of the jobs that have one. */
  believes: string | null | "unclear";
}

export interface World {
  readonly setup: Setup;
  readonly time: WorldTime;
  readonly random: Random;
  readonly places: readonly Place[];
  readonly transcript: Transcript;
  readonly jobs: ReadonlyMap<string, SimJob>;
  readonly dags: ReadonlyMap<string, SimDag>;
  readonly pools: ReadonlyMap<string, PoolConfig>;
  /** Runs of DAGs as the store has them. */
  runs(): Iterable<RunDocument>;
  /** The jobs as they are configured now, on every host alike. */
  config(): Config;
  changeJobs(change: (jobs: Map<string, SimJob>) => void): void;
  changeDags(change: (dags: Map<string, SimDag>) => void): void;
  startDaemon(place: Place): void;
  /** Moves ownership of all jobs that have an owner: nobody is for a while. */
  moveOwnership(to: string | null, withinMs: number): void;
  owner(): string | null;
  /** All there are in the store. */
  leases(): readonly Lease[];
  watch(watcher: (fact: Fact) => void): void;
  note(fact: NewFact): void;
  /** Lets time pass, and `after` have a look after each step of it. */
  pass(forMs: number, after: () => void): Promise<void>;
  /** It is not used any more. */
  end(): void;
}

const BEGINNING = Date.parse("2026-03-02T00:00:00Z");

export function createWorld(setup: Setup): World {
  const random = seededRandom(setup.seed);
  const time = worldTime(BEGINNING + random.between(0, 86_400_000));
  const fleet = setup.hosts > 1;
  const written = transcript(time);
  const medium =
    setup.store === "memory"
      ? inMemory()
      : onDisk((line) => written.say({ host: "world", proc: "0" }, `store: ${line}`));
  const hand = medium.engine("ffffffffffff", { wallMicros: () => time.now() * 1000 });
  let leases: readonly Lease[] | null = null;
  const watchers: ((fact: Fact) => void)[] = [];
  const jobs = new Map<string, SimJob>();
  const dags = new Map<string, SimDag>();
  const pools = new Map<string, PoolConfig>();
  const runs = new Map<string, RunDocument>();
  let config: Config | null = null;
  let owner: string | null = null;
  let daemons = 0;

  const note = (fact: NewFact): void => {
    const whole = { ...fact, at: time.now() } as Fact;
    if (whole.kind === "run written") {
      const key = `${whole.dag} ${whole.runKey}`;
      if (whole.run === null) runs.delete(key);
      else runs.set(key, whole.run);
    }
    written.note(whole);
    for (const watcher of watchers) watcher(whole);
  };

  const currentConfig = (): Config => {
    config ??= {
      ...configOf([...jobs.values()].map((job) => job.config)),
      dags: [...dags.values()].map((dag) => dag.config),
      pools,
      state: stateOf(setup),
    };
    return config;
  };

  const draws = random.fork();
  for (let index = 0; index < setup.jobs; index++) {
    const job = drawJob(`job${index}`, draws, { fleet });
    jobs.set(job.config.name, job);
  }
  const dagDraws = seededRandom(setup.seed ^ 0xda6);
  for (let index = 0; index < setup.pools; index++) {
    const pool = { name: `pool${index}`, slots: dagDraws.between(1, 3), maxQueued: dagDraws.pick([4, 1000]) };
    pools.set(pool.name, pool);
    const name = `pooled${index}`;
    const timetable = { periodMs: dagDraws.pick([10, 20, 30]) * 60_000, offsetMs: dagDraws.between(0, 9) * 60_000 };
    jobs.set(name, inPool(drawJob(name, dagDraws, { fleet, timetable }), pool, dagDraws));
  }
  for (let index = 0; index < setup.dags; index++) {
    const name = `dag${index}`;
    dags.set(name, drawDag(name, dagDraws, pools));
  }
  const behaviourOf = (job: JobConfig, draw: Random): Behaviour =>
    jobs.get(job.name)?.behave(draw) ?? taskBehaviour(job, draw);

  const places: Place[] = Array.from({ length: setup.hosts }, (_, index) => ({
    host: simHost({
      name: `host${index}`,
      world: time,
      random: random.fork(),
      skewMs: random.between(-400, 400),
      tellsIdentity: random.chance(0.8),
      behaviourOf,
      note,
    }),
    daemon: null,
    weather: fair,
    believes: null,
  }));
  owner = fleet ? "host0" : null;
  for (const place of places) place.believes = owner;

  const ownersFor = (place: Place): Owners => ({
    of({ clusterPolicy }): Ownership {
      const { believes, host } = place;
      if (!fleet || clusterPolicy === "EveryNode" || believes === host.name) return { kind: "here" };
      return believes === "unclear" || believes === null ? { kind: "unclear" } : { kind: "elsewhere", owner: believes };
    },
    resumesRetries: () => fleet,
  });

  const openStore = (place: Place, id: DaemonId, life: Life, clock: Clock): Promise<Store | null> => {
    const draws = random.fork();
    return new Promise((resolve) => {
      const { fail, silent, slow, leasesOnly } = place.weather;
      const bad = !leasesOnly && draws.chance(fail + silent);
      const isSlow = !leasesOnly && draws.chance(slow);
      const takesMs = isSlow ? draws.between(0, 9_000) : draws.between(0, 300);
      if (isSlow || bad) note({ kind: "store opens slowly", host: place.host.name }); // the first fires may come before it
      clock.after(bad && draws.chance(0.5) ? 10_000 : takesMs, () => {
        if (bad) {
          note({ kind: "store not opened", host: place.host.name });
          return resolve(null);
        }
        resolve(
          openInThread(medium.engine(id.proc, { wallMicros: () => clock.wallNow() * 1000 }), {
            clock,
            topology: topologyOf(setup),
            conduct(operation, args) {
              const { conduct, fate } = conductOf(operation, { weather: place.weather, life, random: draws });
              const target = targetOf(operation, args);
              if (target !== null)
                note({ kind: "operation", daemon: id, operation, target, fate, body: bodyOf(operation, args) });
              return conduct;
            },
            onDone(operation, args) {
              if (isOnLeases(operation)) leases = null;
              const body = bodyOf(operation, args);
              const stream = targetOf(operation, args);
              if (body !== null && stream !== null) note({ kind: "landed", daemon: id, stream, body });
              if (operation === "swapDocument" && "version" in args) swapped(id, args);
            },
          }),
        );
      });
    });
  };

  /** Told of each document the moment a daemon has swapped it, or was too late to. */
  const swapped = (daemon: DaemonId, { namespace, key, text }: ArgumentsOf<"swapDocument">): void => {
    if (hand.peekDocument({ namespace, key }) !== text) return;
    if (namespace.startsWith("dagrun/")) {
      const decoded = text === null ? null : decodeEnvelope(text);
      const data = decoded?.kind === "current" ? decoded.data : null;
      const found = data === null ? null : decodeRun(data);
      const run = found?.kind === "run" ? found.run : null;
      note({ kind: "run written", daemon, dag: namespace.slice("dagrun/".length), runKey: key, run });
    }
    // As it was written: by far the most frequent of all documents, and all of it small numbers.
    if (namespace === "pool" && text !== null)
      note({ kind: "pool written", daemon, document: (JSON.parse(text) as { data: PoolDocument }).data });
  };

  const startDaemon = (place: Place): void => {
    if (place.host.clock.asleep) {
      time.at(time.now() + 60_000, () => startDaemon(place));
      return;
    }
    if (place.daemon !== null) return;
    const id = { host: place.host.name, proc: (++daemons).toString(16).padStart(12, "0") };
    const life = newLife(
      (how) => {
        place.daemon = null;
        note({ kind: "daemon ended", daemon: id, how });
      },
      random.chance(0.5) ? 0 : random.between(1, 6),
    );
    const reports = random.fork();
    place.daemon = startSimDaemon({
      id,
      host: place.host,
      life,
      config: currentConfig(),
      owners: ownersFor(place),
      reportMs: () => (reports.chance(0.7) ? 0 : reports.between(1, 8_000)),
      openStore: (clock) => openStore(place, id, life, clock),
      random: seededRandom(setup.seed ^ (daemons * 0x9e3779b1)),
      note,
      say: (line) => written.say(id, line),
    });
    if (!life.alive) place.daemon = null;
  };

  const configure = (): void => {
    config = null;
    for (const { daemon, host } of places) {
      const reload = (): void => {
        if (daemon?.life.effect() === true) daemon.apply(currentConfig());
      };
      if (host.clock.asleep) host.clock.after(0, reload);
      else reload();
    }
  };

  return {
    setup,
    time,
    random,
    places,
    transcript: written,
    jobs,
    dags,
    pools,
    runs: () => runs.values(),
    config: currentConfig,
    changeJobs(change) {
      change(jobs);
      configure();
    },
    changeDags(change) {
      change(dags);
      configure();
    },
    startDaemon,
    moveOwnership(to, withinMs) {
      owner = null;
      for (const place of places) place.believes = place.believes === place.host.name ? to : "unclear";
      time.at(time.now() + withinMs, () => {
        owner = to;
        for (const place of places) place.believes = to;
        note({ kind: "owner changed", owner: to });
      });
      note({ kind: "owner changed", owner: null });
    },
    owner: () => owner,
    leases() {
      leases ??= hand.listLeases({});
      return leases;
    },
    watch: (watcher) => watchers.push(watcher),
    note,
    async pass(forMs, after) {
      const until = time.now() + forMs;
      await settled();
      after();
      while (time.step(until)) {
        await settled();
        after();
      }
    },
    end: medium.dispose,
  };
}

function topologyOf({ hosts }: Setup): "single-node" | "shared" {
  return hosts === 1 ? "single-node" : "shared";
}

function stateOf(setup: Setup): NonNullable<Config["state"]> {
  const { policy } = setup;
  return {
    path: "/simulated",
    topology: topologyOf(setup),
    deploymentId: null,
    maxRunsPerJob: 1000,
    onStoreUnavailable: policy,
    gcGraceSeconds: 604_800,
    maxOpsPerSecond: 0,
    slotTtlSeconds: 30,
    jobApi: {
      enabled: false,
      listen: null,
      maxValueBytes: 1,
      maxArtifactBytes: 1,
      lockTtlSeconds: 30,
      allowNonLoopbackBind: false,
      tls: null,
    },
  };
}

function targetOf(operation: Operation, args: ArgumentsOf<Operation>): string | null {
  if ("stream" in args) return args.stream;
  if ("lease" in args) return args.lease.name;
  if ("namespace" in args && "key" in args) return `${args.namespace}/${args.key}`;
  if ("holder" in args) return args.name;
  if (operation === "readLease" && "name" in args) return args.name;
  if (operation === "streamNames" && "prefix" in args) return args.prefix;
  return null;
}

function bodyOf(operation: Operation, args: ArgumentsOf<Operation>): JsonObject | null {
  if (operation !== "append" || !("text" in args) || args.text === null) return null;
  const decoded = decodeEnvelope(args.text);
  return decoded.kind === "current" ? decoded.data : null;
}
