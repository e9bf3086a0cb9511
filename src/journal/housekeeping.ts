import type { EpochMs } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import type { Interrupted } from "./inflight/inflight.ts";
import { closeRunsOfLostHosts } from "./inflight/lost-hosts.ts";
import type { Journal } from "./journal.ts";
import { LOST_HOSTS_EVERY_MS } from "./limits.ts";
import type { KnownPause } from "./pauses/pauses.ts";
import type { LocalClaimView } from "./retries/claims.ts";
import type { Resumption, RetriedJob } from "./retries/rearm.ts";
import type { RunOwnership } from "./upkeep/dag-runs.ts";
import type { Configured } from "./upkeep/manifests.ts";

/** What the minute's work looks at, and who takes what it finds. */
export interface HousekeepingView {
  jobs(): readonly RetriedJob[];
  configured(): Configured;
  graceSeconds(): number;
  readonly local: LocalClaimView;
  /** Shared topology, an election, and its manager at work (RSM-1). */
  resumeActive(): boolean;
  readonly ownedRuns: RunOwnership;
  paused(known: KnownPause): void;
  resumed(retry: Resumption): void;
  /** A run that was cut; its row takes its place by its instant. */
  interrupted(cut: Interrupted): void;
}

/** The journal's chores, in one place and order. Each knows by itself whether it is time, and does not begin twice. */
export interface Housekeeping {
  /** Called once in each minute; resolves when all that began has ended, which nobody has to wait for. */
  minute(): Promise<void>;
}

export function createHousekeeping(journal: Journal, view: HousekeepingView): Housekeeping {
  const { backend, clock } = journal;
  let known: { readonly store: Store; readonly upSince: EpochMs } | null = null;
  let lostHostsAt = Number.NEGATIVE_INFINITY;
  let looking = false;

  /** Since when this backend has been up, by the minute. */
  const upSince = (): EpochMs | null => {
    const store = backend();
    if (store === null) known = null;
    else if (known?.store !== store) known = { store, upSince: clock.wallNow() };
    return known?.upSince ?? null;
  };

  const lostHosts = async (): Promise<void> => {
    const since = upSince();
    if (since === null || looking || clock.elapsedNow() - lostHostsAt < LOST_HOSTS_EVERY_MS) return;
    lostHostsAt = clock.elapsedNow();
    looking = true;
    try {
      for (const cut of await closeRunsOfLostHosts(journal, since, reconciledJobs())) view.interrupted(cut);
    } finally {
      looking = false;
    }
  };

  const reconciledJobs = () => view.jobs().map(({ config: { name, onMissed } }) => ({ name, onMissed }));

  const cutRuns = async (): Promise<void> => {
    for (const cut of await journal.inFlight.reconcileAgain(reconciledJobs())) view.interrupted(cut);
  };

  const retries = async (): Promise<void> => {
    const jobs = view.jobs();
    for (const retry of await journal.rearm.again(jobs, view.local)) view.resumed(retry);
    if (!view.resumeActive()) return;
    for (const retry of await journal.claims.scan(jobs, view.local)) view.resumed(retry);
  };

  const pauses = async (): Promise<void> => {
    for (const known of await journal.pauses.refresh(view.jobs().map(({ config }) => config.name))) view.paused(known);
  };

  return {
    async minute() {
      for (const cut of journal.inFlight.reconcileSurvivors(reconciledJobs())) view.interrupted(cut);
      const chores = [cutRuns(), pauses(), retries(), journal.manifests.minute(view.configured), lostHosts()];
      const request = () => {
        const own = { ...view.configured(), host: journal.self.host };
        return { own, graceSeconds: view.graceSeconds(), runs: view.ownedRuns };
      };
      await Promise.all([...chores, journal.collector.minute(request)]);
    },
  };
}
