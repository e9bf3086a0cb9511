import type { DagConfig } from "../config/model.ts";
import type { Events } from "../contract/events.ts";
import type { Logger } from "../contract/log.ts";
import type { Backend } from "../journal/backend.ts";
import type { Processes } from "../journal/inflight/inflight.ts";
import type { Clock } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import type { Admissions, TaskPools } from "./admissions.ts";
import { type Adoption, createAdoption } from "./adoption.ts";
import { type Advancer, createAdvancer } from "./advancer.ts";
import { ADOPT_EVERY_MS, CREATE_RETRY_MS, QUEUE_SWEEP_EVERY_MS, RETAIN_EVERY_MS, SEED_EVERY_MS } from "./cadence.ts";
import { createCatchUp, type DagCatchUp } from "./catch-up.ts";
import { type Chore, chore } from "./chore.ts";
import type { Completions } from "./completions.ts";
import { type Creation, createCreation } from "./creation.ts";
import type { HandOuts } from "./hand-outs.ts";
import type { DagNotices } from "./notices.ts";
import { createOwnership, type Ownership } from "./ownership.ts";
import { sweepQueues } from "./queue-sweep.ts";
import { prepareRecovery } from "./recovery-artifacts.ts";
import { retainRuns } from "./retention.ts";
import { createRunIndex, type RunIndex } from "./run-index.ts";
import { createRunStore, type RunStore } from "./run-store.ts";
import type { SlotQueue } from "./slot-queue.ts";
import type { TaskRuns } from "./task-runs.ts";

/**
 * The engine's work on one store, from the moment it is there until it is gone (D-CRS-6). Nothing of it reaches the store that comes after:
 * what is under way when the session ends finds no store any more.
 */
export interface Session {
  readonly store: Store;
  readonly backend: Backend;
  readonly runs: RunStore;
  readonly index: RunIndex;
  readonly ownership: Ownership;
  readonly advancer: Advancer;
  readonly creation: Creation;
  readonly catchUp: DagCatchUp;
  /** There are due slots. */
  slotsDue(): void;
  /** Other DAGs are configured. */
  adoptSoon(): void;
  /** A queue may hold entries that no task waits for. */
  sweepSoon(): void;
  /** The daemon stops: nothing is created, adopted or deleted any more. Passes go on, without claims. */
  drain(): Promise<void>;
  /** Ends the passes and gives all runs back (D-STP-1). */
  leave(): Promise<void>;
  /** The store is gone. */
  abandon(): void;
}

export interface SessionParts {
  readonly store: Store;
  readonly host: string;
  readonly proc: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Events;
  readonly handOuts: HandOuts;
  readonly taskRuns: TaskRuns;
  readonly admissions: Admissions;
  readonly completions: Completions;
  readonly pools: () => TaskPools | null;
  readonly notices: DagNotices;
  readonly processes: Processes;
  readonly slots: SlotQueue;
  readonly randomHex: (bytes: number) => string;
  /** In force now. */
  readonly dags: () => readonly DagConfig[];
  readonly dag: (name: string) => DagConfig | null;
  readonly mayCreate: (dag: DagConfig) => boolean;
  readonly isDraining: () => boolean;
}

export function openSession(parts: SessionParts): Session {
  const { store, host, proc, clock, log, dag, slots } = parts;
  let over = false;
  let draining = false;
  const backend: Backend = () => (over ? null : store);
  const holder = `${host}#${proc}`;
  const runs = createRunStore(backend, (run) => index.touched(run.dag, run.runKey));
  const index = createRunIndex(runs, clock);
  const ownership = createOwnership({
    leases: store.leases,
    holder,
    clock,
    log,
    onLost: (run) => advancer.drop(run),
  });
  const advancer: Advancer = createAdvancer({
    ...parts,
    backend,
    runs,
    ownership,
    prepare: (run) => prepareRecovery(run, { backend, runs, ownership, clock, log }),
  });
  const creation = createCreation({ ...parts, runs, ownership, advancer });
  const catchUp = createCatchUp({ ...parts, backend, index, creation, onDecided: () => creator.soon() });
  const adoption: Adoption = createAdoption({
    ...parts,
    runs,
    index,
    ownership,
    advancer,
    isStopped: () => stops(),
  });

  const stops = (): boolean => over || draining;

  let slotsRetryAt = 0;
  const createDue = async (): Promise<void> => {
    if (stops() || clock.elapsedNow() < slotsRetryAt) return;
    const all = await slots.serve(async (name, slot) => {
      const due = dag(name);
      if (stops() || due === null || due.timing === null || !due.enabled || !parts.mayCreate(due)) return "not for us";
      if (catchUp.mustWait(name, slot)) return "not yet";
      return creation.ofDate(due, "scheduled", slot);
    });
    if (all || stops()) return;
    slotsRetryAt = clock.elapsedNow() + CREATE_RETRY_MS;
    clock.after(CREATE_RETRY_MS, () => creator.soon());
  };

  const retain = async (): Promise<void> => {
    for (const each of parts.dags()) {
      if (stops()) return;
      await retainRuns(each, { ...parts, backend, runs, index, holder, isStopped: stops });
    }
  };

  // One after the other, so that no scheduled run is created while old ones are deleted (D-RET-9); what came due meanwhile is created then
  // (D-SCH-8).
  let retainDueAt = clock.elapsedNow();
  const creator = chore("the creation of due runs", RETAIN_EVERY_MS, parts, async () => {
    await createDue();
    if (stops() || clock.elapsedNow() < retainDueAt) return;
    retainDueAt = clock.elapsedNow() + RETAIN_EVERY_MS;
    await retain();
    await createDue();
  });
  const seeder = chore("the look for missed runs", SEED_EVERY_MS, parts, async () => catchUp.tryAgain());
  const adopter = chore("the scan for runs nobody advances", ADOPT_EVERY_MS, parts, () =>
    adoption.scan(parts.dags().map(({ name }) => name)),
  );
  const sweeper = chore("the look for queue entries that no task waits for", QUEUE_SWEEP_EVERY_MS, parts, () =>
    sweepQueues({ ...parts, runs, isStopped: stops }),
  );

  const all: readonly Chore[] = [creator, seeder, adopter, sweeper];
  for (const each of parts.dags()) catchUp.wanted(each.name);
  for (const each of all) each.soon();
  log.info(`dags: at work on ${parts.dags().length} dag(s), as ${holder}`);

  return {
    store,
    backend,
    runs,
    index,
    ownership,
    advancer,
    creation,
    catchUp,
    slotsDue: () => creator.soon(),
    adoptSoon: () => adopter.soon(),
    sweepSoon: () => sweeper.soon(),
    async drain() {
      draining = true;
      await Promise.all([...all.map((each) => each.stop()), catchUp.stop()]);
    },
    async leave() {
      await advancer.stop();
      over = true;
      await ownership.releaseAll();
    },
    abandon() {
      over = true;
      ownership.abandon();
      void advancer.stop();
      void catchUp.stop();
      for (const each of all) void each.stop();
    },
  };
}
