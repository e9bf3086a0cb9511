import type { JobConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { sameSchedule } from "../schedule/expression.ts";
import { nextFire } from "../schedule/fires.ts";
import { judgeDue } from "../schedule/lateness.ts";
import { createAgenda } from "./agenda.ts";
import { BACKWARD_STEP_MAX_MS } from "./limits.ts";
import { inSlices } from "./slices.ts";

/** A job as far as its timetable goes. DAG schedules take part under the name `dag:<name>`. */
export type Timed = Pick<JobConfig, "name" | "timing" | "enabled" | "scheduleText">;

/** What the loop tells. All are called in turns of the loop's own, in configuration order. */
export interface FireLoopListener {
  onDue(name: string, slot: EpochMs): void;
  /** Slots from `from` on, before `until`, were passed over: the scheduler fell behind. */
  onGap(name: string, gap: { readonly from: EpochMs; readonly until: EpochMs; readonly lateMs: number }): void;
  /** First pass of each wall-clock minute, before anything due is served. */
  onMinute(now: EpochMs): void;
}

export interface FireLoop {
  /**
   * Takes a new set of jobs: unchanged timetables keep their instant, others are looked up anew (schedules 7.1).
   *
   * @param now nothing up to it is due
   */
  setJobs(jobs: readonly Timed[], now?: EpochMs): void;
  /** Begins to fire; nothing is due before the instant of this call. */
  start(): void;
  stop(): void;
  /** Next fire of a job; null when it has none. */
  nextFire(name: string): EpochMs | null;
  /** The job's schedule has no fire left (schedules 8). */
  neverFires(name: string): boolean;
}

interface Entry {
  readonly job: Timed;
  readonly order: number;
  neverFires: boolean;
}

interface DueSlot {
  readonly name: string;
  readonly slot: EpochMs;
  readonly order: number;
  readonly round: number;
}

/** The firing loop (schedules 7): sleeps until the soonest instant or the next minute, on the monotonic clock, and serves what is due. */
export function createFireLoop(clock: Clock, log: Logger, listener: FireLoopListener): FireLoop {
  const agenda = createAgenda();
  let entries = new Map<string, Entry>();
  let started = false;
  let stopped = false;
  let cancelSleep = (): void => {};
  let dropSlices = (): void => {};
  let lastMinute = -1;
  let lastWall = clock.wallNow();
  let lastElapsed = clock.elapsedNow();

  /** Puts the job's next fire after `now` on the agenda. */
  const seed = (entry: Entry, now: EpochMs): void => {
    const { job } = entry;
    const next =
      job.timing.kind === "timetable" && job.enabled ? nextFire(job.timing.schedule, job.timing.zone, now) : null;
    if (next !== null) {
      agenda.set(job.name, next);
      return;
    }
    agenda.delete(job.name);
    if (job.timing.kind !== "timetable" || !job.enabled) return;
    entry.neverFires = true;
    log.warning(
      `job '${job.name}': schedule '${job.scheduleText}' has no future occurrence and will NEVER fire; fix the schedule or disable the job (its status reports never_fires)`,
    );
  };

  /** Finds what a due job is to run, and its next instant. */
  const serve = (name: string, dueAt: EpochMs, now: EpochMs, slots: DueSlot[]): void => {
    const entry = entries.get(name);
    if (entry?.job.timing.kind !== "timetable") return;
    const { schedule, zone } = entry.job.timing;
    const due = judgeDue(schedule, zone, dueAt, now);
    if (due.nextMs !== null) {
      agenda.set(name, due.nextMs);
    } else {
      entry.neverFires = true;
      log.warning(
        `job '${name}': schedule '${entry.job.scheduleText}' has no further occurrence and will NEVER fire again; fix the schedule or disable the job (its status reports never_fires)`,
      );
    }
    if (due.kind === "replay") {
      due.slots.forEach((slot, round) => {
        slots.push({ name, slot, order: entry.order, round });
      });
      return;
    }
    log.warning(
      `job ${name}: the scheduler fell behind by ${Math.round(due.lateMs / 1000)}s (a slow pass, stall, suspend, or clock change); resuming at the current slot instead of replaying the interval`,
    );
    if (due.skipped !== null) {
      listener.onGap(name, { from: due.skipped.fromMs, until: due.skipped.beforeMs, lateMs: due.lateMs });
    }
    if (due.slot !== null) slots.push({ name, slot: due.slot, order: entry.order, round: 0 });
  };

  const reseedAfterStepBack = (now: EpochMs): void => {
    const stepMs = now - lastWall - (clock.elapsedNow() - lastElapsed);
    if (stepMs >= -BACKWARD_STEP_MAX_MS) return;
    log.warning(
      `the wall clock stepped back by ${Math.round(-stepMs / 1000)}s; looking up every job's next fire anew (slots of the time that comes round again will run again)`,
    );
    for (const entry of entries.values()) seed(entry, now - 1); // one of this very instant is still to be served
  };

  const pass = (): void => {
    const beganAt = clock.wallNow();
    reseedAfterStepBack(beganAt);
    const minute = Math.floor(beganAt / 60_000);
    if (minute !== lastMinute) {
      lastMinute = minute;
      listener.onMinute(beganAt);
    }
    if (stopped) return;
    const now = clock.wallNow();
    lastWall = now;
    lastElapsed = clock.elapsedNow();
    const slots: DueSlot[] = [];
    dropSlices = inSlices(
      clock,
      agenda.takeDue(now),
      ({ name, dueAt }) => serve(name, dueAt, now, slots),
      () => {
        // Round by round, each in configuration order: a job's own replays come one after another (schedules 7.2).
        slots.sort((a, b) => a.round - b.round || a.order - b.order);
        dropSlices = inSlices(clock, slots, ({ name, slot }) => listener.onDue(name, slot), sleep);
      },
    );
  };

  const sleep = (): void => {
    if (stopped) return;
    const now = clock.wallNow();
    const untilMinute = 60_000 - (now % 60_000);
    const soonest = agenda.soonest();
    // A timer may return a little early: the next sleep is short but never none, or the loop would spin.
    const delayMs = Math.max(1, Math.min(untilMinute, soonest === null ? untilMinute : soonest - now));
    cancelSleep();
    cancelSleep = clock.after(delayMs, pass);
  };

  return {
    setJobs(jobs, now = clock.wallNow()) {
      const before = entries;
      entries = new Map();
      jobs.forEach((job, order) => {
        const known = before.get(job.name);
        const kept = known !== undefined && sameTimetable(known.job, job);
        const entry: Entry = { job, order, neverFires: kept && known.neverFires };
        entries.set(job.name, entry);
        // A job that is being served at this moment has no instant: its slot goes on, and its next one is found by that.
        if (!kept) seed(entry, now);
      });
      for (const name of before.keys()) if (!entries.has(name)) agenda.delete(name);
      if (started) sleep();
    },
    start() {
      started = true;
      lastWall = clock.wallNow();
      lastElapsed = clock.elapsedNow();
      lastMinute = Math.floor(lastWall / 60_000);
      sleep();
    },
    stop() {
      stopped = true;
      cancelSleep();
      dropSlices();
    },
    nextFire: (name) => agenda.get(name),
    neverFires: (name) => entries.get(name)?.neverFires ?? false,
  };
}

/** Equal schedules in one zone, both enabled or both not: the pending instant stays (schedules 7.1). */
function sameTimetable(a: Timed, b: Timed): boolean {
  if (a.enabled !== b.enabled || a.timing.kind !== b.timing.kind) return false;
  if (a.timing.kind !== "timetable" || b.timing.kind !== "timetable") return true;
  return a.timing.zone.label === b.timing.zone.label && sameSchedule(a.timing.schedule, b.timing.schedule);
}
