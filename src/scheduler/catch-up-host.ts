import type { JobConfig } from "../config/model.ts";
import type { Owners } from "../contract/ownership.ts";
import type { RunId } from "../contract/run.ts";
import type { Standing } from "../journal/catchup/backfill.rules.ts";
import type { CatchUpHost } from "../journal/catchup/catchup.ts";
import { startOffsetMs } from "../journal/catchup/jitter.ts";
import type { Clock } from "../platform/clock.ts";
import type { ActiveJob } from "./active-job.ts";
import type { StartAnswer } from "./job-state.ts";
import { pauseInForce } from "./pause.rules.ts";

/** What catch-up asks of the scheduler: how a job stands, and to start what was missed (state 8). */
export function catchUpHost(parts: {
  readonly owners: Owners;
  readonly clock: Clock;
  readonly newRunId: () => RunId;
  job(name: string): JobConfig | null;
  /** Made when it is not there; null for a name that is not configured. */
  active(name: string): ActiveJob | null;
  existing(name: string): ActiveJob | null;
  /** No run of the job lives here, of this daemon or the one before it. */
  isIdle(name: string): boolean;
  ask(send: (request: number) => void): Promise<StartAnswer>;
}): CatchUpHost {
  const { owners, clock, newRunId, existing } = parts;
  return {
    standing(name) {
      const job = parts.job(name);
      const pause = existing(name)?.controller.state.pause ?? null;
      return {
        policy: job === null ? null : policyOf(job),
        owner: job === null ? "here" : owners.of(job).kind,
        paused: pauseInForce(pause, clock.wallNow()) !== null,
      };
    },
    async launch(name, slot) {
      const own = parts.active(name);
      if (own === null) return false;
      own.lastSlot = slot;
      const answer = await parts.ask((request) =>
        own.controller.handle({ kind: "catch up", request, slot, runId: newRunId() }),
      );
      return answer.kind === "started";
    },
    whenIdle(name, call) {
      const own = parts.active(name);
      if (own === null || parts.isIdle(name)) {
        call();
        return () => {};
      }
      own.awaitingIdle.add(call);
      return () => own.awaitingIdle.delete(call);
    },
  };
}

function policyOf(job: JobConfig): Standing["policy"] {
  const { timing, onMissed, enabled, startingDeadlineSeconds, concurrencyPolicy } = job;
  if (!enabled || onMissed === "skip" || timing.kind !== "timetable") return null;
  const offsetMs = startOffsetMs(job.name, job.catchupJitterSeconds);
  return {
    onMissed,
    schedule: timing.schedule,
    zone: timing.zone,
    startingDeadlineSeconds,
    offsetMs,
    concurrencyPolicy,
  };
}
