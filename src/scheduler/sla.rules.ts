import type { SlaConfig } from "../config/model.ts";
import type { SlaCheck } from "../contract/report.ts";
import type { EpochMs } from "../platform/clock.ts";

/**
 * What one node knows of a job's punctuality (running 15). Kept by job name over reloads, lost with the process: a breach that
 * stands at a restart is told once more.
 *
 * S1. A check is latched from the evaluation that finds it broken to the one that finds it kept; only the first is told.
 * S2. Time in which the job could not have run by the operator's will (paused, disabled) is neither time without success nor
 *     lateness of a slot: nobody is paged for it at the resume.
 * S3. While the job is paused, disabled or not this node's, nothing is latched.
 */
export interface SlaWatch {
  /** Start of the process, or the reload that added the job. */
  readonly firstSeenAt: EpochMs;
  readonly lastSuccessAt: EpochMs | null;
  /** Oldest run in the ledger when that has no success: the job is at least this old. */
  readonly oldestRunAt: EpochMs | null;
  /** Last slot that was handed to the launcher and that nothing has started for yet. */
  readonly dueSlot: EpochMs | null;
  /** Spans of pauses and disablement that are over: disjoint, oldest first, at most `CREDITS_MAX`. */
  readonly credits: readonly Span[];
  readonly pause: Span | null;
  readonly disabledSince: EpochMs | null;
  readonly latched: ReadonlyMap<SlaCheck, Latch>;
}

/** From `since` until just before `until`. */
export interface Span {
  readonly since: EpochMs;
  readonly until: EpochMs;
}

interface Latch {
  readonly since: EpochMs;
  readonly observedMs: number;
}

export type SlaEvent =
  /** The owning node handed a slot to the launcher, the job not being paused. */
  | { readonly kind: "due"; readonly slot: EpochMs }
  /** A run really started, whatever triggered it. */
  | { readonly kind: "started" }
  /** The fire was dropped by Forbid, or a peer holds the cluster slot: not late. (A fail-closed drop says nothing.) */
  | { readonly kind: "dropped" }
  | { readonly kind: "succeeded"; readonly at: EpochMs }
  /** The ledger was read at start. `oldestRunAt` when it holds no success. */
  | { readonly kind: "warmed"; readonly lastSuccessAt: EpochMs | null; readonly oldestRunAt: EpochMs | null }
  | { readonly kind: "paused"; readonly since: EpochMs; readonly until: EpochMs }
  | { readonly kind: "resumed"; readonly at: EpochMs }
  | { readonly kind: "disabled"; readonly at: EpochMs }
  | { readonly kind: "enabled"; readonly at: EpochMs };

export type SlaEffect =
  /** Log, count, set the gauge and run `onLate`, once. */
  | {
      readonly kind: "breached";
      readonly check: SlaCheck;
      readonly observedSeconds: number;
      readonly thresholdSeconds: number;
      readonly lastSuccessAt: EpochMs | null;
    }
  /** Log and clear the gauge; nobody is told. */
  | { readonly kind: "recovered"; readonly check: SlaCheck }
  /** Clear the gauge: the check is not judged at present, or no more. */
  | { readonly kind: "released"; readonly check: SlaCheck };

export interface SlaTurn {
  readonly watch: SlaWatch;
  readonly effects: readonly SlaEffect[];
}

/** What an evaluation has to know beside the watch. `runningSince`: starts of the job's live runs on this node. */
export interface SlaSituation {
  readonly isOwner: boolean;
  readonly runningSince: readonly EpochMs[];
}

/** Spans of past pauses and disablement that are kept; the oldest go first and are then counted as time without success. */
export const CREDITS_MAX = 64;

const CHECKS: readonly SlaCheck[] = ["maxTimeSinceSuccess", "lateAfter", "maxRuntime"];

export function newSlaWatch(firstSeenAt: EpochMs, enabled: boolean): SlaWatch {
  return {
    firstSeenAt,
    lastSuccessAt: null,
    oldestRunAt: null,
    dueSlot: null,
    credits: [],
    pause: null,
    disabledSince: enabled ? null : firstSeenAt,
    latched: new Map(),
  };
}

export function slaStep(watch: SlaWatch, event: SlaEvent): SlaTurn {
  switch (event.kind) {
    case "due":
      return quiet({ ...watch, dueSlot: event.slot });
    case "started":
    case "dropped":
      return quiet({ ...watch, dueSlot: null });
    case "succeeded":
      return quiet(withSuccess(watch, event.at));
    case "warmed": {
      const warmed = event.lastSuccessAt === null ? watch : withSuccess(watch, event.lastSuccessAt);
      return quiet({ ...warmed, oldestRunAt: event.oldestRunAt });
    }
    case "paused":
      return released({ ...withoutPause(watch, event.since), pause: { since: event.since, until: event.until } });
    case "resumed":
      return quiet(withoutPause(watch, event.at));
    case "disabled":
      return released({ ...watch, disabledSince: watch.disabledSince ?? event.at });
    case "enabled":
      if (watch.disabledSince === null) return quiet(watch);
      return quiet(withCredit({ ...watch, disabledSince: null }, { since: watch.disabledSince, until: event.at }));
  }
}

/** The look once a minute: which checks broke, which hold again. */
export function evaluateSla(watch: SlaWatch, sla: SlaConfig, situation: SlaSituation, now: EpochMs): SlaTurn {
  if (!situation.isOwner || isSuspended(watch, now)) return released(watch); // S3
  const latched = new Map(watch.latched);
  const effects: SlaEffect[] = [];
  for (const check of CHECKS) {
    const thresholdSeconds = thresholdOf(sla, check);
    const observedMs = thresholdSeconds === null ? null : observe(watch, check, situation, now);
    const isBroken = observedMs !== null && thresholdSeconds !== null && observedMs > thresholdSeconds * 1000;
    if (isBroken && !latched.has(check)) {
      latched.set(check, { since: now, observedMs });
      const { lastSuccessAt } = watch;
      effects.push({ kind: "breached", check, observedSeconds: observedMs / 1000, thresholdSeconds, lastSuccessAt });
    } else if (!isBroken && latched.delete(check)) {
      effects.push({ kind: thresholdSeconds === null ? "released" : "recovered", check });
    }
  }
  return { watch: { ...watch, latched }, effects };
}

export interface SlaView {
  readonly thresholds: Partial<Record<keyof SlaConfig, number>>;
  readonly state: "ok" | "late";
  readonly breaches: readonly {
    readonly check: SlaCheck;
    readonly since: EpochMs;
    readonly observedSeconds: number;
    readonly thresholdSeconds: number;
  }[];
}

/** What a job's `sla` shows now, null when it has no check. Observations are measured anew, latches are those of the last look. */
export function slaView(watch: SlaWatch, sla: SlaConfig, situation: SlaSituation, now: EpochMs): SlaView | null {
  const thresholds: Partial<Record<keyof SlaConfig, number>> = {};
  const breaches: SlaView["breaches"][number][] = [];
  for (const check of CHECKS) {
    const thresholdSeconds = thresholdOf(sla, check);
    if (thresholdSeconds === null) continue;
    thresholds[`${check}Seconds`] = thresholdSeconds;
    const latch = watch.latched.get(check);
    if (latch === undefined) continue;
    const observedMs = observe(watch, check, situation, now) ?? latch.observedMs;
    breaches.push({ check, since: latch.since, observedSeconds: observedMs / 1000, thresholdSeconds });
  }
  if (Object.keys(thresholds).length === 0) return null;
  return { thresholds, state: breaches.length > 0 ? "late" : "ok", breaches };
}

/** The WARNING and INFO of an effect, null for one that is not logged. */
export function slaMessage(job: string, effect: SlaEffect): string | null {
  switch (effect.kind) {
    case "breached":
      return `Job ${job}: SLA check ${effect.check} breached: observed ${effect.observedSeconds.toFixed(1)}s exceeds the threshold of ${effect.thresholdSeconds}s`;
    case "recovered":
      return `Job ${job}: SLA check ${effect.check} holds again`;
    case "released":
      return null;
  }
}

/** What a check measures, null when there is nothing to measure. */
function observe(watch: SlaWatch, check: SlaCheck, { runningSince }: SlaSituation, now: EpochMs): number | null {
  switch (check) {
    case "maxTimeSinceSuccess": {
      const reference = watch.lastSuccessAt ?? Math.min(watch.firstSeenAt, watch.oldestRunAt ?? watch.firstSeenAt);
      return uncredited(watch, { since: reference, until: now });
    }
    case "lateAfter":
      if (watch.dueSlot === null || runningSince.length > 0) return null;
      return uncredited(watch, { since: watch.dueSlot, until: now });
    case "maxRuntime":
      return runningSince.length === 0 ? null : now - Math.min(...runningSince);
  }
}

function thresholdOf(sla: SlaConfig, check: SlaCheck): number | null {
  return sla[`${check}Seconds`];
}

function isSuspended({ disabledSince, pause }: SlaWatch, now: EpochMs): boolean {
  return disabledSince !== null || (pause !== null && now < pause.until);
}

function quiet(watch: SlaWatch): SlaTurn {
  return { watch, effects: [] };
}

function released(watch: SlaWatch): SlaTurn {
  const effects = Array.from(watch.latched.keys(), (check): SlaEffect => ({ kind: "released", check }));
  return { watch: { ...watch, latched: new Map() }, effects };
}

/** Success only moves forward; credit before it is of no more use. */
function withSuccess(watch: SlaWatch, at: EpochMs): SlaWatch {
  const lastSuccessAt = Math.max(at, watch.lastSuccessAt ?? at);
  return { ...watch, lastSuccessAt, credits: watch.credits.filter((span) => span.until > lastSuccessAt) };
}

function withoutPause(watch: SlaWatch, at: EpochMs): SlaWatch {
  if (watch.pause === null) return watch;
  const { since, until } = watch.pause;
  return withCredit({ ...watch, pause: null }, { since, until: Math.min(until, at) });
}

function withCredit(watch: SlaWatch, span: Span): SlaWatch {
  return { ...watch, credits: union([...watch.credits, span]).slice(-CREDITS_MAX) };
}

/** Length of a span without what was paused or disabled of it (S2). */
function uncredited({ credits, pause, disabledSince }: SlaWatch, { since, until }: Span): number {
  const disabled = disabledSince === null ? [] : [{ since: disabledSince, until }];
  const spans = union([...credits, ...disabled, ...(pause === null ? [] : [pause])]);
  const credit = (span: Span): number => Math.max(0, Math.min(span.until, until) - Math.max(span.since, since));
  return spans.reduce((left, span) => left - credit(span), until - since);
}

/** The same time as disjoint spans, oldest first, empty ones left out. */
function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.since - b.since)) {
    if (span.until <= span.since) continue;
    const last = joined.at(-1);
    if (last !== undefined && span.since <= last.until) {
      joined[joined.length - 1] = { since: last.since, until: Math.max(last.until, span.until) };
    } else joined.push(span);
  }
  return joined;
}
