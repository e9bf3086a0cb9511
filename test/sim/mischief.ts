import { drawDag } from "./world/sim-dag.ts";
import { drawJob, type SimJob } from "./world/sim-job.ts";
import { badWeather, fair } from "./world/store-trouble.ts";
import type { Place, World } from "./world/world.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Lets things go wrong until `until`: what, when and for how long follows from the world's seed. */
export function letThingsGoWrong(world: World, until: number): void {
  const random = world.random.fork();
  const next = (): void => {
    const at = world.time.now() + random.between(10 * SECOND, 8 * MINUTE);
    if (at >= until) return;
    world.time.at(at, () => {
      doSomething();
      next();
    });
  };

  const anyPlace = (): Place => {
    const [first, ...others] = world.places;
    if (first === undefined) throw new Error("a world has a host");
    return random.pick([first, ...others]);
  };

  const anyJob = (): SimJob | null => {
    const [first, ...others] = world.jobs.values();
    return first === undefined ? null : random.pick([first, ...others]);
  };

  const startLater = (place: Place): void => {
    const afterMs = random.chance(0.1)
      ? random.between(HOUR, 2 * HOUR)
      : random.between(SECOND, random.pick([20 * SECOND, 10 * MINUTE]));
    world.time.at(world.time.now() + afterMs, () => world.startDaemon(place));
  };

  const kill = (place: Place): void => {
    const { daemon } = place;
    if (daemon === null || place.host.clock.asleep) return;
    // Its processes outlive it, or are killed with it; the latter only where there are DAGs, which have to tell one from the other.
    const takesAll = world.setup.dags > 0 && random.chance(0.5);
    const die = (): void => {
      daemon.life.end("killed");
      if (takesAll) place.host.killProcessesOf(daemon.id);
    };
    // At once, or in the middle of what it does next; a little later it is over in any case, and its supervisor starts another.
    if (random.chance(0.3)) die();
    else daemon.life.endAfter(random.between(0, 40));
    world.time.at(world.time.now() + (daemon.life.alive ? 90 * SECOND : 0), () => {
      die();
      startLater(place);
    });
  };

  const reboot = (place: Place): void => {
    place.daemon?.life.end("killed");
    place.host.reboot();
    startLater(place);
  };

  const stop = (place: Place): void => {
    const { daemon } = place;
    if (daemon === null || place.host.clock.asleep) return;
    daemon.stop();
    // An impatient supervisor kills what does not stop in time.
    world.time.at(world.time.now() + random.between(SECOND, 20 * MINUTE), () => {
      daemon.life.end("killed");
      startLater(place);
    });
  };

  const weather = (): void => {
    const hit = random.chance(0.5) ? world.places : [anyPlace()];
    const bad = badWeather(random);
    for (const place of hit) {
      place.weather = bad;
      world.transcript.say({ host: place.host.name, proc: "0" }, `store: ${bad.name}`);
    }
    world.time.at(world.time.now() + random.between(5 * SECOND, 40 * MINUTE), () => {
      for (const place of hit) if (place.weather === bad) place.weather = fair;
    });
  };

  const moveClock = (place: Place): void => {
    const { clock, name } = place.host;
    if (clock.asleep) return;
    if (random.chance(0.5)) {
      const drawn = random.chance(0.5) ? random.between(SECOND, 60 * SECOND) : random.between(MINUTE, 3 * HOUR);
      const forMs = Math.min(drawn, until - world.time.now()); // awake again when all is to be whole
      world.note({ kind: "clock moved", host: name, how: "sleeps", byMs: forMs });
      clock.sleep(forMs, () => world.note({ kind: "clock moved", host: name, how: "woke", byMs: forMs }));
      return;
    }
    // Hosts that share a store keep their clocks together; one alone may be set as its operator likes.
    const reach = world.places.length > 1 ? 2 * SECOND : random.pick([5 * SECOND, 5 * MINUTE, 3 * HOUR]);
    const byMs = random.between(-reach, reach);
    clock.step(byMs);
    world.note({ kind: "clock moved", host: name, how: "stepped", byMs });
  };

  const pause = (): void => {
    const { daemon, host } = anyPlace();
    const job = anyJob();
    if (daemon === null || job === null || host.clock.asleep) return;
    if (random.chance(0.4)) daemon.resume(job.config.name);
    else daemon.pause(job.config.name, random.between(30 * SECOND, 90 * MINUTE));
  };

  const byHand = (): void => {
    const { daemon, host } = anyPlace();
    const job = anyJob();
    if (daemon === null || job === null || host.clock.asleep) return;
    if (random.chance(0.5)) void daemon.scheduler.startJob(job.config.name, "operator");
    else void daemon.scheduler.cancelJob(job.config.name);
  };

  const edit = (): void => {
    const job = anyJob();
    if (job === null) return;
    const { name } = job.config;
    world.changeJobs((jobs) => {
      const drawn = random.next();
      if (drawn < 0.3) jobs.set(name, { ...job, config: { ...job.config, enabled: !job.config.enabled } });
      else if (drawn < 0.6)
        jobs.set(name, { ...job, config: { ...job.config, command: `edited ${random.between(0, 999)}` } });
      else if (world.pools.size > 0 && job.config.launch.pool !== null) jobs.delete(name);
      else if (drawn < 0.7) jobs.delete(name);
      else jobs.set(name, drawJob(name, random, { fleet: world.places.length > 1 }));
    });
    world.transcript.say({ host: "world", proc: "0" }, `${name} was edited`);
    if (!world.jobs.has(name)) {
      world.time.at(world.time.now() + random.between(MINUTE, 30 * MINUTE), () =>
        world.changeJobs((jobs) => jobs.set(name, jobs.get(name) ?? job)),
      );
    }
  };

  const editDag = (): void => {
    const [first, ...others] = world.dags.values();
    if (first === undefined) return;
    const dag = random.pick([first, ...others]);
    const { name } = dag.config;
    world.changeDags((dags) => {
      const drawn = random.next();
      if (drawn < 0.3) dags.delete(name);
      else if (drawn < 0.5) dags.set(name, { ...dag, config: { ...dag.config, enabled: !dag.config.enabled } });
      else dags.set(name, drawDag(name, random, world.pools));
    });
    world.note({ kind: "dag edited", dag: name });
    if (!world.dags.has(name)) {
      world.time.at(world.time.now() + random.between(MINUTE, 30 * MINUTE), () => {
        if (world.dags.has(name)) return;
        world.changeDags((dags) => dags.set(name, dag));
        world.note({ kind: "dag edited", dag: name });
      });
    }
  };

  const trigger = (): void => {
    const [first, ...others] = world.dags.keys();
    const { daemon, host } = anyPlace();
    if (first === undefined || host.clock.asleep) return;
    void daemon?.dagControl()?.trigger(random.pick([first, ...others]), "operator");
  };

  const moveOwner = (): void => {
    if (world.places.length < 2) return;
    const to = random.chance(0.1) ? null : anyPlace().host.name;
    world.moveOwnership(to, random.between(SECOND, 2 * MINUTE));
    if (to === null) world.time.at(world.time.now() + 10 * MINUTE, () => world.moveOwnership("host0", SECOND));
  };

  const doSomething = (): void => {
    random.pick([
      () => kill(anyPlace()),
      () => kill(anyPlace()),
      () => reboot(anyPlace()),
      () => stop(anyPlace()),
      weather,
      weather,
      () => moveClock(anyPlace()),
      pause,
      byHand,
      edit,
      moveOwner,
      ...(world.setup.dags > 0 ? [editDag, trigger, trigger] : []),
    ])();
  };
  next();
}

/** Makes everything whole: the store answers, daemons are up, nothing is paused or disabled, somebody leads. */
export function heal(world: World): void {
  for (const place of world.places) place.weather = fair;
  world.changeDags((dags) => {
    for (const [name, dag] of dags) dags.set(name, { ...dag, config: { ...dag.config, enabled: true } });
  });
  const supervise = (): void => {
    for (const place of world.places) world.startDaemon(place);
    world.time.at(world.time.now() + MINUTE, supervise);
  };
  supervise();
  for (const name of [...world.jobs.keys()]) for (const { daemon } of world.places) daemon?.resume(name);
  if (world.places.length > 1) world.moveOwnership("host0", SECOND);
  world.note({ kind: "healed" });
}

/** Has an operator decide each gate that waits, some time after it began to, at whatever daemon answers. */
export function decideGates(world: World): void {
  if (world.setup.dags === 0) return;
  const random = world.random.fork();
  const decideOne = (): void => {
    const waiting = [...world.runs()].flatMap(({ dag, runKey, tasks }) =>
      [...tasks].flatMap(([taskKey, { awaitingApproval, state }]) =>
        awaitingApproval === true && state === "running" ? [{ dag, runKey, taskKey }] : [],
      ),
    );
    const [gate, ...others] = waiting;
    const controls = world.places.flatMap(({ daemon, host }) => {
      const control = host.clock.asleep ? null : (daemon?.dagControl() ?? null);
      return control === null ? [] : [control];
    });
    const [control, ...otherControls] = controls;
    if (gate !== undefined && control !== undefined) {
      const { dag, runKey, taskKey } = random.pick([gate, ...others]);
      const decision = random.chance(0.7) ? "approve" : "reject";
      void random
        .pick([control, ...otherControls])
        .decide(dag, runKey, taskKey, decision, "alice")
        .then(({ kind }) => {
          if (kind === "decided") world.note({ kind: "gate decided", dag, runKey, taskKey });
        });
    }
    world.time.at(world.time.now() + random.between(SECOND, waiting.length > 1 ? MINUTE : 4 * MINUTE), decideOne);
  };
  decideOne();
}
