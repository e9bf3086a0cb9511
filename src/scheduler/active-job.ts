import type { LiveOutput, LiveRun } from "../contract/launcher.ts";
import type { RunId, Trigger } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { JobHistory } from "./history.ts";
import type { JobController } from "./job-controller.ts";
import type { JobState } from "./job-state.ts";
import type { PoolClaimHeld } from "./pool-gate.ts";
import type { AlertStates } from "./telling.ts";

/** What a job is doing and what it did, for whoever shows it. */
export interface JobLook {
  readonly state: JobState;
  readonly history: JobHistory;
  readonly live: ReadonlyMap<RunId, LiveLook>;
  /** Output of the run whose row is the newest; null when that row has none. */
  readonly lastOutput: { readonly runId: RunId; readonly output: LiveOutput } | null;
  /** The retry that was armed last, also while it runs; of a ladder that may have ended since. */
  readonly armedRetry: ArmedRetry | null;
}

export interface ArmedRetry {
  readonly ladderId: number;
  readonly attempt: number;
  readonly dueAt: EpochMs;
  readonly delaySeconds: number;
}

export interface LiveLook {
  readonly run: LiveRun;
  readonly trigger: Trigger;
  readonly spawned: { readonly pid: number | null; readonly startedAt: EpochMs } | null;
}

/** A job that something has happened to. Jobs that only wait have none: they cost their place on the agenda and no more. */
export interface ActiveJob {
  readonly name: string;
  readonly controller: JobController;
  readonly history: JobHistory;
  readonly live: Map<RunId, LiveLook>;
  readonly alerts: AlertStates;
  /** Runs that hold a share of the job's cluster slot. */
  readonly leased: Set<RunId>;
  /** Starts in the job's pool, by the name of their entry. */
  readonly queued: Map<string, RunId>;
  /** Claims of runs, or of starts on their way to one, in the job's pool. */
  readonly claims: Map<RunId, PoolClaimHeld>;
  lastOutput: JobLook["lastOutput"];
  armedRetry: ArmedRetry | null;
  dropRetryTimer: () => void;
  /** The slot that fired last, before this process too as far as the ledger tells. */
  lastSlot: EpochMs | null;
  /** Called once each when no run of the job lives here any more. */
  readonly awaitingIdle: Set<() => void>;
}
