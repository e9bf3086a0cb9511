import type { JobConfig } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { ResourceUsage, RunId, RunResult, StopCause } from "./run.ts";

/** One run to start. */
export interface LaunchRequest {
  readonly runId: RunId;
  readonly job: JobConfig;
  /** Retries before this run; 0 for a first one. */
  readonly attempt: number;
  /** The slot it belongs to, or the job's last one; null when none has come yet. */
  readonly scheduledAt: EpochMs | null;
  /** Variables the daemon adds last (running 1.3 item 5); a job cannot shadow them. Empty without the job API. */
  readonly injectedEnvironment: Readonly<Record<string, string>>;
  /** Where the run's state commands act that name no scope; without it, under the job's name. */
  readonly stateScope?: string;
}

/** What a run tells its owner, each exactly once and in this order. A launch that fails says both, `pid: null` in the first. */
export type RunEvent =
  | { readonly kind: "spawned"; readonly pid: number | null; readonly startedAt: EpochMs }
  | { readonly kind: "finished"; readonly result: RunResult };

/** A run that has been asked for. */
export interface LiveRun {
  /**
   * Ends the run: SIGTERM to its process group, SIGKILL `killTimeout` later, at most 30 s more for its output (running 3). Idempotent;
   * the first cause stays. A run that waits for its spawn never starts and finishes as a launch that was stopped.
   */
  stop(cause: StopCause): void;
  readonly output: LiveOutput;
  /** What it uses right now, null when unmonitored or not sampled yet (running 17). */
  resourcesNow(): LiveResources | null;
}

export interface LiveResources {
  readonly cpuPercent: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** So far, as in `ResourceUsage.series`, the last point provisional. */
  readonly series: ResourceUsage["series"];
}

/** One captured line as shown live. `line` has no newline. */
export interface OutputLine {
  readonly stream: "stdout" | "stderr" | "verify.stdout" | "verify.stderr";
  readonly line: string;
  /** When it was read from the command. Absent where only the text was kept. */
  readonly readAt?: EpochMs;
}

/** Newest lines of a run, and those to come (running 2, live log). */
export interface LiveOutput {
  /** At most the newest 1,000 lines, oldest first. */
  recent(): readonly OutputLine[];
  /** Lines published so far, whatever `recent` still holds. */
  readonly published: number;
  /**
   * Calls `onLines` for each batch from now on, `onEnd` when the run's output is complete (at once if it is already). No gap and no
   * repetition against `recent()` asked in the same turn.
   *
   * @returns unsubscribes
   */
  subscribe(onLines: (lines: readonly OutputLine[]) => void, onEnd: () => void): () => void;
}

/**
 * Starts commands. The one way to a process for jobs, DAG tasks and reporters' runs (DESIGN "one picture").
 *
 * `launch` never throws and never waits: starts are spread over turns of the event loop, so that a thousand at once do not block it.
 * `onEvent` is never called inside `launch` itself.
 */
export interface Launcher {
  launch(request: LaunchRequest, onEvent: (event: RunEvent) => void): LiveRun;
}
