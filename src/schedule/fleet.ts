import type { Schedule } from "./expression.ts";
import type { Zone } from "./zone.ts";

/**
 * One timetable of the fleet (section 13): every enabled job that has one, in the order of the configuration, then
 * every enabled DAG that has one as `dag:<name>`. Dead schedules are in, disabled and `@reboot` jobs are not.
 */
export interface FleetEntry {
  /** Unique in the fleet. */
  readonly name: string;
  readonly schedule: Schedule;
  readonly zone: Zone;
}

/**
 * Work that can be put down: each `next()` does a few milliseconds of it at most, the last one has the result.
 * Take a step, see whether others wait, take the next.
 */
export type Sliced<Result> = Generator<void, Result, undefined>;

/** Does all of the work at once: for tests and small fleets. */
export function finish<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
