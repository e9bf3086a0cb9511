import type { JobConfig } from "../../config/model.ts";
import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Backend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { PARALLEL_READS } from "../limits.ts";
import { inParallel } from "../parallel.ts";
import { presentStreams } from "../present-streams.ts";
import { type ResumedRetry, rearmament, retryFacts } from "./retry.rules.ts";
import type { RetryStream } from "./retry-stream.ts";

/** A configured job as the durable retries see it. */
export interface RetriedJob {
  readonly config: JobConfig;
  readonly jobDigest: string;
}

export interface LocalRetryView {
  /** Whether the job has a live run or a retry sequence here; asked again whenever time has passed. */
  busy(job: string): boolean;
}

/** A retry the scheduler goes on with, as if it had just been armed. */
export interface Resumption extends ResumedRetry {
  readonly job: string;
}

/** Goes on at start with the retries that were waiting when the last daemon of this host ended. */
export interface RetryRearm {
  /**
   * Looks at every job's newest retry record (RET-5, RET-6). What the store does not tell is left undecided, and so is everything after
   * the first read without an answer; `again` then looks at those.
   */
  run(jobs: readonly RetriedJob[], local: LocalRetryView): Promise<readonly Resumption[]>;
  /** Looks once more at what is undecided; for once a minute. Nothing, mostly. */
  again(jobs: readonly RetriedJob[], local: LocalRetryView): Promise<readonly Resumption[]>;
}

export function createRetryRearm(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly retries: Pick<RetryStream, "newest" | "settled">;
  readonly ledger: Pick<Ledger, "lastCompletedAt">;
  /** Whether this boot's run of an `@reboot` job has been (RET-8). */
  readonly bootCovered: (job: string, jobDigest: string) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}): RetryRearm {
  const { host, backend, retries, ledger, bootCovered, clock, log } = parts;
  let undecided = new Set<string>();
  let looking = false;

  const decide = async (
    { config, jobDigest }: RetriedJob,
    local: LocalRetryView,
  ): Promise<Resumption | "decided" | "undecided" | "timed out"> => {
    const { name } = config;
    const newest = await retries.newest(name);
    if (newest.kind === "unknown") return "timed out";
    if (newest.kind === "failed") {
      log.warning(`Job ${name}: its pending retry cannot be looked up: ${failureText(newest)}`);
      return "undecided";
    }
    const record = newest.value?.record ?? null;
    if (record?.kind !== "pending" && record?.kind !== "invalid pending") return "decided";
    if (record.host !== null && record.host !== host) return "decided";
    const completed = await ledger.lastCompletedAt(name);
    if (completed.kind === "unknown") return "timed out";
    if (completed.kind === "failed") {
      log.warning(`Job ${name}: whether its pending retry still counts cannot be looked up: ${failureText(completed)}`);
      return "undecided";
    }
    const reboot = config.timing.kind === "reboot" ? { covered: await bootCovered(name, jobDigest) } : null;
    const known = { host, now: clock.wallNow(), jobDigest, busy: local.busy(name), lastCompletedAt: completed.value };
    const found = rearmament(record, retryFacts(config, known), reboot);
    switch (found.next) {
      case "leave":
        return "decided";
      case "settle": {
        const attempt = found.attempt === null ? "" : ` #${found.attempt}`;
        log.info(`Job ${name}: pending retry${attempt} was not armed again: ${found.reason}`);
        void retries.settled(name, found.attempt, found.reason);
        return "decided";
      }
      case "arm": {
        const dueIn = Math.max(0, found.retry.dueAt - clock.wallNow()) / 1000;
        log.info(
          `Job ${name}: re-armed pending retry #${found.retry.attempt} from the durable ledger (due in ${dueIn.toFixed(1)} seconds)`,
        );
        return { job: name, ...found.retry };
      }
    }
  };

  const pass = async (jobs: readonly RetriedJob[], local: LocalRetryView): Promise<Resumption[]> => {
    const found: Resumption[] = [];
    const left = new Set(jobs.map(({ config }) => config.name));
    let timedOut = false;
    await inParallel(jobs, PARALLEL_READS, async (job) => {
      const decision = await decide(job, local);
      if (decision === "timed out") {
        if (!timedOut)
          log.warning(`state: looking up pending retries timed out at ${job.config.name}; the rest waits a minute`);
        timedOut = true;
        return "stop";
      }
      if (decision === "undecided") return "go on";
      left.delete(job.config.name);
      if (decision !== "decided") found.push(decision);
      return "go on";
    });
    undecided = left;
    return found;
  };

  /** Retries of jobs that are gone from the configuration: nobody will ever look at them again (F-40). */
  const settleRemoved = async (names: readonly string[]): Promise<void> => {
    await inParallel(names, PARALLEL_READS, async (name) => {
      const newest = await retries.newest(name);
      if (newest.kind === "unknown") return "stop";
      const record = newest.kind === "done" ? (newest.value?.record ?? null) : null;
      if (record?.kind === "pending" && record.host === host) {
        log.info(`Job ${name}: pending retry #${record.attempt} was not armed again: job-removed`);
        void retries.settled(name, record.attempt, "job-removed");
      }
      return "go on";
    });
  };

  const alone = async (work: () => Promise<readonly Resumption[]>): Promise<readonly Resumption[]> => {
    if (looking) return [];
    looking = true;
    try {
      return await work();
    } finally {
      looking = false;
    }
  };

  return {
    run: (jobs, local) =>
      alone(async () => {
        const present = await presentStreams(backend, "retries/");
        if (present.kind !== "done") {
          log.warning(`state: pending retries cannot be looked up: ${failureText(present)}; trying again in a minute`);
          undecided = new Set(jobs.map(({ config }) => config.name));
          return [];
        }
        const found = await pass(
          jobs.filter(({ config }) => present.value.has(config.name)),
          local,
        );
        const configured = new Set(jobs.map(({ config }) => config.name));
        await settleRemoved(present.value.names.filter((name) => !configured.has(name)));
        return found;
      }),
    again(jobs, local) {
      if (undecided.size === 0) return Promise.resolve([]);
      return alone(() =>
        pass(
          jobs.filter(({ config }) => undecided.has(config.name)),
          local,
        ),
      );
    },
  };
}
