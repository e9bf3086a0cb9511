import type { Config } from "../../../src/config/model.ts";
import type { DagControl } from "../../../src/contract/dag-control.ts";
import type { Events } from "../../../src/contract/events.ts";
import type { Logger } from "../../../src/contract/log.ts";
import type { Owners } from "../../../src/contract/ownership.ts";
import { dagSection } from "../../../src/daemon/dag-section.ts";
import { createEvents } from "../../../src/daemon/event-bus.ts";
import { keepJournal } from "../../../src/daemon/kept-journal.ts";
import { createDagControl } from "../../../src/dag/dag-control.ts";
import { createDagEngine } from "../../../src/dag/engine.ts";
import { createJobTally } from "../../../src/metrics/job-counters.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { createScheduler, type Scheduler } from "../../../src/scheduler/scheduler.ts";
import { jsonFloat } from "../../../src/store/json.ts";
import type { Store } from "../../../src/store/store.ts";
import type { DaemonId, NewFact } from "./facts.ts";
import type { SimHost } from "./host.ts";
import { clockOf, type Life, whileAlive } from "./life.ts";
import type { Random } from "./random.ts";

/** A whole daemon on a simulated host, built and started as `startDaemon` and its sections do it. */
export interface SimDaemon {
  readonly id: DaemonId;
  readonly life: Life;
  readonly scheduler: Scheduler;
  /** Null while it is dead, or has no DAG. */
  dagControl(): DagControl | null;
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
  readonly random: Random;
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

  /** As `cronstable xcom push` has its daemon do it. */
  const publish = async (scope: string, name: string, text: string): Promise<boolean> => {
    if (store === null) return false;
    const { blobs, records } = store;
    const bytes = new TextEncoder().encode(text);
    const put = await blobs.put(bytes);
    if (put.kind !== "done") return false;
    const at = jsonFloat(clock.wallNow() / 1000);
    const body = { at, name, sha256: put.value, size: bytes.length };
    return (await records.publish(`artifacts/${scope}`, "name", body)).kind === "done";
  };
  const launcher = host.launcherFor(id, life, publish);
  const reporting = {
    wouldAct: () => true,
    report: () => new Promise<void>((resolve) => clock.after(parts.reportMs(), resolve)),
  };
  const scheduler: Scheduler = createScheduler({
    clock,
    log,
    launcher,
    reporting,
    events,
    owners,
    slots: () => kept.slots,
    pools: () => kept.pools,
    node: id.host,
    policy: () => config.state?.onStoreUnavailable ?? "degrade",
    counters: tally.snapshot,
    newRunId: () => `${id.proc}${(runs++).toString(16).padStart(20, "0")}`,
    onMinute() {
      if (store === null) void openStore();
      kept.minute();
    },
  });
  const dags = dagSection({
    clock,
    log,
    launcher,
    reporting,
    events,
    self: id,
    store: () => store,
    pools: () => kept.pools,
    config: () => config,
    randomHex: (bytes) => Array.from({ length: 2 * bytes }, () => parts.random.between(0, 15).toString(16)).join(""),
    loadEngine: async () => ({ createDagEngine, createDagControl, processes: host.processes }),
  });
  const kept = keepJournal(
    {
      clock,
      logs: () => log,
      self: id,
      scheduler,
      owners,
      store: () => store,
      config: () => config,
      jobSetId: () => "v1:simulated",
      taskHost: () => dags.poolHost,
      ownedRuns: (dag, runKey) => dags.owns(dag, runKey),
    },
    { boot: { bootId: host.bootId, bootTimeSeconds: null }, processes: host.processes },
    tally,
  );

  let recovered = Promise.resolve();
  const openStore = async (): Promise<void> => {
    if (opening) return;
    opening = true;
    const opened = await parts.openStore(clock);
    opening = false;
    if (opened === null || !life.alive) return;
    store = whileAlive(life, opened);
    recovered = kept.recover();
    dags.storeChanged();
  };

  listenTo(events, { id, scheduler, clock, note });

  /** The first configuration reaches the DAGs when jobs are being fired. */
  let begun = false;
  const apply = (next: Config): void => {
    config = next;
    note({ kind: "configured", daemon: id, jobs: next.jobs, wall: clock.wallNow() });
    kept.pools.configure(next.pools);
    scheduler.apply(next);
    if (begun) void dags.apply();
  };

  note({ kind: "daemon started", daemon: id, wall: clock.wallNow(), bootId: host.bootId });
  apply(config);
  scheduler.useJournal(kept.journal);
  const recalled = openStore().then(() => recovered);
  void withinHeadStart(clock, recalled).then(() => {
    scheduler.start();
    begun = true;
    return dags.apply();
  });
  void recalled.then(() => {
    note({ kind: "daemon resumed", daemon: id, wall: clock.wallNow() });
    scheduler.resume();
  });

  return {
    id,
    life,
    scheduler,
    dagControl: () => (life.effect() ? dags.control() : null),
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
      kept.slots.stop();
      kept.pools.stop();
      void dags.stop();
      void scheduler.stop().then(async () => {
        await dags.stop();
        await kept.close();
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
