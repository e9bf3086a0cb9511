import type { JobConfig } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { HistoryRow } from "./history.ts";
import type { LiveRun } from "./launcher.ts";
import type { NotRunReason } from "./reason.ts";
import type { SlaCheck } from "./report.ts";
import type { RunId, RunResult, Trigger } from "./run.ts";

/** What happens in the daemon, for metrics, live streams and notifications (DESIGN idea 7). */
export interface DaemonEvents {
  "run.launched": { readonly job: JobConfig; readonly runId: RunId; readonly trigger: Trigger; readonly run: LiveRun };
  "run.spawned": {
    readonly job: JobConfig;
    readonly runId: RunId;
    readonly pid: number | null;
    readonly startedAt: EpochMs;
  };
  /** The verdict is made; `row` is null for a run that was replaced. */
  "run.finished": {
    readonly job: JobConfig;
    readonly runId: RunId;
    readonly trigger: Trigger;
    readonly result: RunResult;
    readonly row: HistoryRow | null;
  };
  /** A due slot, a retry or a start that did not run (DESIGN idea 9). `slot` is null where none is meant. */
  "run.refused": {
    readonly job: string;
    readonly trigger: Trigger;
    readonly slot: EpochMs | null;
    readonly reason: NotRunReason;
    readonly at: EpochMs;
  };
  "retry.armed": { readonly job: string; readonly attempt: number; readonly dueAt: EpochMs; readonly at: EpochMs };
  "retry.settled": {
    readonly job: string;
    readonly attempt: number;
    readonly reason: RetrySettled;
    readonly at: EpochMs;
  };
  "failure.permanent": { readonly job: JobConfig; readonly runId: RunId; readonly at: EpochMs };
  /** An SLA check of a job was latched, or let go. */
  "job.late": { readonly job: string; readonly check: SlaCheck; readonly late: boolean; readonly at: EpochMs };
  /** A task of a DAG has its process, or could not get one. Tasks have no other events of jobs. */
  "dag.task.spawned": {
    readonly job: JobConfig;
    readonly runId: RunId;
    readonly pid: number | null;
    readonly startedAt: EpochMs;
  };
  /** One attempt of a task, or one poke of a sensor, has ended on this node. */
  "dag.task.ended": {
    readonly dag: string;
    readonly task: string;
    readonly job: JobConfig;
    readonly runId: RunId;
    readonly outcome: TaskOutcome;
    readonly result: RunResult;
    readonly at: EpochMs;
  };
  /** A run of a DAG has reached its verdict, seen by the node that gave it. */
  "dag.run.ended": {
    readonly dag: string;
    readonly runKey: string;
    readonly state: "success" | "failed";
    readonly at: EpochMs;
  };
  "config.applied": { readonly jobSetId: string; readonly jobs: number; readonly at: EpochMs };
  "config.refused": { readonly at: EpochMs };
}

/** "not met": a sensor will be poked again. */
export type TaskOutcome = "success" | "failed" | "not met";

/** How a retry sequence was resolved (F-35). */
export type RetrySettled =
  | "launched"
  | "succeeded"
  | "superseded"
  | "cancelled"
  | "exhausted"
  | "owner-moved"
  | "superseded-by-run"
  | "job-removed"
  | "disabled"
  | "config-changed"
  | "deadline-passed"
  | "invalid-record"
  | "superseded-by-reboot";

/** Emitting never throws, never waits, and never slows the emitter by more than its listeners' own quick work. */
export interface Events {
  emit<K extends keyof DaemonEvents>(name: K, event: DaemonEvents[K]): void;
  /** @returns stops listening */
  on<K extends keyof DaemonEvents>(name: K, listener: (event: DaemonEvents[K]) => void): () => void;
}
