/**
 * When the process table is walked. Samples of all runs stand on one grid, the multiples of their interval on the elapsed clock:
 * runs with the same interval, whenever they started, share each walk.
 */
export interface Timetable {
  /** End of the last walk and how long it took, elapsed ms. */
  readonly lastEndedAt: number;
  readonly lastTookMs: number;
}

/** Runs due within this time of a walk are taken along. */
const TOGETHER_MS = 20;

/** A walk may take at most a tenth of the thread's time: hosts with very many processes are sampled less often. */
const REST_PER_WALK = 9;

/** When a run with this interval, sampled now, is due again: a point of its grid, at least half an interval away. */
export function nextDueAt(intervalMs: number, now: number): number {
  return (Math.floor((now + intervalMs / 2) / intervalMs) + 1) * intervalMs;
}

/** When the next walk is to be made, Infinity when no run is watched. */
export function nextWalkAt(dueAts: Iterable<number>, { lastEndedAt, lastTookMs }: Timetable): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (const dueAt of dueAts) earliest = Math.min(earliest, dueAt);
  return Math.max(earliest, lastEndedAt + lastTookMs * REST_PER_WALK);
}

/** Whether a walk made now serves a run that is due at `dueAt`. */
export function isServed(dueAt: number, now: number): boolean {
  return dueAt <= now + TOGETHER_MS;
}
