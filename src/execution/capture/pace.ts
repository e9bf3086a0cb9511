import type { Clock } from "../../platform/clock.ts";
import { READ_TURN_MS, RESUMED_STREAMS_MAX } from "../limits.ts";

/**
 * Shares the event loop between the streams of all runs: reading takes `READ_TURN_MS` of a turn, then streams wait, and resume in the order in
 * which they had to. A job that prints without end waits on its pipe meanwhile, and nothing else waits on the job.
 */
export interface Pace {
  /** Asked after each read. With "wait", `resume` is called in a later turn. */
  afterRead(resume: () => void): "more" | "wait";
}

export function readingPace(clock: Clock): Pace {
  const waiting: (() => void)[] = [];
  let turnStartedAt: number | null = null;

  function startTurn(): number {
    setImmediate(endTurn); // runs when the reads of this turn are over
    turnStartedAt = clock.elapsedNow();
    return turnStartedAt;
  }

  function endTurn(): void {
    turnStartedAt = null;
    for (const resume of waiting.splice(0, RESUMED_STREAMS_MAX)) resume();
    if (waiting.length > 0) startTurn();
  }

  return {
    afterRead(resume) {
      if (clock.elapsedNow() - (turnStartedAt ?? startTurn()) < READ_TURN_MS) return "more";
      waiting.push(resume);
      return "wait";
    },
  };
}
