import type { DagConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { createFireLoop, type Timed } from "../scheduler/fire-loop.ts";

/** Timetables of DAGs: the loop that fires jobs, one of its own for the synthetic jobs `dag:<name>` (D-SCH-3). */
export interface DagSchedules {
  /** Takes the DAGs in force. Unchanged timetables keep their next fire; all others begin in the future (D-SCH-6). */
  setDags(dags: readonly DagConfig[]): void;
  start(): void;
  stop(): void;
  nextFire(dag: string): EpochMs | null;
}

export function createDagSchedules(parts: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDue: (dag: string, slot: EpochMs) => void;
  /** Slots before `until` were passed over (D-SCH-7). */
  readonly onGap: (dag: string, until: EpochMs) => void;
}): DagSchedules {
  const prefix = "dag:";
  const dagOf = (name: string): string => name.slice(prefix.length);
  const loop = createFireLoop(parts.clock, parts.log, {
    onDue: (name, slot) => parts.onDue(dagOf(name), slot),
    onGap: (name, { until }) => parts.onGap(dagOf(name), until),
    onMinute: () => undefined,
  });
  return {
    setDags(dags) {
      loop.setJobs(
        dags.flatMap(({ name, timing, enabled, scheduleText }): Timed[] =>
          timing === null ? [] : [{ name: prefix + name, timing, enabled, scheduleText: scheduleText ?? "" }],
        ),
      );
    },
    start: loop.start,
    stop: loop.stop,
    nextFire: (dag) => loop.nextFire(prefix + dag),
  };
}
