import { jobDigest } from "../config/fingerprint.ts";
import type { JobConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Owners } from "../contract/ownership.ts";
import type { PoolEntry, RunningEntry } from "../contract/pool.ts";
import type { RunId, Trigger } from "../contract/run.ts";
import type { Clock } from "../platform/clock.ts";
import type { ActiveJob } from "./active-job.ts";
import type { JobEffect, Wanted } from "./job-state.ts";
import { pauseInForce } from "./pause.rules.ts";
import { retryScope } from "./pool-document.rules.ts";
import type { PoolHost } from "./pool-line.ts";
import type { PoolQueues } from "./pool-queue.ts";
import type { NewWork } from "./pools.rules.ts";

/** The way of jobs' starts through their pools: asks the queues, and hands what they say to the jobs' controllers. */
export interface PoolGate extends PoolHost {
  enter(own: ActiveJob, effect: Extract<JobEffect, { kind: "enter pool" }>): void;
  leave(own: ActiveJob, runId: RunId, used: boolean): void;
  endLadder(job: JobConfig): void;
  askLadder(own: ActiveJob, effect: Extract<JobEffect, { kind: "ask ladder" }>): void;
  /** Ends the claims of starts that came to nothing, and has the heads looked at: one may go now. */
  settled(own: ActiveJob): void;
}

/** A claim of this node, by the run it is for. */
export interface PoolClaimHeld {
  readonly pool: string;
  readonly id: string;
}

export function createPoolGate(parts: {
  readonly node: string;
  readonly queues: () => PoolQueues | null;
  readonly owners: Owners;
  readonly clock: Clock;
  readonly log: Logger;
  readonly newRunId: () => RunId;
  job(name: string): JobConfig | null;
  active(name: string): ActiveJob | null;
  existing(name: string): ActiveJob | null;
  /** A run of the job lives here, of this daemon or the one before it. */
  isRunning(name: string): boolean;
  settled(own: ActiveJob): void;
}): PoolGate {
  const { node, queues, owners, clock, log, newRunId, existing } = parts;

  const scopeOf = ({ name, clusterPolicy }: JobConfig): string =>
    retryScope(name, clusterPolicy === "EveryNode" ? node : null);

  const answered = (own: ActiveJob, event: Parameters<ActiveJob["controller"]["handle"]>[0]): void => {
    own.controller.handle(event);
    parts.settled(own);
  };

  /** The run that an entry stands for here: the one that queued it, or a new one. */
  const runOf = (own: ActiveJob, id: string): RunId => {
    const known = own.queued.get(id);
    own.queued.delete(id);
    return known ?? newRunId();
  };

  const leave = (own: ActiveJob, runId: RunId, used: boolean): void => {
    const claim = own.claims.get(runId);
    if (claim === undefined) return;
    own.claims.delete(runId);
    queues()?.[used ? "completed" : "released"](claim.pool, claim.id);
  };

  return {
    enter(own, { wanted, attempt, retryEpoch, armedAt }) {
      const { runId, job } = wanted;
      const claim = job.launch.pool;
      const pools = queues();
      if (claim === null || pools === null) {
        const why = "there is no state section";
        answered(own, { kind: "pool answered", runId, answer: { kind: "refused", pool: claim?.pool ?? "", why } });
        return;
      }
      const { pool, slots, priority, timeoutSeconds } = claim;
      const isEveryNode = job.clusterPolicy === "EveryNode";
      const pinnedTo = isEveryNode || wanted.trigger.kind === "manual" ? node : null;
      const id = entryId(wanted, armedAt, isEveryNode ? node : null);
      own.queued.set(id, runId);
      const work: NewWork = {
        id,
        kind: "job",
        name: job.name,
        source: sourceOf(wanted.trigger),
        slots,
        priority,
        timeoutMs: timeoutSeconds * 1000,
        jobDigest: jobDigest(job),
        pinnedTo,
        attempt,
        retryEpoch,
        dag: null,
      };
      void pools.enqueue(pool, work).then((found) => {
        const ended = found.kind === "queued" && found.entry.state !== "waiting" && found.entry.state !== "running";
        if (found.kind === "queued" && !ended) {
          const answer = { kind: "queued", pool, queueId: id, retryEpoch: found.entry.retryEpoch } as const;
          answered(own, { kind: "pool answered", runId, answer });
          return;
        }
        own.queued.delete(id);
        if (found.kind === "superseded") {
          answered(own, { kind: "pool answered", runId, answer: found });
          return;
        }
        const why = found.kind === "queued" ? `its entry ${id} has ended before (${found.entry.state})` : found.why;
        const kind = found.kind === "unavailable" ? "unavailable" : "refused";
        answered(own, { kind: "pool answered", runId, answer: { kind, pool, why } });
      });
    },
    leave,
    endLadder(job) {
      const pool = job.launch.pool?.pool;
      if (pool !== undefined) queues()?.endLadder(pool, scopeOf(job));
    },
    askLadder(own, { run: { runId, job }, epoch }) {
      const pool = job.launch.pool?.pool;
      const asked = pool === undefined ? undefined : queues()?.ladderStands(pool, scopeOf(job), epoch);
      void (asked ?? Promise.resolve("unknown" as const)).then((stands) =>
        answered(own, { kind: "ladder answered", runId, stands }),
      );
    },
    settled(own) {
      if (own.claims.size > 0) {
        const { runs, waiting, asking } = own.controller.state;
        for (const runId of [...own.claims.keys()])
          if (!runs.has(runId) && waiting?.runId !== runId && !asking.has(runId)) leave(own, runId, true);
      }
      if (own.controller.state.job?.launch.pool != null) queues()?.kick();
    },

    facts({ name }) {
      const job = parts.job(name);
      const pause = existing(name)?.controller.state.pause ?? null;
      return {
        host: node,
        job: job === null ? null : { digest: jobDigest(job), isEnabled: job.enabled },
        isOwner: job !== null && owners.of(job).kind === "here",
        isPaused: pauseInForce(pause, clock.wallNow()) !== null,
        isForbidden: job?.concurrencyPolicy === "Forbid" && parts.isRunning(name),
      };
    },
    admitted(pool, entry, ladderEnded) {
      const own = parts.active(entry.name);
      const job = own?.controller.state.job ?? null;
      if (own === null || job === null || own.controller.state.stopping) {
        queues()?.released(pool, entry.id);
        return;
      }
      const runId = runOf(own, entry.id);
      own.claims.set(runId, { pool, id: entry.id });
      const queued: Wanted = { runId, trigger: triggerOf(entry), job, request: null };
      answered(own, { kind: "pool admitted", runId, queued, ladderEnded, retryEpoch: entry.retryEpoch });
    },
    lost(pool, { id, name }: RunningEntry) {
      const own = existing(name);
      const [runId] = [...(own?.claims ?? [])].find(([, claim]) => claim.pool === pool && claim.id === id) ?? [];
      if (own === null || runId === undefined) return;
      own.claims.delete(runId);
      log.warning(`pool ${pool}: the claim of job ${name} ran out and another node has it; its run here is stopped`);
      answered(own, { kind: "pool lost", runId });
    },
    left(pool, { id, name, state, reason }) {
      const own = existing(name);
      const runId = own?.queued.get(id);
      if (own === null || runId === undefined) return;
      own.queued.delete(id);
      answered(own, { kind: "pool left", runId, pool, why: state === "done" ? null : (reason ?? state) });
    },
  };
}

/**
 * The name of a start in its queue. A slot, a boot or an armed retry has the same one whoever asks, so that two nodes, or the daemon after
 * a restart, queue it once.
 */
function entryId({ runId, trigger, job }: Wanted, armedAt: number | null, node: string | null): string {
  const at = node === null ? job.name : `${job.name}@${node}`;
  switch (trigger.kind) {
    case "schedule":
    case "catch-up":
      return `${at}/slot/${new Date(trigger.slot).toISOString()}`;
    case "retry":
      return `${at}/retry/${trigger.attempt}/${new Date(armedAt ?? 0).toISOString()}`;
    case "boot":
    case "manual":
    case "dag":
      return runId;
  }
}

function sourceOf(trigger: Trigger): NewWork["source"] {
  switch (trigger.kind) {
    case "boot":
      return "reboot";
    case "catch-up":
      return "catchup";
    case "schedule":
    case "retry":
    case "manual":
    case "dag":
      return trigger.kind;
  }
}

/** What a run of an entry is of, where only the entry is known. */
function triggerOf({ source, enqueuedAt, attempt }: PoolEntry): Trigger {
  switch (source) {
    case "schedule":
    case "dag":
      return { kind: "schedule", slot: enqueuedAt };
    case "catchup":
      return { kind: "catch-up", slot: enqueuedAt };
    case "reboot":
      return { kind: "boot" };
    case "retry":
      return { kind: "retry", attempt };
    case "manual":
      return { kind: "manual", by: null };
  }
}
