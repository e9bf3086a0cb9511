import type { EpochMs } from "../../../src/platform/clock.ts";
import type { DaemonId, Fact } from "../world/facts.ts";
import { slotsOf } from "../world/sim-job.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant } from "./invariant.ts";

/**
 * A plain job's slot is launched, or refused with a reason, this soon: the head start of a store that is still being opened, and a moment.
 * Nothing else may wait for the store (GEN-3).
 */
const PLAIN_BOUND_MS = 6_000;

/** The firing loop sleeps by elapsed time, for a minute at most: so long it may not know that the clock was set. */
const NOTICES_WITHIN_MS = 61_000;

/** A gate that asks the store: two reads of ten seconds, and a Replace start its victim's death as well. */
const GATED_BOUND_MS = 30_000;
const REPLACE_BOUND_MS = 150_000;

/** Another node is asked to make way for two lives of a slot, twice when a pursuit was under way already. */
const CLUSTER_BOUND_MS = 360_000;

interface Watched {
  readonly id: DaemonId;
  /** Slots up to here have been looked at, by job; slots are the daemon's from `since` on. */
  readonly upTo: Map<string, EpochMs>;
  readonly handled: Map<string, Set<EpochMs>>;
  stopping: boolean;
}

/**
 * Every slot of an enabled job that comes while a daemon is up is launched or refused with a reason, in time, whatever the store does
 * (GEN-3, DESIGN idea 9). Slots that the clock jumped over, or that were slept through, are for catch-up and the gap's own account.
 */
export function launchBound(world: World): Invariant {
  const daemons = new Map<string, Watched>();

  const excuse = (host: string): void => {
    for (const watched of daemons.values()) {
      if (watched.id.host !== host) continue;
      const wall = world.places.find((place) => place.host.name === host)?.host.clock.wallNow() ?? 0;
      for (const [job, upTo] of watched.upTo) watched.upTo.set(job, Math.max(upTo, wall + NOTICES_WITHIN_MS));
    }
  };

  return {
    promise: "every due slot is launched or refused with a reason in time, whatever the store does (GEN-3)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "daemon started":
          daemons.set(fact.daemon.proc, { id: fact.daemon, upTo: new Map(), handled: new Map(), stopping: false });
          return null;
        case "daemon ended":
          daemons.delete(fact.daemon.proc);
          return null;
        case "stop asked": {
          const watched = daemons.get(fact.daemon.proc);
          if (watched !== undefined) watched.stopping = true;
          return null;
        }
        case "configured": {
          const watched = daemons.get(fact.daemon.proc);
          // After an edit every job is looked at anew, from the slots that are still to come.
          for (const job of fact.jobs) watched?.upTo.set(job.name, fact.wall);
          for (const name of watched?.upTo.keys() ?? [])
            if (!fact.jobs.some((job) => job.name === name)) watched?.upTo.delete(name);
          return null;
        }
        case "clock moved":
          excuse(fact.host);
          return null;
        case "launched":
          if (fact.trigger.kind === "schedule") handledAt(daemons, fact.daemon, fact.job.name, fact.trigger.slot);
          return null;
        case "refused":
          if (fact.slot !== null) handledAt(daemons, fact.daemon, fact.job, fact.slot);
          return null;
        default:
          return null;
      }
    },
    after() {
      for (const { host, daemon } of world.places) {
        const watched = daemon === null ? undefined : daemons.get(daemon.id.proc);
        if (watched === undefined || watched.stopping || host.clock.asleep) continue;
        const now = host.clock.wallNow();
        for (const [name, upTo] of watched.upTo) {
          const job = world.jobs.get(name);
          if (job === undefined || job.timetable === null || !job.config.enabled) continue;
          if (job.config.launch.pool !== null) continue; // it takes its turn
          const { concurrencyPolicy, concurrencyScope, onlyIfLastSucceeded } = job.config;
          const isClustered = concurrencyScope === "cluster";
          const waits = concurrencyPolicy === "Replace";
          const bound = isClustered
            ? CLUSTER_BOUND_MS
            : waits
              ? REPLACE_BOUND_MS
              : onlyIfLastSucceeded
                ? GATED_BOUND_MS
                : PLAIN_BOUND_MS;
          if (now - bound <= upTo) continue;
          const handled = watched.handled.get(name);
          for (const slot of slotsOf(job.timetable, upTo, now - bound)) {
            if (handled?.has(slot) !== true)
              return `${name}: ${host.name} neither launched nor refused its slot ${clockTime(slot)} by ${clockTime(now)}`;
          }
          watched.upTo.set(name, now - bound);
        }
      }
      return null;
    },
  };
}

function handledAt(daemons: ReadonlyMap<string, Watched>, { proc }: DaemonId, job: string, slot: EpochMs): void {
  const watched = daemons.get(proc);
  if (watched === undefined) return;
  const slots = watched.handled.get(job) ?? new Set();
  watched.handled.set(job, slots.add(slot));
  if (slots.size > 2_000) for (const old of slots) if (slots.size > 1_000) slots.delete(old);
}
