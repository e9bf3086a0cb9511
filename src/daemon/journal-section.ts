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
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Store } from "../store/store.ts";

/** What the journal sees of the machine: in which boot it is, and which processes live there. */
export interface JournalHost {
  readonly boot: Boot;
  readonly processes: Processes;
}

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
  /** Which runs of DAGs this node advances. */
  readonly ownedRuns: RunOwnership;
}

/** What of the counters is kept, and taken up again. */
type KeptTally = Pick<JobTally, "bounds" | "snapshot" | "seed">;

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
  /** The last counters, and a bounded wait for what is still to be written (GEN-7). */
  close(): Promise<void>;
}

export function journalSection(parts: JournalSectionParts): JournalSection {
  const { clock, logs, self, scheduler } = parts;
  const log = logs("cronstable.state");
  let made: Promise<Made> | null = null;
  let current: Made | null = null;

  const load = async (): Promise<Made> => {
    const [{ createJournal }, { createHousekeeping }, { recover }, { boot, processes }, tally] = await Promise.all([
      import("../journal/journal.ts"),
      import("../journal/housekeeping.ts"),
      import("../journal/recovery.ts"),
      parts.host(),
      parts.tally(),
    ]);
    const { configuredBy } = await import("../journal/upkeep/manifests.ts");
    let settings = parts.config().state;
    const journal = createJournal({
      self,
      boot,
      backend: parts.store,
      settings() {
        settings = parts.config().state ?? settings; // a run may end after the section has gone
        if (settings === null) throw new Error("the journal is made for a state section");
        return settings;
      },
      processes,
      clock,
      log,
    });
    const { recall } = scheduler;
    const isConfigured = (job: string): boolean => scheduler.isConfigured(job);
    const housekeeping = createHousekeeping(journal, {
      jobs: recall.jobs,
      configured: () => configuredBy(parts.config(), parts.jobSetId()),
      graceSeconds: () => parts.config().state?.gcGraceSeconds ?? 0,
      local: recall.local,
      resumeActive: () => parts.owners.resumesRetries(),
      ownedRuns: parts.ownedRuns,
      paused: recall.paused,
      resumed: recall.resumed,
      interrupted: recall.cut,
    });
    return {
      journal,
      tally,
      minute: () => void housekeeping.minute(),
      recover: () =>
        recover(journal, {
          jobs: recall.jobs(),
          bounds: tally.bounds,
          local: recall.local,
          isLive: recall.isLive,
          hasHistory: recall.hasHistory,
          warmed: recall.warmed,
          interrupted: recall.cutHere,
          seeded: ({ snapshot }) => tally.seed(snapshot, isConfigured),
          paused: recall.paused,
          resumed: recall.resumed,
        }),
    };
  };

  return {
    async apply({ state }) {
      if (state === null) {
        current = null;
        scheduler.useJournal(null);
        return;
      }
      made ??= load();
      const loaded = await made;
      if (parts.config().state === null) return; // it has gone meanwhile
      current = loaded;
      scheduler.useJournal(loaded.journal);
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
    async close() {
      if (made === null) return;
      const { journal, tally } = await made;
      journal.counters.flush(tally.snapshot);
      await journal.close();
    },
  };
}

interface Made {
  readonly journal: Journal;
  readonly tally: KeptTally;
  minute(): void;
  recover(): Promise<void>;
}

/** The machine the daemon runs on. Nothing of it is loaded before it is asked for. */
export async function thisHost(clock: Clock): Promise<JournalHost> {
  const [{ systemProcesses }, { bootIdentity }] = await Promise.all([
    import("../journal/inflight/system-processes.ts"),
    import("../platform/boot.ts"),
  ]);
  return { boot: bootIdentity(clock.wallNow()), processes: systemProcesses(clock) };
}
