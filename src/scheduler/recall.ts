import { jobDigest } from "../config/fingerprint.ts";
import type { Config, JobConfig } from "../config/model.ts";
import type { Owners } from "../contract/ownership.ts";
import type { JobPause } from "../contract/pause.ts";
import type { Interrupted } from "../journal/inflight/inflight.ts";
import { latestCompletionAt, latestSlot } from "../journal/ledger/latest.rules.ts";
import type { WarmedHistory } from "../journal/ledger/rehydration.ts";
import type { KnownPause } from "../journal/pauses/pauses.ts";
import type { LocalClaimView } from "../journal/retries/claims.ts";
import type { Resumption, RetriedJob } from "../journal/retries/rearm.ts";
import type { ActiveJob } from "./active-job.ts";
import { isIdle } from "./job-state.ts";
import type { Punctuality } from "./punctuality.ts";

/** Where the scheduler takes up what the journal remembers of its jobs; the journal asks and tells, at its own time. */
export interface Recall {
  /** Configured jobs now. Digests are made when they are asked for: few are. */
  jobs(): readonly RetriedJob[];
  readonly local: LocalClaimView;
  /** The job has a live run on this node. */
  isLive(job: string): boolean;
  hasHistory(job: string): boolean;
  warmed(job: string, history: WarmedHistory): void;
  /** A run of this host that a crash cut: it is the job's latest until another ends (RUN-5). */
  cutHere(cut: Interrupted): void;
  /** A run that was cut, of whatever host; its row takes its place by its instant. */
  cut(cut: Interrupted): void;
  paused(known: KnownPause): void;
  resumed(retry: Resumption): void;
}

export function recallOf(parts: {
  config(): Config | null;
  job(name: string): JobConfig | null;
  readonly owners: Owners;
  active(name: string): ActiveJob | null;
  existing(name: string): ActiveJob | null;
  setPause(own: ActiveJob, pause: JobPause | null): void;
  /** Something of the job has come to an end. */
  settled(own: ActiveJob): void;
  readonly punctuality: Punctuality;
}): Recall {
  const { owners, active, existing, punctuality } = parts;
  let known: { readonly config: Config; readonly jobs: readonly RetriedJob[] } | null = null;

  const jobs = (): readonly RetriedJob[] => {
    const config = parts.config();
    if (config === null) return [];
    if (known?.config !== config) {
      const retried = config.jobs.map((job) => ({
        config: job,
        get jobDigest() {
          return jobDigest(job);
        },
      }));
      known = { config, jobs: retried };
    }
    return known.jobs;
  };

  return {
    jobs,
    local: {
      busy(name) {
        const state = existing(name)?.controller.state;
        return state !== undefined && (!isIdle(state) || state.ladder !== null);
      },
      owns(name) {
        const job = parts.job(name);
        return job !== null && owners.of(job).kind === "here";
      },
      lastCompletedAt: (name) => latestCompletionAt(existing(name)?.history.rows ?? []),
    },
    isLive: (name) => (existing(name)?.controller.state.runs.size ?? 0) > 0,
    hasHistory: (name) => (existing(name)?.history.rows.length ?? 0) > 0,
    warmed(name, { rows, lastVerdict, successReference }) {
      const own = active(name);
      if (own === null) return;
      own.history.warm(rows);
      own.lastSlot ??= latestSlot(rows); // a retry that goes on after a restart still belongs to it
      if (lastVerdict !== null) {
        const { outcome, finishedAt } = lastVerdict;
        own.controller.handle({ kind: "remembered", verdict: { outcome, finishedAt } });
      }
      if (successReference === null) return;
      const { at, isSuccess } = successReference;
      const seen = isSuccess ? { lastSuccessAt: at, oldestRunAt: null } : { lastSuccessAt: null, oldestRunAt: at };
      punctuality.handle(name, { kind: "warmed", ...seen });
    },
    cutHere: ({ job, row }) => active(job)?.history.addCut(row),
    cut({ job, row }) {
      const own = active(job);
      if (own === null) return;
      own.history.add(row);
      parts.settled(own); // it may be what a backfill waited for
    },
    paused({ job, pause }) {
      const own = pause === null ? existing(job) : active(job);
      if (own !== null) parts.setPause(own, pause);
    },
    resumed: ({ job, ...retry }) => active(job)?.controller.handle({ kind: "retry resumed", retry }),
  };
}
