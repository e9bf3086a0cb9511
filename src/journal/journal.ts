import type { StateConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import type { Clock } from "../platform/clock.ts";
import { createOutputArchive, type OutputArchive } from "./archive/archive.ts";
import { createRedactor } from "./archive/redactor.ts";
import type { Backend } from "./backend.ts";
import { type BootGate, createBootGate } from "./boot/boot-gate.ts";
import type { Boot } from "./boot/boot-marker.ts";
import { type CatchUp, type CatchUpHost, createCatchUp } from "./catchup/catchup.ts";
import { type Checkpoints, createCheckpoints } from "./catchup/checkpoints.ts";
import { createDurableCounters, type DurableCounters } from "./counters/counters.ts";
import { createDrops, type Drops } from "./drops.ts";
import { createInFlightRuns, type InFlightRuns, type Processes } from "./inflight/inflight.ts";
import type { DaemonProcess } from "./inflight/inflight-record.ts";
import { createLedger, type Ledger } from "./ledger/ledger.ts";
import type { Past, PastFacts } from "./ledger/past.rules.ts";
import { askPast } from "./ledger/past.ts";
import { createTrendBook, type TrendBook } from "./ledger/trends.ts";
import { FLUSH_PATIENCE_MS } from "./limits.ts";
import { createMissedSlots, type MissedSlots } from "./missed/missed-slots.ts";
import { createDurablePauses, type DurablePauses } from "./pauses/pauses.ts";
import { createRetryClaims, type RetryClaims } from "./retries/claims.ts";
import { type Consumed, consumeRetry } from "./retries/consume.ts";
import { createRetryRearm, type RetryRearm } from "./retries/rearm.ts";
import { createRetryStream, type RetryStream } from "./retries/retry-stream.ts";
import { type Collector, createCollector } from "./upkeep/collector.ts";
import { createManifests, type Manifests } from "./upkeep/manifests.ts";
import { createWriteQueue, type WriteQueue } from "./write-queue.ts";

/** Everything the scheduler keeps in the store, by stream family. Made once per process, whether or not the store is up (GEN-6). */
export interface Journal {
  readonly self: DaemonProcess;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Logger;
  readonly writes: WriteQueue;
  readonly drops: Drops;
  readonly ledger: Ledger;
  readonly trends: TrendBook;
  readonly archive: OutputArchive;
  readonly inFlight: InFlightRuns;
  readonly retries: RetryStream;
  readonly rearm: RetryRearm;
  readonly claims: RetryClaims;
  readonly checkpoints: Checkpoints;
  readonly bootGate: BootGate;
  readonly pauses: DurablePauses;
  readonly counters: DurableCounters;
  readonly missed: MissedSlots;
  readonly manifests: Manifests;
  readonly collector: Collector;
  /** @param awaitsStart `begin` is still to be called */
  catchUpFor(host: CatchUpHost, awaitsStart: boolean): CatchUp;
  /** Right before a due retry launches. `resume`: whether cross-node resume is active (RSM-1). */
  consumeRetry(job: string, attempt: number, resume: boolean): Promise<Consumed>;
  /** For a fire of an `onlyIfLastSucceeded` job. */
  askPast(job: string, facts: () => PastFacts): Promise<Past>;
  /** Waits at most 5 s for what is still to be written, says how much there is, and ends the redaction thread (GEN-7). */
  close(): Promise<void>;
}

export interface JournalParts {
  readonly self: DaemonProcess;
  readonly boot: Boot;
  readonly backend: Backend;
  /** The `state` section of the configuration in force. */
  readonly settings: () => StateConfig;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createJournal(parts: JournalParts): Journal {
  const { self, boot, backend, settings, processes, clock, log } = parts;
  const { host } = self;
  const maxRunsPerJob = (): number => settings().maxRunsPerJob;
  const policy = () => settings().onStoreUnavailable;
  const drops = createDrops(log);
  const writes = createWriteQueue(clock, drops);
  const redactor = createRedactor(clock);
  const ledger = createLedger({ backend, writes, maxRunsPerJob });
  const inFlight = createInFlightRuns({ self, backend, writes, ledger, processes, clock, log });
  const retries = createRetryStream({ host, backend, writes, clock });
  const bootGate = createBootGate({ host, boot, backend, writes, inFlight, policy, clock, log });
  const checkpoints = createCheckpoints({ backend, writes, clock });

  return {
    self,
    backend,
    clock,
    log,
    writes,
    drops,
    ledger,
    trends: createTrendBook(ledger, clock),
    archive: createOutputArchive({ backend, writes, redactor, maxRunsPerJob }),
    inFlight,
    retries,
    rearm: createRetryRearm({ host, backend, retries, ledger, bootCovered: bootGate.covered, clock, log }),
    claims: createRetryClaims({ self, backend, retries, ledger, clock, log }),
    checkpoints,
    bootGate,
    pauses: createDurablePauses({ host, backend, writes, drops, clock, log }),
    counters: createDurableCounters({ host, backend, writes, clock, log }),
    missed: createMissedSlots({ host, backend, writes, clock }),
    manifests: createManifests({ host, backend, writes, clock }),
    collector: createCollector({ backend, clock, log }),
    catchUpFor: (catchUpHost, awaitsStart) =>
      createCatchUp({ backend, ledger, checkpoints, clock, log, host: catchUpHost, awaitsStart }),
    consumeRetry: (job, attempt, resume) =>
      consumeRetry({ self, backend, retries, clock, log }, job, attempt, { resume, policy: policy() }),
    askPast: (job, facts) => askPast(ledger, job, facts, policy()),
    async close() {
      if (writes.pending > 0) log.info(`Flushing ${writes.pending} pending state write(s)`);
      const left = await writes.flush(FLUSH_PATIENCE_MS);
      if (left > 0)
        log.warning(`state: ${left} durable write(s) were not confirmed within ${FLUSH_PATIENCE_MS / 1000} s`);
      await redactor.close();
    },
  };
}
