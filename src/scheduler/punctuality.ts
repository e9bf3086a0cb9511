import type { JobConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { JobPause } from "../contract/pause.ts";
import type { Reporting, SlaCheck } from "../contract/report.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import {
  evaluateSla,
  newSlaWatch,
  type SlaEffect,
  type SlaEvent,
  type SlaSituation,
  type SlaTurn,
  type SlaView,
  type SlaWatch,
  slaMessage,
  slaStep,
  slaView,
} from "./sla.rules.ts";

export interface PunctualityParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reporting: Reporting;
  /** Starts of the job's runs that go on here, and whether it is this node's to run. */
  situation(job: string): SlaSituation;
  /** When the job last succeeded, as far as this node remembers: for one that gets its first check at a reload. */
  lastSuccessAt(job: string): EpochMs | null;
  /** Told of each latch that is set and cleared, for metrics. */
  onLatch(job: string, check: SlaCheck, late: boolean): void;
}

/** Watches jobs that have an `sla` (running 15); others cost nothing. */
export interface Punctuality {
  setJobs(jobs: readonly JobConfig[]): void;
  handle(job: string, event: SlaEvent): void;
  paused(job: string, pause: JobPause): void;
  /** The look once a minute. */
  evaluate(now: EpochMs): void;
  view(job: string): SlaView | null;
}

interface Watched {
  job: JobConfig;
  watch: SlaWatch;
}

export function createPunctuality(parts: PunctualityParts): Punctuality {
  const { clock, log, reporting, situation, onLatch } = parts;
  let watched = new Map<string, Watched>();
  /** The jobs before, and since when there have been any. */
  let configured: { readonly since: EpochMs; readonly jobs: readonly JobConfig[] } | null = null;

  /** A job that was there before its check counts from the first configuration, and from its last success. */
  const newWatch = (job: JobConfig, known: (name: string) => boolean, now: EpochMs): SlaWatch => {
    const since = configured !== null && known(job.name) ? configured.since : now;
    return { ...newSlaWatch(since, job.enabled), lastSuccessAt: parts.lastSuccessAt(job.name) };
  };

  const take = (own: Watched, turn: SlaTurn): void => {
    own.watch = turn.watch;
    for (const effect of turn.effects) perform(own.job, effect);
  };

  const perform = (job: JobConfig, effect: SlaEffect): void => {
    const message = slaMessage(job.name, effect);
    if (message !== null) log[effect.kind === "breached" ? "warning" : "info"](message);
    onLatch(job.name, effect.check, effect.kind === "breached");
    if (effect.kind !== "breached" || !reporting.wouldAct(job.reports.onLate)) return;
    const { check, thresholdSeconds, observedSeconds, lastSuccessAt } = effect;
    void reporting.report(job.reports.onLate, {
      kind: "late",
      job,
      check,
      thresholdSeconds,
      observedSeconds,
      lastSuccessAt,
    });
  };

  const handle = (name: string, event: SlaEvent): void => {
    const own = watched.get(name);
    if (own !== undefined) take(own, slaStep(own.watch, event));
  };

  return {
    setJobs(jobs) {
      const now = clock.wallNow();
      const before = watched;
      const earlier = new Set((configured?.jobs ?? []).map(({ name }) => name));
      watched = new Map();
      for (const job of jobs) {
        const known = before.get(job.name);
        const { maxTimeSinceSuccessSeconds, lateAfterSeconds, maxRuntimeSeconds } = job.sla;
        const hasCheck = maxTimeSinceSuccessSeconds !== null || lateAfterSeconds !== null || maxRuntimeSeconds !== null;
        if (!hasCheck && known === undefined) continue;
        if (known === undefined) {
          watched.set(job.name, { job, watch: newWatch(job, (name) => earlier.has(name), now) });
          continue;
        }
        watched.set(job.name, known); // a check that was taken away is released by the next look
        if (known.job.enabled !== job.enabled)
          handle(job.name, { kind: job.enabled ? "enabled" : "disabled", at: now });
        known.job = job;
      }
      configured = { since: configured?.since ?? now, jobs };
    },
    handle,
    paused: (name, { since, until }) => handle(name, { kind: "paused", since, until }),
    evaluate(now) {
      for (const [name, own] of watched) take(own, evaluateSla(own.watch, own.job.sla, situation(name), now));
    },
    view(name) {
      const own = watched.get(name);
      return own === undefined ? null : slaView(own.watch, own.job.sla, situation(name), clock.wallNow());
    },
  };
}
