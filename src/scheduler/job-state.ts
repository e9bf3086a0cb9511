import type { JobConfig } from "../config/model.ts";
import type { RetrySettled } from "../contract/events.ts";
import type { HistoryRow } from "../contract/history.ts";
import type { LogLevel } from "../contract/log.ts";
import type { Ownership } from "../contract/ownership.ts";
import type { JobPause } from "../contract/pause.ts";
import type { NotRunReason } from "../contract/reason.ts";
import type { RunId, RunResult, StopCause, Trigger } from "../contract/run.ts";
import type { Past, Verdict } from "../journal/ledger/past.rules.ts";
import type { ResumedRetry } from "../journal/retries/retry.rules.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { Ladder, RetryWait } from "./ladder.rules.ts";

/** What this node knows of one job: plain data, changed only by `step` (job.rules.ts). */
export interface JobState {
  readonly name: string;
  /** Null once the job is gone from the configuration; its runs go on under the definition they started with. */
  readonly job: JobConfig | null;
  /** Starts that wait for an answer before they may go on, by run id. */
  readonly asking: ReadonlyMap<RunId, Asking>;
  readonly runs: ReadonlyMap<RunId, Run>;
  /** A start under Replace that waits until the runs it replaces are gone, here or on another node. */
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
  /** The boot run is owed: the job was paused when it came. */
  readonly bootPending: boolean;
  /** The newest verdict that is known; what `onlyIfLastSucceeded` asks. */
  readonly lastVerdict: Verdict | null;
  readonly stopping: boolean;
}

/** A run that is wanted. */
export interface Wanted {
  readonly runId: RunId;
  readonly trigger: Trigger;
  readonly job: JobConfig;
  /** Who is to be told whether it starts; null when nobody asked. */
  readonly request: number | null;
}

/** A run about to be launched. `ladderId` is the retry sequence it holds. */
export interface Start extends Wanted {
  readonly ladderId: number | null;
}

/** A start and the gate it stands at. */
export type Asking =
  /** Whether the last run succeeded (`onlyIfLastSucceeded`). */
  | { readonly gate: "past"; readonly wanted: Wanted }
  /** Whether this boot's run has been. */
  | { readonly gate: "boot"; readonly wanted: Wanted }
  /** Whether a due retry is still this node's to launch; `wait` is what it waited for. */
  | { readonly gate: "retry"; readonly wanted: Wanted; readonly ladderId: number; readonly wait: RetryWait }
  /** Its turn in the job's pool. `wait`: of a retry, what it waited for before. */
  | {
      readonly gate: "pool";
      readonly wanted: Wanted;
      readonly ladderId: number | null;
      readonly wait: RetryWait | null;
    };

/** A live run. Each phase has what it owns and nothing else. */
export type Run = Start &
  (
    | /** It asks for the job's cluster slot; told to stop meanwhile, it ends with the answer. */ {
        readonly phase: "claiming";
        readonly cause: StopCause | null;
      }
    | { readonly phase: "launching" }
    | { readonly phase: "running"; readonly startedAt: EpochMs; readonly pid: number | null }
    | { readonly phase: "stopping"; readonly cause: StopCause }
  );

export interface Completion {
  readonly run: Start;
  readonly result: RunResult;
  readonly stage: "queued" | "reporting" | "asking the pool" | "reporting permanent failure";
}

/** What a step is told of the world at its moment. */
export interface Around {
  readonly now: EpochMs;
  /** Whose the job is. Null for a job that is gone. */
  readonly owner: Ownership | null;
  /** A retry that this node has to give up goes on at the new owner. */
  readonly retryMoves: boolean;
  /** Process of a run of the daemon before this one that still goes on here; null when there is none. */
  readonly survivor: number | null;
}

/** What happens to a job. A run's id is drawn by the caller: the rules have no randomness. */
export type JobEvent =
  | { readonly kind: "due"; readonly slot: EpochMs; readonly runId: RunId }
  | { readonly kind: "boot"; readonly runId: RunId }
  | { readonly kind: "retry due"; readonly ladderId: number; readonly runId: RunId }
  | { readonly kind: "start"; readonly request: number; readonly by: string | null; readonly runId: RunId }
  | { readonly kind: "catch up"; readonly request: number; readonly slot: EpochMs; readonly runId: RunId }
  | { readonly kind: "past answered"; readonly runId: RunId; readonly past: Past }
  | { readonly kind: "boot answered"; readonly runId: RunId; readonly boot: BootAnswer }
  | { readonly kind: "retry answered"; readonly runId: RunId; readonly retry: RetryAnswer }
  | { readonly kind: "pool answered"; readonly runId: RunId; readonly answer: PoolAnswer }
  /** `queued`: what its entry says, for one that another process queued. */
  | {
      readonly kind: "pool admitted";
      readonly runId: RunId;
      readonly queued: Wanted;
      readonly ladderEnded: boolean;
      readonly retryEpoch: number;
    }
  | { readonly kind: "pool left"; readonly runId: RunId; readonly pool: string; readonly why: string | null }
  /** Another node has the claim of this run. */
  | { readonly kind: "pool lost"; readonly runId: RunId }
  | { readonly kind: "ladder answered"; readonly runId: RunId; readonly stands: boolean | "unknown" }
  | { readonly kind: "slot answered"; readonly runId: RunId; readonly slot: SlotVerdict }
  /** Another node was asked to make way for the start that waits. */
  | { readonly kind: "pursued"; readonly runId: RunId; readonly outcome: "free" | "gave up"; readonly holder: string }
  /** Another node asked this one to make way: its runs are replaced. */
  | { readonly kind: "yield" }
  | { readonly kind: "cancel"; readonly request: number }
  | { readonly kind: "spawned"; readonly runId: RunId; readonly pid: number | null; readonly startedAt: EpochMs }
  | { readonly kind: "finished"; readonly runId: RunId; readonly result: RunResult }
  | { readonly kind: "reported"; readonly runId: RunId }
  | { readonly kind: "paused"; readonly pause: JobPause }
  | { readonly kind: "resumed" }
  /** The ledger tells how an earlier run ended. */
  | { readonly kind: "remembered"; readonly verdict: Verdict }
  /** The store tells of a retry that an earlier daemon, or another node, had armed. */
  | { readonly kind: "retry resumed"; readonly retry: ResumedRetry }
  /** The pause may have run out: looked at once a minute. Starts a boot run that waited for it. */
  | { readonly kind: "minute"; readonly runId: RunId }
  | { readonly kind: "configured"; readonly job: JobConfig | null }
  | { readonly kind: "shutdown" };

export type BootAnswer = "run" | "already ran" | "still runs" | "store unavailable";

export type RetryAnswer =
  | { readonly kind: "launch" }
  | { readonly kind: "defer"; readonly because: string }
  | { readonly kind: "claimed elsewhere"; readonly host: string };

export type PoolAnswer =
  | { readonly kind: "queued"; readonly pool: string; readonly queueId: string; readonly retryEpoch: number }
  /** The retry's sequence has ended elsewhere. */
  | { readonly kind: "superseded" }
  | { readonly kind: "refused" | "unavailable"; readonly pool: string; readonly why: string };

/** `go` with `leased` false: no answer, and the policy says to go on under node-local rules. */
export type SlotVerdict =
  | { readonly kind: "go"; readonly leased: boolean }
  | { readonly kind: "taken"; readonly holder: string }
  | { readonly kind: "refused"; readonly because: string };

export type StartAnswer =
  | { readonly kind: "started"; readonly runId: RunId }
  | { readonly kind: "queued"; readonly pool: string; readonly queueId: string }
  | { readonly kind: "refused"; readonly reason: NotRunReason };

export type CancelAnswer =
  | { readonly kind: "cancelled"; readonly instances: number }
  | { readonly kind: "not running" };

/** What is to be done about it, in this order. */
export type JobEffect =
  /** To be answered by the event of the same name. */
  | { readonly kind: "ask past"; readonly wanted: Wanted }
  | { readonly kind: "ask boot"; readonly wanted: Wanted }
  | { readonly kind: "ask retry"; readonly wanted: Wanted; readonly attempt: number }
  | {
      readonly kind: "enter pool";
      readonly wanted: Wanted;
      readonly attempt: number;
      readonly retryEpoch: number | null;
      /** Of a retry: when it was armed. */
      readonly armedAt: EpochMs | null;
    }
  /** A claim that no run of it comes from. `used` false: it goes back to the queue. */
  | { readonly kind: "leave pool"; readonly runId: RunId; readonly used: boolean }
  /** The retry sequence of the job has ended, for all nodes of the store (F-26). */
  | { readonly kind: "end pool ladder"; readonly job: JobConfig }
  | { readonly kind: "ask ladder"; readonly run: Start; readonly epoch: number }
  | { readonly kind: "claim slot"; readonly start: Start }
  | { readonly kind: "pursue slot"; readonly start: Start; readonly holder: string }
  /** The slot was won for a start that does not go on. */
  | { readonly kind: "release slot"; readonly runId: RunId }
  | { readonly kind: "launch"; readonly start: Start; readonly attempt: number }
  | { readonly kind: "stop"; readonly runId: RunId; readonly cause: StopCause }
  /** `record`: it is to outlive the daemon from now on; false when the store knows of it already. */
  | {
      readonly kind: "arm retry";
      readonly ladderId: number;
      readonly attempt: number;
      readonly wait: RetryWait;
      readonly record: boolean;
    }
  | { readonly kind: "drop retry timer" }
  | { readonly kind: "settle retry"; readonly attempt: number; readonly reason: RetrySettled }
  /** The job's owner is another node, which goes on with the retry (RSM-2). */
  | { readonly kind: "hand off retry"; readonly attempt: number; readonly armedAt: EpochMs }
  | { readonly kind: "refuse"; readonly trigger: Trigger; readonly slot: EpochMs | null; readonly reason: NotRunReason }
  | { readonly kind: "record"; readonly run: Start; readonly result: RunResult; readonly row: HistoryRow | null }
  /** A row without a run. */
  | { readonly kind: "record row"; readonly row: HistoryRow }
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
    asking: new Map(),
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

/** Whether nothing of the job lives on: no run, no retry, nothing asked, nothing to tell. */
export function isQuiet(state: JobState): boolean {
  return isIdle(state) && state.ladder?.wait == null && state.completions.length === 0;
}

/** Whether no run of the job lives here, and none is about to. */
export function isIdle({ runs, waiting, asking }: JobState): boolean {
  return runs.size === 0 && waiting === null && asking.size === 0;
}
