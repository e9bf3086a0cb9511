/**
 * What a simulation comes to: the transcript as entries in the order of time, and a sum for each job. Pure.
 *   A1. Every slot of the time that was looked at has its entry: it ran, was skipped, or was missed with others of one outage.
 *   A2. A run overlaps those of its job that began before it and had not ended when it began.
 */
import type { JobConfig } from "../../config/model.ts";
import type { NotRunReason } from "../../contract/reason.ts";
import type { RunId, Trigger } from "../../contract/run.ts";
import type { Ending, Happening, Outcome } from "../../daemon/simulation/happening.ts";
import type { Simulation, Transcript } from "../../daemon/simulation/simulation.ts";
import { CATCHUP_LAUNCHES_MAX } from "../../journal/limits.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { nextFire } from "../../schedule/fires.ts";
import { MISSED_SLOTS_WALKED_MAX } from "./limits.ts";

/** One line of the table. */
export type Entry = RunEntry | SkippedEntry | MissedEntry | DaemonEntry;

export interface RunEntry {
  readonly kind: "run";
  readonly at: EpochMs;
  readonly job: string;
  readonly trigger: Trigger;
  readonly endsAt: EpochMs;
  /** Null while it still ran when the simulation ended. */
  readonly outcome: Outcome | null;
  /** Runs of the job that it began beside. */
  readonly overlaps: number;
}

export interface SkippedEntry {
  readonly kind: "skipped";
  readonly at: EpochMs;
  readonly job: string;
  readonly trigger: Trigger;
  readonly reason: NotRunReason;
}

/** Slots of one outage that nothing makes up for one by one. */
export interface MissedEntry {
  readonly kind: "missed";
  /** The first of them. */
  readonly at: EpochMs;
  readonly job: string;
  readonly lastSlot: EpochMs;
  readonly slots: Count;
  readonly because: MissedBecause;
}

export type MissedBecause =
  | "no state section"
  | "onMissed: skip"
  /** `run-once`: one run stands for them. */
  | "coalesced"
  | "startingDeadlineSeconds"
  | "never ran"
  /** The simulation ended before the daemon came back, or before it had made up for them. */
  | "not made up for yet"
  | "limit"
  /** Workflows. */
  | "not simulated";

export interface Count {
  readonly count: number;
  /** There are more than were counted. */
  readonly isLeast: boolean;
}

export interface DaemonEntry {
  readonly kind: "daemon";
  readonly at: EpochMs;
  readonly what: "starts" | "gone" | Ending;
}

/** The sum for one job, or for all of them. */
export interface Sum {
  /** Slots and boots that the daemon had to serve: runs, and those skipped. */
  readonly fires: number;
  /** Of the fires. */
  readonly ran: number;
  readonly caughtUp: number;
  readonly retried: number;
  readonly failed: number;
  readonly skipped: ReadonlyMap<NotRunReason["kind"], number>;
  readonly missed: Count;
  /** Runs that began beside another one of the job. */
  readonly overlaps: number;
  /** Runs at one instant. */
  readonly mostAtOnce: number;
}

export interface Account {
  readonly entries: readonly Entry[];
  /** In the order of the configuration; workflows as `dag:<name>` after the jobs. Without those to which nothing happened. */
  readonly jobs: ReadonlyMap<string, Sum>;
  /** Enabled jobs and workflows to which nothing happened. */
  readonly idle: readonly string[];
  readonly total: Sum;
}

export function accountOf(simulation: Simulation, transcript: Transcript): Account {
  const upTo = transcript.cutAt ?? simulation.to;
  const runs = runEntries(transcript.happenings, upTo);
  const entries = transcript.happenings.flatMap((happening, index) => {
    const entry = entryOf(happening, index, transcript.happenings, runs);
    return entry === null ? [] : [entry];
  });
  entries.push(...missedEntries(simulation, transcript, upTo));
  entries.sort((a, b) => a.at - b.at); // stable: what happened at one instant stays in order
  return { entries, ...summed(simulation, entries) };
}

function entryOf(
  happening: Happening,
  index: number,
  happenings: readonly Happening[],
  runs: ReadonlyMap<RunId, RunEntry>,
): Entry | null {
  const { at } = happening;
  switch (happening.kind) {
    case "launched":
      return runs.get(happening.runId) ?? null;
    case "refused": {
      const { job, trigger, reason } = happening;
      return { kind: "skipped", at, job, trigger, reason };
    }
    case "dag due": {
      const { dag: job, slot } = happening;
      return { kind: "run", at, job, trigger: { kind: "schedule", slot }, endsAt: at, outcome: null, overlaps: 0 };
    }
    case "daemon starts":
      return index === 0 ? null : { kind: "daemon", at, what: "starts" };
    case "daemon ends":
      return { kind: "daemon", at, what: happening.how };
    case "daemon gone":
      // What is gone at once needs no word of its own.
      return hasWaited(happenings, index) ? { kind: "daemon", at, what: "gone" } : null;
    case "ended":
      return null;
  }
}

function hasWaited(happenings: readonly Happening[], index: number): boolean {
  const gone = happenings[index];
  const ends = happenings.slice(0, index).findLast(({ kind }) => kind === "daemon ends");
  return gone !== undefined && ends !== undefined && gone.at > ends.at;
}

/** Each run with its end, and how many it found running (A2). */
function runEntries(happenings: readonly Happening[], upTo: EpochMs): ReadonlyMap<RunId, RunEntry> {
  const runs = new Map<RunId, RunEntry>();
  const live = new Map<string, Map<RunId, EpochMs>>();
  for (const happening of happenings) {
    if (happening.kind === "launched") {
      const { at, job, runId, trigger, endsAt } = happening;
      const others = live.get(job) ?? new Map<RunId, EpochMs>();
      // A daemon that was killed has told of no end.
      for (const [other, end] of others) if (end < at) others.delete(other);
      const outcome = endsAt < upTo ? "unknown" : null;
      runs.set(runId, { kind: "run", at, job, trigger, endsAt, outcome, overlaps: others.size });
      live.set(job, others.set(runId, endsAt));
    } else if (happening.kind === "ended") {
      const { at, job, runId, outcome } = happening;
      const run = runs.get(runId);
      if (run !== undefined) runs.set(runId, { ...run, endsAt: at, outcome });
      live.get(job)?.delete(runId);
    }
  }
  return runs;
}

/** A stretch without a daemon that fires. */
interface Gap {
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly isBack: boolean;
}

function gapsOf(happenings: readonly Happening[], upTo: EpochMs): Gap[] {
  const gaps: Gap[] = [];
  let from: EpochMs | null = null;
  for (const { kind, at } of happenings) {
    if (kind === "daemon ends") from = at;
    if (kind !== "daemon starts" || from === null) continue;
    gaps.push({ from, until: at, isBack: true });
    from = null;
  }
  if (from !== null) gaps.push({ from, until: upTo, isBack: false });
  return gaps;
}

/** What of each outage is not made up for, slot by slot (A1). */
function missedEntries({ config, isFirstStart }: Simulation, transcript: Transcript, upTo: EpochMs): MissedEntry[] {
  const gaps = gapsOf(transcript.happenings, upTo);
  if (gaps.length === 0) return [];
  const caughtUp = new Map<string, Set<EpochMs>>();
  const firstRunAt = new Map<string, EpochMs>();
  for (const happening of transcript.happenings) {
    if (happening.kind !== "launched") continue;
    const { job, at, trigger } = happening;
    if (!firstRunAt.has(job)) firstRunAt.set(job, at);
    if (trigger.kind !== "catch-up") continue;
    const slots = caughtUp.get(job) ?? new Set();
    caughtUp.set(job, slots.add(trigger.slot));
  }
  const timetables = [
    ...config.jobs.map((job) => ({ ...job, isDag: false })),
    ...config.dags.map(({ name, ...dag }) => ({ ...dag, name: `dag:${name}`, isDag: true })),
  ];
  return timetables.flatMap((job) => {
    const { timing, enabled, name } = job;
    if (timing?.kind !== "timetable" || !enabled) return [];
    return gaps.flatMap((gap) => {
      const made = caughtUp.get(name) ?? new Set();
      const hasRun = !isFirstStart || (firstRunAt.get(name) ?? Number.POSITIVE_INFINITY) < gap.from;
      const missed = missedIn(gap, timing.schedule, timing.zone, made);
      const madeHere = [...made].filter((slot) => slot >= gap.from && slot < gap.until).length;
      const facts = { hasState: config.state !== null, hasRun, made: madeHere };
      return grouped(name, missed, (slot) => (job.isDag ? "not simulated" : whyMissed(job, gap, slot, facts)));
    });
  });
}

interface MissedSlots {
  readonly slots: readonly EpochMs[];
  readonly isLeast: boolean;
}

type Timetable = Extract<JobConfig["timing"], { kind: "timetable" }>;

function missedIn(
  gap: Gap,
  schedule: Timetable["schedule"],
  zone: Timetable["zone"],
  made: ReadonlySet<EpochMs>,
): MissedSlots {
  const slots: EpochMs[] = [];
  let slot = nextFire(schedule, zone, gap.from - 1);
  for (; slot !== null && slot < gap.until; slot = nextFire(schedule, zone, slot)) {
    if (slots.length === MISSED_SLOTS_WALKED_MAX) return { slots, isLeast: true };
    if (!made.has(slot)) slots.push(slot);
  }
  return { slots, isLeast: false };
}

/** Slots in a row that are missed for one reason, as one entry. */
function grouped(
  job: string,
  { slots, isLeast }: MissedSlots,
  because: (slot: EpochMs) => MissedBecause,
): MissedEntry[] {
  const entries: MissedEntry[] = [];
  for (const [index, slot] of slots.entries()) {
    const why = because(slot);
    const last = entries.at(-1);
    const isMore = isLeast && index === slots.length - 1;
    if (last?.because !== why) {
      const slots = { count: 1, isLeast: isMore };
      entries.push({ kind: "missed", at: slot, job, lastSlot: slot, slots, because: why });
    } else {
      entries[entries.length - 1] = {
        ...last,
        lastSlot: slot,
        slots: { count: last.slots.count + 1, isLeast: isMore },
      };
    }
  }
  return entries;
}

/** Why a slot of an outage has no run of its own, told by what the daemon did when it was back. */
function whyMissed(
  { onMissed, startingDeadlineSeconds }: Pick<JobConfig, "onMissed" | "startingDeadlineSeconds">,
  { until, isBack }: Gap,
  slot: EpochMs,
  facts: { readonly hasState: boolean; readonly hasRun: boolean; readonly made: number },
): MissedBecause {
  if (onMissed === "skip") return "onMissed: skip";
  if (!facts.hasState) return "no state section";
  if (!facts.hasRun) return "never ran";
  if (!isBack) return "not made up for yet";
  const deadlineMs = startingDeadlineSeconds === null ? Number.POSITIVE_INFINITY : startingDeadlineSeconds * 1000;
  if (slot < until - deadlineMs) return "startingDeadlineSeconds";
  if (facts.made === 0) return "not made up for yet";
  if (onMissed === "run-once") return "coalesced";
  return facts.made >= CATCHUP_LAUNCHES_MAX ? "limit" : "not made up for yet";
}

function summed({ config }: Simulation, entries: readonly Entry[]): Omit<Account, "entries"> {
  const sums = new Map<string, Adding>();
  const total = nothing();
  for (const entry of entries) {
    if (entry.kind === "daemon") continue;
    const sum = sums.get(entry.job) ?? nothing();
    sums.set(entry.job, sum);
    for (const each of [sum, total]) add(each, entry);
  }
  const names = [
    ...config.jobs.flatMap(({ name, enabled }) => (enabled ? [name] : [])),
    ...config.dags.flatMap(({ name, enabled, timing }) => (enabled && timing !== null ? [`dag:${name}`] : [])),
  ];
  const jobs = new Map<string, Sum>();
  for (const name of names) {
    const sum = sums.get(name);
    if (sum !== undefined) jobs.set(name, sum);
  }
  const idle = names.filter((name) => !sums.has(name));
  return { jobs, idle, total: { ...total, mostAtOnce: mostAtOnce(entries) } };
}

/** Most runs of all jobs at one instant; one that lasts no time is there for a millisecond. */
function mostAtOnce(entries: readonly Entry[]): number {
  const runs = entries.flatMap((entry) => (entry.kind === "run" ? [entry] : []));
  const ends = runs.map(({ at, endsAt }) => Math.max(endsAt, at + 1)).sort((a, b) => a - b);
  let most = 0;
  let gone = 0;
  for (const [before, { at }] of runs.entries()) {
    while ((ends[gone] ?? Number.POSITIVE_INFINITY) <= at) gone++;
    most = Math.max(most, before + 1 - gone);
  }
  return most;
}

/** A sum that is being made. */
type Adding = { -readonly [K in keyof Sum]: K extends "skipped" ? Map<NotRunReason["kind"], number> : Sum[K] };

function nothing(): Adding {
  return {
    fires: 0,
    ran: 0,
    caughtUp: 0,
    retried: 0,
    failed: 0,
    skipped: new Map(),
    missed: { count: 0, isLeast: false },
    overlaps: 0,
    mostAtOnce: 0,
  };
}

function add(sum: Adding, entry: Exclude<Entry, DaemonEntry>): void {
  switch (entry.kind) {
    case "run":
      if (entry.trigger.kind === "catch-up") sum.caughtUp++;
      else if (entry.trigger.kind === "retry") sum.retried++;
      else {
        sum.fires++;
        sum.ran++;
      }
      if (entry.outcome === "failure") sum.failed++;
      if (entry.overlaps > 0) sum.overlaps++;
      sum.mostAtOnce = Math.max(sum.mostAtOnce, entry.overlaps + 1);
      return;
    case "skipped":
      if (entry.trigger.kind === "schedule" || entry.trigger.kind === "boot") sum.fires++;
      sum.skipped.set(entry.reason.kind, (sum.skipped.get(entry.reason.kind) ?? 0) + 1);
      return;
    case "missed":
      sum.missed = {
        count: sum.missed.count + entry.slots.count,
        isLeast: sum.missed.isLeast || entry.slots.isLeast,
      };
  }
}
