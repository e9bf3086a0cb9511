import { type ClusterSlots, createClusterSlots } from "../cluster/slots/slots.ts";
import type { StateConfig } from "../config/model.ts";
import { createHousekeeping } from "../journal/housekeeping.ts";
import { createJournal, type Journal } from "../journal/journal.ts";
import { createLockTrust } from "../journal/lock-trust.ts";
import { recover } from "../journal/recovery.ts";
import { configuredBy } from "../journal/upkeep/manifests.ts";
import { createPoolQueues, type PoolQueues } from "../scheduler/pool-queue.ts";
import type { JournalHost, JournalSectionParts, KeptTally } from "./journal-section.ts";
import { poolHosts } from "./pool-hosts.ts";

/** The journal and all that lives on it beside the scheduler. */
export interface KeptJournal {
  readonly journal: Journal;
  readonly slots: ClusterSlots;
  readonly pools: PoolQueues;
  /** What there was before this daemon, or before its backend came back, is taken up. */
  recover(): Promise<void>;
  minute(): void;
  close(): Promise<void>;
}

/** Made once per process, with the first `state` section (GEN-6). */
export function keepJournal(
  parts: Omit<JournalSectionParts, "host" | "tally">,
  { boot, processes }: JournalHost,
  tally: KeptTally,
): KeptJournal {
  const { clock, logs, self, scheduler, owners, store } = parts;
  const log = logs("cronstable.state");
  const { recall } = scheduler;
  let newest = parts.config().state;
  const settings = (): StateConfig => {
    newest = parts.config().state ?? newest; // a run may end after the section has gone
    if (newest === null) throw new Error("the journal is made for a state section");
    return newest;
  };

  const journal = createJournal({
    self,
    boot,
    backend: store,
    settings,
    processes,
    clock,
    log,
  });
  const locks = createLockTrust({ backend: store, log });
  const jobLog = logs("cronstable");
  const pools = createPoolQueues({
    self,
    backend: store,
    locks,
    host: poolHosts(scheduler.poolHost, parts.taskHost()),
    clock,
    log: jobLog,
  });
  const slots = createClusterSlots({
    self,
    backend: store,
    locks,
    ttlSeconds: () => settings().slotTtlSeconds,
    clock,
    log: jobLog,
    onYield: scheduler.yieldSlot,
  });
  /** Where the store was that was recovered last. */
  let place: string | null = null;
  const housekeeping = createHousekeeping(journal, {
    jobs: recall.jobs,
    configured: () => configuredBy(parts.config(), parts.jobSetId()),
    graceSeconds: () => settings().gcGraceSeconds,
    local: recall.local,
    resumeActive: () => owners.resumesRetries(),
    ownedRuns: parts.ownedRuns,
    paused: recall.paused,
    resumed: recall.resumed,
    interrupted: recall.cut,
  });

  return {
    journal,
    slots,
    pools,
    recover() {
      slots.forget(); // of the backend before this one
      // On the same directory claims of pools go on; another one has other queues.
      const facts = store()?.facts;
      const here = facts === undefined ? null : `${facts.location}\n${facts.namespace}`;
      if (place !== null && here !== null && here !== place) pools.forget();
      place = here ?? place;
      return recover(journal, {
        jobs: recall.jobs(),
        bounds: tally.bounds,
        local: recall.local,
        isLive: recall.isLive,
        hasHistory: recall.hasHistory,
        warmed: recall.warmed,
        interrupted: recall.cutHere,
        seeded: ({ snapshot }) => tally.seed(snapshot, scheduler.isConfigured),
        paused: recall.paused,
        resumed: recall.resumed,
      });
    },
    minute: () => void housekeeping.minute(),
    async close() {
      await pools.close();
      journal.counters.flush(tally.snapshot);
      await journal.close();
    },
  };
}
