import type { JobConfig } from "../../../src/config/model.ts";
import type { RetrySettled } from "../../../src/contract/events.ts";
import type { HistoryRow } from "../../../src/contract/history.ts";
import type { PoolDocument } from "../../../src/contract/pool.ts";
import type { NotRunReason } from "../../../src/contract/reason.ts";
import type { RunId, Trigger } from "../../../src/contract/run.ts";
import type { RunDocument } from "../../../src/dag/run-document.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { JsonObject } from "../../../src/store/json.ts";

/** One daemon process: `proc` is another at each start. */
export interface DaemonId {
  readonly host: string;
  readonly proc: string;
}

/** Which start of which task of a DAG a process is. */
export interface TaskStart {
  readonly dag: string;
  readonly runKey: string;
  /** Of the run of the DAG. */
  readonly runId: string;
  readonly taskKey: string;
  readonly attempt: number;
}

/** A process of a job, or of a task, on a simulated host. It outlives the daemon that started it. */
export interface SimProcess {
  readonly daemon: DaemonId;
  readonly pid: number;
  readonly job: JobConfig;
  readonly runId: RunId;
  readonly task: TaskStart | null;
  readonly exitCode: number;
  readonly startedAt: EpochMs;
  readonly bootId: string;
}

/** What became of one operation on the store. Only "answered" ones were both done and heard of in time. */
export type Fate = "answered" | "slow" | "failed" | "silent, done" | "silent, not done";

/** Everything that happens in the world and that somebody may want to judge. `at` is true time, `wall` what the host's clock shows. */
export type Fact = { readonly at: EpochMs } & (
  | { readonly kind: "daemon started"; readonly daemon: DaemonId; readonly wall: EpochMs; readonly bootId: string }
  /** What was there before is known, as far as the store tells: boot jobs and catch-up begin. */
  | { readonly kind: "daemon resumed"; readonly daemon: DaemonId; readonly wall: EpochMs }
  | { readonly kind: "daemon ended"; readonly daemon: DaemonId; readonly how: "killed" | "stopped" }
  | { readonly kind: "stop asked"; readonly daemon: DaemonId }
  | {
      readonly kind: "configured";
      readonly daemon: DaemonId;
      readonly jobs: readonly JobConfig[];
      readonly wall: EpochMs;
    }
  | {
      readonly kind: "launched";
      readonly daemon: DaemonId;
      readonly job: JobConfig;
      readonly runId: RunId;
      readonly trigger: Trigger;
      readonly wall: EpochMs;
    }
  | { readonly kind: "process started"; readonly process: SimProcess }
  /** Its daemon was told of it. */
  | {
      readonly kind: "spawned";
      readonly daemon: DaemonId;
      readonly job: JobConfig;
      readonly runId: RunId;
      readonly pid: number | null;
      readonly startedAt: EpochMs;
    }
  | { readonly kind: "process ended"; readonly process: SimProcess; readonly how: "by itself" | "killed" }
  | {
      readonly kind: "finished";
      readonly daemon: DaemonId;
      readonly job: JobConfig;
      readonly runId: RunId;
      readonly row: HistoryRow | null;
    }
  | {
      readonly kind: "refused";
      readonly daemon: DaemonId;
      readonly job: string;
      readonly trigger: Trigger;
      readonly slot: EpochMs | null;
      readonly reason: NotRunReason;
      readonly wall: EpochMs;
    }
  | {
      readonly kind: "retry armed";
      readonly daemon: DaemonId;
      readonly job: string;
      readonly attempt: number;
      readonly armedAt: EpochMs;
      readonly dueAt: EpochMs;
    }
  | {
      readonly kind: "retry settled";
      readonly daemon: DaemonId;
      readonly job: string;
      readonly attempt: number;
      readonly reason: RetrySettled;
    }
  | { readonly kind: "paused"; readonly job: string }
  | { readonly kind: "resumed"; readonly job: string }
  /** The store was asked for something. `target`: the stream or lease. */
  | {
      readonly kind: "operation";
      readonly daemon: DaemonId;
      readonly operation: string;
      readonly target: string;
      readonly fate: Fate;
      readonly body: JsonObject | null;
    }
  /** A record is in the store from now on. */
  | { readonly kind: "landed"; readonly daemon: DaemonId; readonly stream: string; readonly body: JsonObject }
  /** A run of a DAG is in the store as this from now on; null: it is deleted. */
  | {
      readonly kind: "run written";
      readonly daemon: DaemonId;
      readonly dag: string;
      readonly runKey: string;
      readonly run: RunDocument | null;
    }
  | { readonly kind: "pool written"; readonly daemon: DaemonId; readonly document: PoolDocument }
  | { readonly kind: "dag edited"; readonly dag: string }
  | { readonly kind: "gate decided"; readonly dag: string; readonly runKey: string; readonly taskKey: string }
  | {
      readonly kind: "clock moved";
      readonly host: string;
      readonly how: "stepped" | "sleeps" | "woke";
      readonly byMs: number;
    }
  | { readonly kind: "rebooted"; readonly host: string; readonly bootId: string }
  | { readonly kind: "owner changed"; readonly owner: string | null }
  | { readonly kind: "store not opened" | "store opens slowly"; readonly host: string }
  | { readonly kind: "healed" }
);

/** The fields of a fact of one kind. */
export type FactOf<K extends Fact["kind"]> = Extract<Fact, { kind: K }>;

/** A fact that is still to get its instant. */
export type NewFact = Fact extends infer F ? (F extends Fact ? Omit<F, "at"> : never) : never;
