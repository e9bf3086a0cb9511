import type { Logger } from "../contract/log.ts";
import { failureText } from "../journal/drops.ts";
import type { Clock } from "../platform/clock.ts";
import { STAMP_GATHER_MS } from "./cadence.ts";
import { type PidStamp, stampPids } from "./pid-stamp.rules.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

/** Writes the pids of launched tasks into their run, all of one burst together (6.3 step 6). Best effort: a lost one is only said. */
export interface PidStamps {
  add(run: RunRef, runId: string, stamp: PidStamp): void;
}

export function createPidStamps(parts: {
  readonly runs: RunStore;
  readonly proc: string;
  readonly clock: Clock;
  readonly log: Logger;
}): PidStamps {
  const { runs, proc, clock, log } = parts;
  const gathered = new Map<string, { readonly run: RunRef; readonly runId: string; readonly stamps: PidStamp[] }>();

  const write = async (name: string): Promise<void> => {
    const burst = gathered.get(name);
    gathered.delete(name);
    if (burst === undefined) return;
    const { run, runId, stamps } = burst;
    const outcome = await runs.change<null>(run, (stored) => {
      if (stored.kind !== "run" || stored.run.runId !== runId) return { kind: "keep", answer: null };
      const stamped = stampPids(stored.run, proc, stamps, clock.wallNow() / 1000);
      return stamped === stored.run ? { kind: "keep", answer: null } : { kind: "put", run: stamped, answer: null };
    });
    if (outcome.kind === "done") return;
    log.warning(
      `dag ${run.dag}: run ${run.runKey}: pids of ${stamps.length} task(s) could not be stored: ${failureText(outcome)}`,
    );
  };

  return {
    add(run, runId, stamp) {
      const name = `${advanceLease(run.dag, run.runKey)}\0${runId}`;
      const burst = gathered.get(name);
      if (burst !== undefined) {
        burst.stamps.push(stamp);
        return;
      }
      gathered.set(name, { run, runId, stamps: [stamp] });
      clock.after(STAMP_GATHER_MS, () => void write(name));
    },
  };
}
