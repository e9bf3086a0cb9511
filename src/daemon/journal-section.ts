import type { ClusterSlots } from "../cluster/slots/slots.ts";
import type { Config } from "../config/model.ts";
import type { LoggerNamed } from "../contract/log.ts";
import type { Owners } from "../contract/ownership.ts";
import type { Boot } from "../journal/boot/boot-marker.ts";
import type { Processes } from "../journal/inflight/inflight.ts";
import type { DaemonProcess } from "../journal/inflight/inflight-record.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunOwnership } from "../journal/upkeep/dag-runs.ts";
import type { JobTally } from "../metrics/job-counters.ts";
import type { Clock } from "../platform/clock.ts";
import type { PoolHost } from "../scheduler/pool-line.ts";
import type { PoolQueues } from "../scheduler/pool-queue.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Store } from "../store/store.ts";
import type { KeptJournal } from "./kept-journal.ts";

/** What the journal sees of the machine: in which boot it is, and which processes live there. */
export interface JournalHost {
  readonly boot: Boot;
  readonly processes: Processes;
}

/** What of the counters is kept, and taken up again. */
export type KeptTally = Pick<JobTally, "bounds" | "snapshot" | "seed">;

export interface JournalSectionParts {
  readonly clock: Clock;
  readonly logs: LoggerNamed;
  readonly self: DaemonProcess;
  /** Asked with the first `state` section. */
  host(): Promise<JournalHost>;
  readonly scheduler: Scheduler;
  readonly owners: Owners;
  /** The store of the moment, null while there is none. */
  store(): Store | null;
  /** In force now. */
  config(): Config;
  jobSetId(): string;
  tally(): Promise<KeptTally>;
  /** What becomes of tasks in the queues of pools. Asked with the first `state` section. */
  taskHost(): PoolHost;
  /** Which runs of DAGs this node advances. */
  readonly ownedRuns: RunOwnership;
}

/** The journal of the `state` section in force, and what it does at its own time. */
export interface JournalSection {
  /** Begins to record with the first `state` section, and ends with the last. Nothing of the journal is loaded before. */
  apply(config: Config): Promise<void>;
  /** The store has come up: takes up what it remembers. Resolves when that is done; never rejects. */
  recover(): Promise<void>;
  /** Once in each minute. */
  minute(): void;
  /** Null without a `state` section. */
  current(): Journal | null;
  /** The cluster slots of jobs, null without a `state` section. */
  slots(): ClusterSlots | null;
  /** The queues of pools, null without a `state` section. */
  pools(): PoolQueues | null;
  /** Shutdown begins: no other node is asked to make way any more, and no pool admits anything here. */
  stop(): void;
  /** The last counters, and a bounded wait for what is still to be written (GEN-7). */
  close(): Promise<void>;
}

export function journalSection(parts: JournalSectionParts): JournalSection {
  const { scheduler } = parts;
  const log = parts.logs("cronstable.state");
  let made: Promise<KeptJournal> | null = null;
  let current: KeptJournal | null = null;

  const load = async (): Promise<KeptJournal> => {
    const [{ keepJournal }, host, tally] = await Promise.all([
      import("./kept-journal.ts"),
      parts.host(),
      parts.tally(),
    ]);
    return keepJournal(parts, host, tally);
  };

  return {
    async apply({ state, pools }) {
      if (state === null) {
        current = null;
        scheduler.useJournal(null);
        return;
      }
      made ??= load();
      const kept = await made;
      if (parts.config().state === null) return; // it has gone meanwhile
      current = kept;
      kept.pools.configure(pools);
      scheduler.useJournal(kept.journal);
    },
    async recover() {
      try {
        await current?.recover();
      } catch (error) {
        log.error(`state: recovery stopped: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    minute: () => current?.minute(),
    current: () => current?.journal ?? null,
    slots: () => current?.slots ?? null,
    pools: () => current?.pools ?? null,
    stop() {
      current?.slots.stop();
      current?.pools.stop();
    },
    close: async () => (await made)?.close(),
  };
}

/** The machine the daemon runs on. Nothing of it is loaded before it is asked for. */
export async function thisHost(clock: Clock): Promise<JournalHost> {
  const [{ systemProcesses }, { bootIdentity }] = await Promise.all([
    import("../journal/inflight/system-processes.ts"),
    import("../platform/boot.ts"),
  ]);
  return { boot: bootIdentity(clock.wallNow()), processes: systemProcesses(clock) };
}
