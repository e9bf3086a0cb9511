import type { Logger } from "../../contract/log.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { Backend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { DaemonProcess } from "../inflight/inflight-record.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { CLAIM_TTL_MS, PARALLEL_READS, SCAN_EVERY_MS, UNCONFIRMED_CLAIM_MS } from "../limits.ts";
import { inParallel } from "../parallel.ts";
import { presentStreams } from "../present-streams.ts";
import { takeClaim } from "./claim-lease.ts";
import type { LocalRetryView, Resumption, RetriedJob } from "./rearm.ts";
import { claimability, isSuperseded, resumed, retryFacts } from "./retry.rules.ts";
import type { HandoffRecord, PendingRecord } from "./retry-record.ts";
import type { NewestRetry, RetryStream } from "./retry-stream.ts";

/** What this node knows of a job it may claim a retry of. */
export interface LocalClaimView extends LocalRetryView {
  /** Whether this node is the job's owner now. */
  owns(job: string): boolean;
  lastCompletedAt(job: string): EpochMs | null;
}

/** Takes over retries whose node has given them up, or is gone (RSM-3). Only while cross-node resume is active (RSM-1). */
export interface RetryClaims {
  /**
   * Looks for retries of jobs this node owns and takes those over that it may. Called each minute; does nothing when the last scan is
   * less than 55 s ago or still goes on.
   */
  scan(jobs: readonly RetriedJob[], local: LocalClaimView): Promise<readonly Resumption[]>;
}

/** Whether a job's retries may move between nodes at all: a boot belongs to its host, and every-node jobs stay where they are (RSM-1). */
export function movesBetweenNodes({ config }: Pick<RetriedJob, "config">): boolean {
  return config.clusterPolicy !== "EveryNode" && config.timing.kind !== "reboot";
}

export function createRetryClaims(parts: {
  readonly self: DaemonProcess;
  readonly backend: Backend;
  readonly retries: Pick<RetryStream, "newest" | "settled" | "claimed">;
  readonly ledger: Pick<Ledger, "lastCompletedAt">;
  readonly clock: Clock;
  readonly log: Logger;
}): RetryClaims {
  const { self, backend, retries, ledger, clock, log } = parts;
  /** Claims whose write was not answered: it may have landed, and then nobody else takes the retry (THR-2). */
  const unconfirmed = new Map<string, EpochMs>();
  let lastScan = Number.NEGATIVE_INFINITY;
  let scanning = false;

  const look = async (job: RetriedJob, local: LocalClaimView): Promise<Resumption | null> => {
    const { config, jobDigest } = job;
    const { name } = config;
    const newest = await retries.newest(name);
    if (newest.kind !== "done" || newest.value === null || !local.owns(name)) return null;
    const adopted = adopt(name, newest.value, local);
    if (adopted !== null) return adopted;
    const known = {
      host: self.host,
      now: clock.wallNow(),
      jobDigest,
      busy: local.busy(name),
      lastCompletedAt: local.lastCompletedAt(name),
    };
    const found = claimability(newest.value.record, retryFacts(config, known));
    if (found.next === "leave") return null;
    const claim = await takeClaim(backend, self, name);
    if (claim.kind !== "held") return null;
    const until = clock.elapsedNow() + CLAIM_TTL_MS;
    try {
      if (found.next === "claim") return await takeOver(job, newest.value, found, local, until);
      const now = await retries.newest(name);
      if (now.kind === "done" && now.value?.id === newest.value.id)
        await retries.settled(name, found.record.attempt, found.reason);
      return null;
    } finally {
      await claim.release();
    }
  };

  /** Under the lease: nothing changed, no run anywhere made it moot, and the claim is on disk before the lease goes (RSM-4). */
  const takeOver = async (
    { config: { name }, jobDigest }: RetriedJob,
    seen: NewestRetry,
    { record, from }: { record: PendingRecord | HandoffRecord; from: string },
    local: LocalClaimView,
    until: number,
  ): Promise<Resumption | null> => {
    const now = await retries.newest(name);
    if (now.kind !== "done" || now.value?.id !== seen.id) return null;
    const completed = await ledger.lastCompletedAt(name);
    if (completed.kind !== "done") {
      log.warning(`Job ${name}: a retry of host ${from} cannot be claimed: ${failureText(completed)}`);
      return null;
    }
    if (isSuperseded(record, completed.value)) {
      await retries.settled(name, record.attempt, "superseded-by-run");
      return null;
    }
    if (local.busy(name) || !local.owns(name) || clock.elapsedNow() >= until) return null;
    const { attempt, dueAt } = resumed(record);
    const armedAt = clock.wallNow();
    const written = await retries.claimed(name, { attempt, notBefore: dueAt, armedAt, jobDigest }, from);
    if (written.kind === "unknown") unconfirmed.set(name, armedAt);
    if (written.kind !== "done" || local.busy(name)) return null;
    return resume(name, from, { attempt, dueAt, armedAt });
  };

  /** A claim that was given up as lost and has landed after all is ours to go on with. */
  const adopt = (name: string, { record }: NewestRetry, local: LocalClaimView): Resumption | null => {
    const claimedAt = unconfirmed.get(name);
    if (claimedAt === undefined) return null;
    if (clock.wallNow() - claimedAt > UNCONFIRMED_CLAIM_MS) unconfirmed.delete(name);
    if (record?.kind !== "pending" || record.host !== self.host || record.claimedFrom === null) return null;
    if (record.at !== claimedAt) return null;
    unconfirmed.delete(name);
    if (local.busy(name)) return null;
    return resume(name, record.claimedFrom, resumed(record));
  };

  const resume = (job: string, from: string, retry: Omit<Resumption, "job">): Resumption => {
    const dueIn = Math.max(0, retry.dueAt - clock.wallNow()) / 1000;
    log.info(
      `Job ${job}: claimed pending retry #${retry.attempt} from host ${from} (cross-node retry resume); due in ${dueIn.toFixed(1)} seconds`,
    );
    return { job, ...retry };
  };

  return {
    async scan(jobs, local) {
      if (scanning || clock.elapsedNow() - lastScan < SCAN_EVERY_MS) return [];
      scanning = true;
      lastScan = clock.elapsedNow();
      const found: Resumption[] = [];
      try {
        const present = await presentStreams(backend, "retries/");
        if (present.kind !== "done") return [];
        const candidates = jobs.filter(
          (job) => movesBetweenNodes(job) && present.value.has(job.config.name) && local.owns(job.config.name),
        );
        await inParallel(candidates, PARALLEL_READS, async (job) => {
          const resumption = await look(job, local);
          if (resumption !== null) found.push(resumption);
          return "go on";
        });
        return found;
      } finally {
        scanning = false;
      }
    },
  };
}
