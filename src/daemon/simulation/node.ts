import type { Config, JobConfig } from "../../config/model.ts";
import type { LoggerNamed } from "../../contract/log.ts";
import { standalone } from "../../contract/ownership.ts";
import type { Reporting } from "../../contract/report.ts";
import type { RunId } from "../../contract/run.ts";
import type { Journal } from "../../journal/journal.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { createFireLoop, type Timed } from "../../scheduler/fire-loop.ts";
import type { SlotKeeper } from "../../scheduler/gates.ts";
import { createScheduler } from "../../scheduler/scheduler.ts";
import type { MemoryMedium } from "../../store/memory/medium.ts";
import { openMemoryStore } from "../../store/memory/open.ts";
import { createEvents } from "../event-bus.ts";
import { type JournalHost, journalSection } from "../journal-section.ts";
import { noTasks } from "../pool-hosts.ts";
import type { Ending, Happening } from "./happening.ts";
import type { MortalClock } from "./mortal-clock.ts";
import { type Pretence, type PretendProcesses, pretendLauncher } from "./pretend-launcher.ts";

/** The world that a simulated daemon lives in, and what outlives it there. */
export interface SimulatedWorld {
  readonly config: Config;
  readonly medium: MemoryMedium;
  readonly boot: JournalHost["boot"];
  readonly processes: PretendProcesses;
  readonly logs: LoggerNamed;
  newRunId(): RunId;
  /** The instant as it is told: what a daemon does as it starts, it does at the instant it starts at. */
  now(): EpochMs;
  pretend(job: JobConfig): Pretence;
  tell(happening: Happening): void;
}

/** A run that was before the simulation, for catch-up to count from. */
export interface EarlierRun {
  readonly job: string;
  readonly slot: EpochMs;
}

/** One life of the daemon. */
export interface SimulatedNode {
  /** Resolves when a stopped daemon's runs have ended, a killed one is gone at once. */
  end(how: Ending): Promise<void>;
}

const NODE = "simulated";

/** Seeds that are written side by side: fewer than the journal's queue takes. */
const EARLIER_RUNS_AT_ONCE = 1000;

/**
 * The scheduler and its journal as a daemon has them, started as a daemon starts them, on a store in memory and with runs that pretend.
 * It owns every job: what other nodes of a cluster would do is not simulated.
 *
 * @param life counts the daemons of one world, from 1
 * @param earlier runs to be put on record before the daemon looks at what there was
 */
export async function startSimulatedNode(
  world: SimulatedWorld,
  clock: MortalClock,
  life: number,
  earlier: readonly EarlierRun[],
): Promise<SimulatedNode> {
  const { config, tell, logs, now } = world;
  const log = logs("cronstable");
  const events = createEvents(log);
  const launcher = pretendLauncher({ ...world, clock });
  const scheduler = createScheduler({
    clock,
    log,
    launcher,
    reporting: noReporting,
    events,
    owners: standalone,
    slots: () => ownSlots,
    pools: () => journal.pools(),
    node: NODE,
    policy: () => config.state?.onStoreUnavailable ?? "degrade",
    counters: nothingCounted.snapshot,
    newRunId: world.newRunId,
    onMinute: () => journal.minute(),
  });
  const store =
    config.state === null
      ? null
      : openMemoryStore({
          medium: world.medium,
          clock,
          writer: life.toString(16).padStart(12, "0"),
          topology: "single-node",
        });
  const journal = journalSection({
    clock,
    logs,
    self: { host: NODE, proc: life.toString(16).padStart(12, "0") },
    host: async () => ({ boot: world.boot, processes: world.processes }),
    scheduler,
    owners: standalone,
    store: () => store,
    config: () => config,
    jobSetId: () => "simulated",
    tally: async () => nothingCounted,
    taskHost: () => noTasks,
    ownedRuns: () => false,
  });
  const dags = createFireLoop(clock, log, {
    onDue: (dag, slot) => tell({ kind: "dag due", dag, slot, at: now() }),
    onGap: () => {},
    onMinute: () => {},
  });

  events.on("run.launched", ({ job, runId, trigger }) => {
    tell({ kind: "launched", job: job.name, runId, trigger, endsAt: launcher.endOf(job), at: now() });
  });
  events.on("run.finished", ({ job, runId, row }) => {
    const outcome = row === null ? "replaced" : row.kind === "ran" ? row.outcome : "unknown";
    tell({ kind: "ended", job: job.name, runId, outcome, at: now() });
  });
  events.on("run.refused", ({ job, trigger, slot, reason }) =>
    tell({ kind: "refused", job, trigger, slot, reason, at: now() }),
  );

  scheduler.apply(config);
  dags.setJobs(dagTimetables(config));
  await journal.apply(config);
  const kept = journal.current();
  if (kept !== null) await record(kept, earlier);
  await journal.recover();
  scheduler.start();
  dags.start();
  scheduler.resume();

  return {
    async end(how) {
      dags.stop();
      if (how === "stopped") {
        journal.stop();
        await scheduler.stop();
        await journal.close();
      }
      clock.kill();
    },
  };
}

function dagTimetables({ dags }: Config): Timed[] {
  return dags.flatMap(({ name, timing, enabled, scheduleText }) =>
    timing === null ? [] : [{ name: `dag:${name}`, timing, enabled, scheduleText: scheduleText ?? "" }],
  );
}

async function record({ ledger, writes }: Journal, earlier: readonly EarlierRun[]): Promise<void> {
  for (const [index, { job, slot }] of earlier.entries()) {
    ledger.record(job, {
      kind: "ran",
      runId: null,
      trigger: { kind: "schedule", slot },
      outcome: "success",
      exitCode: 0,
      startedAt: slot,
      finishedAt: slot,
      ranAt: slot,
      failReason: null,
      resources: null,
      verification: null,
      limits: null,
    });
    if (index % EARLIER_RUNS_AT_ONCE === EARLIER_RUNS_AT_ONCE - 1) await writes.flush(Number.POSITIVE_INFINITY);
  }
  await writes.flush(Number.POSITIVE_INFINITY);
}

/** Nobody is told of anything. */
const noReporting: Reporting = { wouldAct: () => false, report: async () => {} };

/** The cluster slots of a node that is alone. */
const ownSlots: SlotKeeper = {
  claim: async () => ({ kind: "held", fresh: false }),
  release: () => {},
  pursue: async () => "free",
};

/** Counters have no say in what runs, and keeping those of thousands of jobs would take longer than all the rest. */
const nothingCounted = {
  bounds: [],
  snapshot: () => ({ bounds: [], jobs: new Map() }),
  seed: () => {},
};
