import type { CountersSnapshot } from "../contract/counters.ts";
import type { Interrupted } from "./inflight/inflight.ts";
import type { Journal } from "./journal.ts";
import { rehydrate, type WarmedHistory } from "./ledger/rehydration.ts";
import type { KnownPause } from "./pauses/pauses.ts";
import type { LocalRetryView, Resumption, RetriedJob } from "./retries/rearm.ts";

/** What recovers, and who takes it. Each is called as soon as its part is known. */
export interface RecoveryView {
  readonly jobs: readonly RetriedJob[];
  /** Bounds of the duration histograms. */
  readonly bounds: readonly number[];
  readonly local: LocalRetryView;
  /** The job has a live run on this node. */
  isLive(job: string): boolean;
  /** Memory has rows of the job: then it is not warmed (REH-1). */
  hasHistory(job: string): boolean;
  warmed(job: string, history: WarmedHistory): void;
  /** A run of this host that was cut: its row becomes the job's latest, whatever its instant (RUN-5). */
  interrupted(cut: Interrupted): void;
  /** To be added once into what this process counts (CNT-2). */
  seeded(seed: { readonly snapshot: CountersSnapshot; readonly sameBounds: boolean }): void;
  paused(known: KnownPause): void;
  resumed(retry: Resumption): void;
}

/**
 * Takes up what the store remembers, whenever a backend has come up, in the order the parts depend on each other (REH-5): history, runs
 * that were cut, counters, pauses, pending retries. Never fails: each part that the store does not give is left out and said.
 */
export async function recover(journal: Journal, view: RecoveryView): Promise<void> {
  const { jobs, local } = view;
  journal.manifests.due();
  const cold = jobs.filter(({ config }) => !view.hasHistory(config.name));
  await rehydrate(
    journal,
    cold.map(({ config: { name, sla } }) => ({ name, wantsLastSuccess: sla.maxTimeSinceSuccessSeconds !== null })),
    (job, history) => {
      if (!view.hasHistory(job)) view.warmed(job, history);
    },
  );
  const reconciled = jobs.map(({ config: { name, onMissed } }) => ({ name, onMissed }));
  for (const cut of await journal.inFlight.reconcileHere(reconciled, view.isLive)) view.interrupted(cut);
  const seed = await journal.counters.seed(view.bounds);
  if (seed !== null) view.seeded(seed);
  for (const known of await journal.pauses.look(jobs.map(({ config }) => config.name))) view.paused(known);
  for (const retry of await journal.rearm.run(jobs, local)) view.resumed(retry);
}
