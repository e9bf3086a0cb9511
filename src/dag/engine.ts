import type { Config, DagConfig } from "../config/model.ts";
import type { Events } from "../contract/events.ts";
import type { Launcher, LiveOutput } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { Reporting } from "../contract/report.ts";
import type { Backend } from "../journal/backend.ts";
import type { Processes } from "../journal/inflight/inflight.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { PoolHost } from "../scheduler/pool-line.ts";
import { createAdmissions, type TaskPools } from "./admissions.ts";
import type { ClusterGate } from "./cluster-gate.ts";
import { createCompletions } from "./completions.ts";
import { createHandOuts } from "./hand-outs.ts";
import { createDagNotices } from "./notices.ts";
import { createPidStamps } from "./pid-stamps.ts";
import { pidStart } from "./processes.ts";
import { createRunStore, type RunRef } from "./run-store.ts";
import { createDagSchedules } from "./schedules.ts";
import { openSession, type Session } from "./session.ts";
import { createSlotQueue } from "./slot-queue.ts";
import { createTaskRuns, type LaunchedClaim, type LiveTask, type TaskEnd } from "./task-runs.ts";

/** How long a stop waits for the store to take what tasks ended with. */
const STORE_PATIENCE_MS = 30_000;

export interface DagEngineParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  readonly processes: Processes;
  readonly gate: ClusterGate;
  /** Identity of this node and of this process: 12 hex digits, drawn at its start. */
  readonly host: string;
  readonly proc: string;
  /** The store of the moment, asked for at each use. */
  readonly store: Backend;
  /** The queues of pools, null without a journal. */
  readonly pools: () => TaskPools | null;
  readonly randomHex: (bytes: number) => string;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/**
 * Runs the DAGs of the configuration in force (6). Numbered rules, cited where they are kept:
 *   E1. Everything about one store lives in a session, which ends when that store does (D-CRS-6).
 *   E2. What is known of launched tasks lives as long as the process: their ends are owed to whatever store there is (D-CLM-8).
 *   E3. Once it is told to stop, nothing new is claimed, launched, created or expanded (D-STP-2).
 */
export interface DagEngine {
  /** Begins to work with the first configuration. */
  start(config: Config): void;
  /** Takes another configuration; active runs go on under it (13.3). */
  apply(config: Config): void;
  /** The store may be another one now, or none. */
  storeChanged(): void;
  /** The session of the moment; null without a store. */
  session(): Session | null;
  dag(name: string): DagConfig | null;
  dags(): readonly DagConfig[];
  nextFire(dag: string): EpochMs | null;
  output(run: RunRef, taskKey: string): LiveOutput | null;
  running(): readonly LiveTask[];
  /** What becomes of entries of tasks in the queues of pools. */
  readonly poolHost: PoolHost;
  owns(dag: string, runKey: string): boolean;
  /** Begins nothing any more; waits for the tasks that run, stores how they ended, then gives all runs back (D-STP-1). */
  stop(): Promise<void>;
}

export function createDagEngine(parts: DagEngineParts): DagEngine {
  const { clock, log, proc, store } = parts;
  let config: Config | null = null;
  let dags = new Map<string, DagConfig>();
  let session: Session | null = null;
  let draining = false;

  const dag = (name: string): DagConfig | null => dags.get(name) ?? null;
  const runs = createRunStore(store, (run) => session?.index.touched(run.dag, run.runKey));
  const handOuts = createHandOuts();
  const notices = createDagNotices(parts.reporting, () => config?.notify ?? null);
  const slots = createSlotQueue(log);

  const admissions = createAdmissions({
    pools: parts.pools,
    host: parts.host,
    log,
    isDraining: () => draining,
    onNews: (run) => session?.advancer.advance(run),
    onLost: (run, runId, claim) => taskRuns.cancel(run, runId, claim),
    onStranger: () => session?.sweepSoon(),
  });

  /** @returns whether one is to come */
  const askPass = (run: RunRef): boolean => {
    if (session?.ownership.owns(run) !== true) return false;
    session.advancer.advance(run);
    return true;
  };

  const pids = createPidStamps({ clock, askPass });

  const completions = createCompletions({
    runs,
    clock,
    log,
    dag,
    onStored(run, runId, ended) {
      for (const { claim } of ended) handOuts.remove(run, runId, claim);
    },
    askPass,
  });

  const onEnded = (launched: LaunchedClaim, end: TaskEnd): void => {
    const { run, runId, claim } = launched;
    admissions.ended(run, runId, claim);
    pids.remove(run, runId, [claim]);
    const completion = {
      claim,
      proc,
      at: clock.wallNow() / 1000,
      end: end.kind === "ran" ? ({ kind: "exited", ...end.result } as const) : end,
      jitter: parts.random(),
    };
    completions.add(run, runId, completion, taskRuns.runsOthersLike(launched) ? "with others" : "at once");
  };

  const taskRuns = createTaskRuns({
    ...parts,
    handOuts,
    newRunId: () => parts.randomHex(16),
    onSpawned: ({ run, runId, claim }, pid) =>
      pids.add(run, runId, { claim, pid, pidStart: pidStart(parts.processes, pid) }),
    onEnded,
    onReleased({ run, runId, claim }) {
      admissions.notLaunched(run, runId, claim);
      if (session?.ownership.owns(run) === true) session.advancer.advance(run);
      else admissions.letGo(run);
    },
  });

  const schedules = createDagSchedules({
    clock,
    log,
    onDue(name, slot) {
      const due = dag(name);
      if (draining || due === null) return;
      slots.add(due, slot);
      session?.slotsDue();
    },
    onGap: (name, until) => session?.catchUp.wanted(name, until - 1),
  });

  const storeChanged = (): void => {
    const found = draining ? (session?.store ?? null) : store();
    if (found === (session?.store ?? null)) return;
    if (session !== null) {
      session.abandon(); // E1
      session = null;
      admissions.letAllGo();
      taskRuns.cancelUnstarted(); // D-CLM-4
    }
    if (found === null || dags.size === 0) return;
    session = openSession({
      ...parts,
      store: found,
      handOuts,
      taskRuns,
      admissions,
      completions,
      pids,
      notices,
      slots,
      dags: () => [...dags.values()],
      dag,
      mayCreate: (each) => parts.gate.mayCreateScheduled(each),
      isDraining: () => draining,
    });
    completions.hurry();
  };

  const take = (next: Config): readonly string[] => {
    const before = dags;
    config = next;
    dags = new Map(next.dags.map((each) => [each.name, each]));
    schedules.setDags(next.dags);
    return next.dags.flatMap(({ name }) => (before.has(name) ? [] : [name]));
  };

  return {
    start(first) {
      take(first);
      storeChanged();
      schedules.start();
    },
    apply(next) {
      const added = take(next);
      if (session === null) return storeChanged();
      for (const run of session.ownership.owned()) session.advancer.advance(run);
      for (const name of added) session.catchUp.wanted(name);
      if (added.length > 0) session.adoptSoon();
    },
    storeChanged,
    session: () => session,
    dag,
    dags: () => [...dags.values()],
    nextFire: schedules.nextFire,
    output: taskRuns.output,
    running: taskRuns.running,
    poolHost: admissions.host,
    owns: (name, runKey) => session?.ownership.owns({ dag: name, runKey }) ?? false,
    async stop() {
      draining = true; // E3
      schedules.stop();
      taskRuns.silence();
      admissions.letAllGo();
      taskRuns.cancelUnstarted();
      const drained = session?.drain();
      await taskRuns.idle();
      await within(clock, STORE_PATIENCE_MS, completions.settled());
      if (completions.pending > 0)
        log.warning(`dags: how the tasks of ${completions.pending} run(s) ended could not be stored`);
      await drained;
      await session?.leave();
      session = null;
    },
  };
}

function within(clock: Clock, patienceMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(patienceMs, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}
