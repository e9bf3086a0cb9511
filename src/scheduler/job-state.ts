import type { JobConfig } from "../config/model.ts";
import type { RetrySettled } from "../contract/events.ts";
import type { HistoryRow } from "../contract/history.ts";
import type { LogLevel } from "../contract/log.ts";
import type { JobPause } from "../contract/pause.ts";
import type { NotRunReason } from "../contract/reason.ts";
import type { RunId, RunResult, StopCause, Trigger } from "../contract/run.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Ladder } from "./ladder.rules.ts";

/** What this node knows of one job: plain data, changed only by `step` (job.rules.ts). */
export interface JobState {
  readonly name: string;
  /** Null once the job is gone from the configuration; its runs go on under the definition they started with. */
  readonly job: JobConfig | null;
  readonly runs: ReadonlyMap<RunId, Run>;
  /** A start under Replace that waits until the runs it replaces are gone. */
  readonly waiting: Start | null;
  readonly ladder: Ladder | null;
  readonly nextLadderId: number;
  /** Ended runs whose reports and retry decision are still to come, in the order they ended; the first one is being worked on. */
  readonly completions: readonly Completion[];
  /** Requests to cancel all live runs, answered when the last of them is gone. */
  readonly cancels: readonly {
    readonly request: number;
    readonly instances: number;
    readonly left: ReadonlySet<RunId>;
  }[];
  readonly pause: JobPause | null;
  /** The boot run came while the job was paused, and waits for its end. */
  readonly bootPending: boolean;
  /** Verdict of the run that ended last; what `onlyIfLastSucceeded` asks. */
  readonly lastVerdict: { readonly outcome: "success" | "failure"; readonly endedAt: EpochMs } | null;
  readonly stopping: boolean;
}

/** A run about to be launched. `ladderId` is the retry sequence it holds. */
export interface Start {
  readonly runId: RunId;
  readonly trigger: Trigger;
  readonly job: JobConfig;
  readonly ladderId: number | null;
}

/** A live run. Each phase has what it owns and nothing else. */
export type Run = Start &
  (
    | { readonly phase: "launching" }
    | { readonly phase: "running"; readonly startedAt: EpochMs; readonly pid: number | null }
    | { readonly phase: "stopping"; readonly cause: StopCause }
  );

export interface Completion {
  readonly run: Start;
  readonly result: RunResult;
  readonly stage: "queued" | "reporting" | "reporting permanent failure";
}

/** What happens to a job. A run's id is drawn by the caller: the rules have no randomness. */
export type JobEvent =
  | { readonly kind: "due"; readonly slot: EpochMs; readonly runId: RunId }
  | { readonly kind: "boot"; readonly runId: RunId }
  | { readonly kind: "retry due"; readonly ladderId: number; readonly runId: RunId }
  | { readonly kind: "start"; readonly request: number; readonly by: string | null; readonly runId: RunId }
  | { readonly kind: "cancel"; readonly request: number }
  | { readonly kind: "spawned"; readonly runId: RunId; readonly pid: number | null; readonly startedAt: EpochMs }
  | { readonly kind: "finished"; readonly runId: RunId; readonly result: RunResult }
  | { readonly kind: "reported"; readonly runId: RunId }
  | { readonly kind: "paused"; readonly pause: JobPause }
  | { readonly kind: "resumed" }
  /** The pause may have run out: looked at once a minute. Starts a boot run that waited for it. */
  | { readonly kind: "minute"; readonly runId: RunId }
  | { readonly kind: "configured"; readonly job: JobConfig | null }
  | { readonly kind: "shutdown" };

export type StartAnswer =
  | { readonly kind: "started"; readonly runId: RunId }
  | { readonly kind: "refused"; readonly reason: NotRunReason };

export type CancelAnswer =
  | { readonly kind: "cancelled"; readonly instances: number }
  | { readonly kind: "not running" };

/** What is to be done about it, in this order. */
export type JobEffect =
  | { readonly kind: "launch"; readonly start: Start; readonly attempt: number }
  | { readonly kind: "stop"; readonly runId: RunId; readonly cause: StopCause }
  | { readonly kind: "arm retry"; readonly ladderId: number; readonly attempt: number; readonly dueAt: EpochMs }
  | { readonly kind: "drop retry timer" }
  | { readonly kind: "settle retry"; readonly attempt: number; readonly reason: RetrySettled }
  | { readonly kind: "refuse"; readonly trigger: Trigger; readonly slot: EpochMs | null; readonly reason: NotRunReason }
  | { readonly kind: "record"; readonly run: Start; readonly result: RunResult; readonly row: HistoryRow | null }
  | { readonly kind: "record skip"; readonly row: HistoryRow }
  | {
      readonly kind: "report";
      readonly hook: "onFailure" | "onPermanentFailure" | "onSuccess";
      readonly run: Start;
      readonly result: RunResult;
    }
  | { readonly kind: "permanent failure"; readonly run: Start }
  | { readonly kind: "answer start"; readonly request: number; readonly answer: StartAnswer }
  | { readonly kind: "answer cancel"; readonly request: number; readonly answer: CancelAnswer }
  | { readonly kind: "log"; readonly level: LogLevel; readonly message: string };

/** A job nothing has happened to yet. */
export function freshJob(job: JobConfig): JobState {
  return {
    name: job.name,
    job,
    runs: new Map(),
    waiting: null,
    ladder: null,
    nextLadderId: 1,
    completions: [],
    cancels: [],
    pause: null,
    bootPending: false,
    lastVerdict: null,
    stopping: false,
  };
}

/** Whether nothing of the job lives on: no run, no retry, nothing to tell. */
export function isQuiet(state: JobState): boolean {
  return (
    state.runs.size === 0 && state.waiting === null && state.ladder?.wait == null && state.completions.length === 0
  );
}
