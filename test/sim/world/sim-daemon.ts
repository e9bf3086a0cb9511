import { createClusterSlots } from "../../../src/cluster/slots/slots.ts";
import type { Config } from "../../../src/config/model.ts";
import type { Events } from "../../../src/contract/events.ts";
import type { Logger } from "../../../src/contract/log.ts";
import type { Owners } from "../../../src/contract/ownership.ts";
import { createEvents } from "../../../src/daemon/event-bus.ts";
import { createHousekeeping } from "../../../src/journal/housekeeping.ts";
import { createJournal } from "../../../src/journal/journal.ts";
import { createLockTrust } from "../../../src/journal/lock-trust.ts";
import { recover } from "../../../src/journal/recovery.ts";
import { configuredBy } from "../../../src/journal/upkeep/manifests.ts";
import { createJobTally } from "../../../src/metrics/job-counters.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { createScheduler, type Scheduler } from "../../../src/scheduler/scheduler.ts";
import type { Store } from "../../../src/store/store.ts";
import type { DaemonId, NewFact } from "./facts.ts";
import type { SimHost } from "./host.ts";
import { clockOf, type Life, whileAlive } from "./life.ts";

/** A whole daemon on a simulated host, built and started as `startDaemon` and its sections do it. */
export interface SimDaemon {
  readonly id: DaemonId;
  readonly life: Life;
  readonly scheduler: Scheduler;
  apply(config: Config): void;
  pause(job: string, forMs: number): void;
  resume(job: string): void;
  /** SIGTERM. */
  stop(): void;
}

/** As `daemon.ts` has it: how long the first fires wait for the store and what it remembers. */
const STORE_HEAD_START_MS = 5_000;

export function startSimDaemon(parts: {
  readonly id: DaemonId;
  readonly host: SimHost;
  readonly life: Life;
  readonly config: Config;
  readonly owners: Owners;
  /** How long a report of a job takes. */
  readonly reportMs: () => number;
  /** Tries to open the store; null when it cannot be had now. */
  openStore(clock: Clock): Promise<Store | null>;
  readonly note: (fact: NewFact) => void;
  readonly say: (line: string) => void;
}): SimDaemon {
  const { id, host, life, owners } = parts;
  const clock = clockOf(life, host.clock);
  let config = parts.config;
  let store: Store | null = null;
  let opening = false;
  let runs = 0;

  const note = (fact: NewFact): void => {
    if (life.alive) parts.note(fact);
  };
  const log = writtenDown((line) => {
    if (life.alive) parts.say(line);
  });
  const events = createEvents(log);
  const tally = createJobTally(events);

  const scheduler: Scheduler = createScheduler({
    clock,
    log,
    launcher: host.launcherFor(id, life),
    reporting: {
      wouldAct: () => true,
      report: () => new Promise((resolve) => clock.after(parts.reportMs(), resolve)),
    },
    events,
    owners,
    slots: () => slots,
    pools: () => null,
    node: id.host,
    policy: () => config.state?.onStoreUnavailable ?? "degrade",
    counters: tally.snapshot,
    newRunId: () => `${id.proc}${(runs++).toString(16).padStart(20, "0")}`,
    onMinute() {
      if (store === null) void openStore();
      void housekeeping.minute();
    },
  });
  const { recall } = scheduler;
  const journal = createJournal({
    self: id,
    boot: { bootId: host.bootId, bootTimeSeconds: null },
    backend: () => store,
    settings() {
      if (config.state === null) throw new Error("simulated daemons have a state section");
      return config.state;
    },
    processes: host.processes,
    clock,
    log,
  });
  const slots = createClusterSlots({
    self: id,
    backend: () => store,
    locks: createLockTrust({ backend: () => store, log }),
    ttlSeconds: () => config.state?.slotTtlSeconds ?? 30,
    clock,
    log,
    onYield: scheduler.yieldSlot,
  });
  const housekeeping = createHousekeeping(journal, {
    jobs: recall.jobs,
    configured: () => configuredBy(config, "v1:simulated"),
    graceSeconds: () => config.state?.gcGraceSeconds ?? 0,
    local: recall.local,
    resumeActive: () => owners.resumesRetries(),
    ownedRuns: () => false,
    paused: recall.paused,
    resumed: recall.resumed,
    interrupted: recall.cut,
  });

  let recovered = Promise.resolve();
  const openStore = async (): Promise<void> => {
    if (opening) return;
    opening = true;
    const opened = await parts.openStore(clock);
    opening = false;
    if (opened === null || !life.alive) return;
    store = whileAlive(life, opened);
    recovered = recover(journal, {
      jobs: recall.jobs(),
      bounds: tally.bounds,
      local: recall.local,
      isLive: recall.isLive,
      hasHistory: recall.hasHistory,
      warmed: recall.warmed,
      interrupted: recall.cutHere,
      seeded: ({ snapshot }) => tally.seed(snapshot, (job) => scheduler.isConfigured(job)),
      paused: recall.paused,
      resumed: recall.resumed,
    });
  };

  listenTo(events, { id, scheduler, clock, note });

  const apply = (next: Config): void => {
    config = next;
    note({ kind: "configured", daemon: id, jobs: next.jobs, wall: clock.wallNow() });
    scheduler.apply(next);
  };

  note({ kind: "daemon started", daemon: id, wall: clock.wallNow(), bootId: host.bootId });
  apply(config);
  scheduler.useJournal(journal);
  const recalled = openStore().then(() => recovered);
  void withinHeadStart(clock, recalled).then(() => scheduler.start());
  void recalled.then(() => {
    note({ kind: "daemon resumed", daemon: id, wall: clock.wallNow() });
    scheduler.resume();
  });

  return {
    id,
    life,
    scheduler,
    apply,
    pause(job, forMs) {
      if (!life.effect()) return;
      const since = clock.wallNow();
      scheduler.pauseJob(job, { since, until: since + forMs, note: "simulated", by: "operator", channel: "api" });
      note({ kind: "paused", job });
    },
    resume(job) {
      if (!life.effect()) return;
      scheduler.resumeJob(job, "operator", "api");
      note({ kind: "resumed", job });
    },
    stop() {
      if (!life.effect()) return;
      note({ kind: "stop asked", daemon: id });
      void scheduler.stop().then(async () => {
        slots.stop();
        journal.counters.flush(tally.snapshot);
        await journal.close();
        await store?.close(5_000);
        life.end("stopped");
      });
    },
  };
}

function listenTo(
  events: Events,
  { id, scheduler, clock, note }: { id: DaemonId; scheduler: Scheduler; clock: Clock; note: (fact: NewFact) => void },
): void {
  events.on("run.launched", ({ job, runId, trigger }) =>
    note({ kind: "launched", daemon: id, job, runId, trigger, wall: clock.wallNow() }),
  );
  events.on("run.spawned", ({ job, runId, pid, startedAt }) =>
    note({ kind: "spawned", daemon: id, job, runId, pid, startedAt }),
  );
  events.on("run.finished", ({ job, runId, row }) => note({ kind: "finished", daemon: id, job, runId, row }));
  events.on("run.refused", ({ job, trigger, slot, reason, at }) =>
    note({ kind: "refused", daemon: id, job, trigger, slot, reason, wall: at }),
  );
  events.on("retry.armed", ({ job, attempt, dueAt, at }) => {
    const armedAt = scheduler.look(job)?.state.ladder?.wait?.armedAt ?? at;
    note({ kind: "retry armed", daemon: id, job, attempt, armedAt, dueAt });
  });
  events.on("retry.settled", ({ job, attempt, reason }) =>
    note({ kind: "retry settled", daemon: id, job, attempt, reason }),
  );
}

function withinHeadStart(clock: Clock, recalled: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(STORE_HEAD_START_MS, resolve);
    void recalled.then(() => {
      cancel();
      resolve();
    });
  });
}

/** A log of which everything from information on is written down. */
function writtenDown(say: (line: string) => void): Logger {
  const write = (level: string) => (message: string) => say(`${level} ${message}`);
  return {
    debug: () => {},
    info: write("INFO"),
    warning: write("WARNING"),
    error: write("ERROR"),
    critical: write("CRITICAL"),
    enabled: () => true,
  };
}
