import { step } from "./job.rules.ts";
import type { Around, JobEffect, JobEvent, JobState } from "./job-state.ts";

/**
 * Takes one job's events one at a time. Every rule is in `step`, which is pure.
 *   C1. A turn never waits. What takes time is an effect, and its answer, good or bad, comes back as an event.
 *   C2. `perform` never throws, and is the only way out. It may hand in further events; they wait for the turn under way.
 */
export interface JobController {
  handle(event: JobEvent): void;
  readonly state: JobState;
}

/** @param around how the world stands for the job, asked for each event */
export function jobController(
  initial: JobState,
  around: (state: JobState) => Around,
  perform: (effect: JobEffect) => void,
): JobController {
  let state = initial;
  const inbox: JobEvent[] = [];
  return {
    handle(event) {
      inbox.push(event);
      if (inbox.length > 1) return; // the turn under way takes it
      for (let next: JobEvent | undefined = event; next !== undefined; inbox.shift(), next = inbox[0]) {
        const turn = step(state, next, around(state));
        state = turn.state;
        turn.effects.forEach(perform);
      }
    },
    get state() {
      return state;
    },
  };
}
