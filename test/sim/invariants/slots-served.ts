import type { JobConfig } from "../../../src/config/model.ts";
import { readInstant } from "../../../src/journal/instant.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact } from "../world/facts.ts";
import { slotsOf, type Timetable } from "../world/sim-job.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant } from "./invariant.ts";

/** What one cycle of catch-up launches at most. A job that once owed nearly as many is not judged. */
const OWED_MAX = 90;

/** A long backfill is at its next run this soon: the longest run, and the wait for the job to be idle. */
const NEXT_LAUNCH_WITHIN_MS = 40 * 60_000;

interface Account {
  readonly config: JobConfig;
  readonly timetable: Timetable;
  /** The end of the first run on record: from there on every slot is owed. */
  since: EpochMs | null;
  readonly served: Set<EpochMs>;
  /** From where a start counts again what a crash cut, what has been made up for included. */
  countedFrom: EpochMs | null;
  /** When catch-up last launched a run of it, or tried to. */
  caughtUpAt: EpochMs;
}

/**
 * Every slot of a run-all job was launched, or refused with a reason, however often its daemon was killed, and whatever became of rows
 * and checkpoints. Counted without them: they are what may be wrong. Jobs that were edited, paused or have a deadline, and worlds
 * whose clock went back, are not judged; neither are fleets, whose nodes share the slots.
 */
export function slotsServed(world: World): Invariant {
  const accounts = new Map<string, Account>();
  const excused = new Set<string>();
  let isJudged = world.places.length === 1;

  const unserved = ({ since, served, timetable }: Account, upTo: EpochMs): EpochMs[] =>
    since === null ? [] : slotsOf(timetable, since, upTo).filter((slot) => !served.has(slot));

  const excuse = (job: string): void => {
    excused.add(job);
    accounts.delete(job);
  };

  const configured = (jobs: readonly JobConfig[]): void => {
    const inForce = new Map(jobs.map((job) => [job.name, job]));
    for (const [name, { config }] of accounts) if (inForce.get(name) !== config) excuse(name);
    for (const config of jobs) {
      const { name, onMissed, enabled, startingDeadlineSeconds } = config;
      const timetable = world.jobs.get(name)?.timetable ?? null;
      if (accounts.has(name) || excused.has(name)) continue;
      if (onMissed !== "run-all" || !enabled || startingDeadlineSeconds !== null || timetable === null) excuse(name);
      else accounts.set(name, { config, timetable, since: null, served: new Set(), countedFrom: null, caughtUpAt: 0 });
    }
  };

  return {
    promise:
      "every slot of a job that catches up all is launched or refused, whenever its daemon is killed (CAT-1, CAT-20)",
    saw(fact: Fact) {
      if (!isJudged) return null;
      switch (fact.kind) {
        case "configured":
          configured(fact.jobs);
          return null;
        case "daemon started":
          for (const [name, account] of accounts) {
            const { countedFrom, timetable } = account;
            const again = countedFrom === null ? [] : slotsOf(timetable, countedFrom, fact.wall);
            if (Math.max(again.length, unserved(account, fact.wall).length) > OWED_MAX) excuse(name);
          }
          return null;
        case "paused":
          excuse(fact.job);
          return null;
        case "clock moved":
          if (fact.how !== "sleeps" && fact.byMs < 0) isJudged = false;
          return null;
        case "landed": {
          const [family, name = ""] = fact.stream.split("/");
          const account = accounts.get(name);
          if (account === undefined) return null;
          if (family === "runs") account.since ??= readInstant(fact.body.finished_at);
          if (family === "catchup")
            account.countedFrom = fact.body.kind === "open" ? readInstant(fact.body.watermark) : null;
          return null;
        }
        case "launched": {
          const account = accounts.get(fact.job.name);
          if (account === undefined || !("slot" in fact.trigger)) return null;
          account.served.add(fact.trigger.slot);
          if (fact.trigger.kind === "catch-up") account.caughtUpAt = fact.at;
          return null;
        }
        case "refused": {
          const account = accounts.get(fact.job);
          if (account === undefined || fact.slot === null) return null;
          if (fact.trigger.kind === "catch-up")
            account.caughtUpAt = fact.at; // tried again
          else account.served.add(fact.slot);
          return null;
        }
        default:
          return null;
      }
    },
    atEnd() {
      const [place] = world.places;
      if (!isJudged || place === undefined) return null;
      for (const [name, account] of accounts) {
        const missing = unserved(account, place.host.clock.wallNow() - NEXT_LAUNCH_WITHIN_MS);
        const [first] = missing;
        if (first === undefined || world.time.now() - account.caughtUpAt < NEXT_LAUNCH_WITHIN_MS) continue;
        return `${name}: ${missing.length} slots were neither launched nor refused, the first is ${clockTime(first)}`;
      }
      return null;
    },
  };
}
