import type { Config, JobConfig } from "../../config/model.ts";
import type { Logger } from "../../contract/log.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { settled, simulatedClock } from "../../platform/simulated-clock.ts";
import { previousFire } from "../../schedule/fires.ts";
import { memoryMedium } from "../../store/memory/medium.ts";
import type { Ending, Happening } from "./happening.ts";
import { LOG_LINES_MAX } from "./limits.ts";
import { mortalClock } from "./mortal-clock.ts";
import { type EarlierRun, type SimulatedWorld, startSimulatedNode } from "./node.ts";
import { type Pretence, pretendProcesses } from "./pretend-launcher.ts";

/** From `from` up to, not including, `until` no daemon serves anything. */
export interface Outage {
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly how: Ending;
}

/** What is to be simulated: a daemon that is started at `from` and looked at up to, not including, `to`. */
export interface Simulation {
  readonly config: Config;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** In order, none within another, all from `from` on and before `to`. */
  readonly outages: readonly Outage[];
  /** No job has run before; otherwise each ran, and succeeded, at its last slot. */
  readonly isFirstStart: boolean;
  /** Runs and skipped slots after which it is given up. */
  readonly firesMax: number;
  pretend(job: JobConfig): Pretence;
}

export interface Transcript {
  /** In the order in which they happened. */
  readonly happenings: readonly Happening[];
  /** Where it was given up because too much had happened; null when all was seen. */
  readonly cutAt: EpochMs | null;
  /** Different warnings of the daemon about its store, and errors of any kind: the first ones. */
  readonly logged: readonly string[];
}

/** Runs the real scheduler and journal on virtual time (the store in memory, the runs pretending), and writes down what happens. */
export async function simulate(simulation: Simulation): Promise<Transcript> {
  const { config, from, to, outages } = simulation;
  // A millisecond early, so that a slot at the very instant is the daemon's to serve, or not any more.
  const clock = simulatedClock(from - 1);
  const early = new Set([from, ...outages.flatMap((outage) => [outage.from, outage.until])].map((at) => at - 1));
  const now = (): EpochMs => clock.wallNow() + (early.has(clock.wallNow()) ? 1 : 0);
  const happenings: Happening[] = [];
  const logged = new Set<string>();
  let fires = 0;
  let lastRunId = 0;

  const tell = (happening: Happening): void => {
    happenings.push(happening);
    if (isFire(happening)) fires++;
  };
  const isFull = (): boolean => fires >= simulation.firesMax;
  const world: SimulatedWorld = {
    // What the journal keeps has a say only where a daemon comes after another, and keeping it takes most of the time.
    config: outages.length === 0 && !config.jobs.some(isPooled) ? { ...config, state: null } : config,
    medium: memoryMedium(),
    boot: { bootId: "simulated", bootTimeSeconds: from / 1000 },
    processes: pretendProcesses(clock),
    logs: (name) => loggerInto(logged, name === "cronstable.state"),
    newRunId: () => (++lastRunId).toString(16).padStart(32, "0"),
    now,
    pretend: simulation.pretend,
    tell,
  };

  /** Lets time pass up to `until`, or to what is waited for. */
  const pass = async (until: EpochMs, isOver: () => boolean = () => false): Promise<void> => {
    await settled();
    while (!isFull() && !isOver() && clock.runNext(until)) await settled();
  };

  const upTo = to - 1;
  for (let life = 0; life <= outages.length && !isFull() && clock.wallNow() < upTo; life++) {
    const ownTime = mortalClock(clock);
    const earlier = life === 0 && !simulation.isFirstStart ? earlierRuns(world.config, from) : [];
    tell({ kind: "daemon starts", at: now() });
    const node = await startSimulatedNode(world, ownTime, life + 1, earlier);
    const outage = outages[life];
    await pass(outage === undefined ? upTo : outage.from - 1);
    if (outage === undefined || isFull()) break;
    tell({ kind: "daemon ends", how: outage.how, at: now() });
    let isGone = false;
    void node.end(outage.how).then(() => {
      isGone = true;
    });
    await pass(upTo, () => isGone);
    if (!isGone) break;
    tell({ kind: "daemon gone", at: now() });
    await pass(Math.max(clock.wallNow(), Math.min(outage.until - 1, upTo)));
  }
  return { happenings, cutAt: isFull() ? now() : null, logged: [...logged] };
}

/** What would make the output longer. */
function isFire({ kind }: Happening): boolean {
  return kind === "launched" || kind === "refused" || kind === "dag due";
}

/** Catch-up counts from a job's last run; a job that does not catch up needs none. */
function earlierRuns({ jobs, state }: Config, from: EpochMs): EarlierRun[] {
  if (state === null) return [];
  return jobs.flatMap(({ name, enabled, timing, onMissed }) => {
    if (!enabled || onMissed === "skip" || timing.kind !== "timetable") return [];
    const slot = previousFire(timing.schedule, timing.zone, from);
    return slot === null ? [] : [{ job: name, slot }];
  });
}

function loggerInto(lines: Set<string>, withWarnings: boolean): Logger {
  const keep = (message: string): void => {
    if (lines.size < LOG_LINES_MAX) lines.add(message);
  };
  const drop = (): void => {};
  return {
    debug: drop,
    info: drop,
    warning: withWarnings ? keep : drop, // what the scheduler warns of, skipped slots and such, is told by itself
    error: keep,
    critical: keep,
    enabled: (level) => level !== "debug" && level !== "info",
  };
}

function isPooled({ launch }: JobConfig): boolean {
  return launch.pool !== null;
}
