import type { DagConfig, DagTaskConfig } from "../config/model.ts";
import type { JsonObject, JsonValue } from "../store/json.ts";

/*
 * One run of a DAG: the state of every task in one document (D-INT-4), which alone is the truth about it (D-INT-9). Nothing here is
 * changed in place. A record is the JSON object as it was read, so what a newer build has added to it goes through every change (D-REC-3).
 */

/** `<task>`, or `<task>#<index>` for an instance of a mapped one. */
export type TaskKey = string;

/** As documents carry instants: UTC, fractions kept. */
export type EpochSeconds = number;

export type TerminalState = "success" | "failed" | "skipped" | "upstream_failed";

/** `expanded` marks a mapped task whose items are known; such a record is never run itself. */
type TaskState = "pending" | "running" | "up_for_retry" | "expanded" | TerminalState;

export type RunState = "running" | "success" | "failed";

export type RunKind = "scheduled" | "catchup" | "backfill" | "manual" | "recovery";

/** How one instance stands (5.3). */
export type TaskRecord = {
  /** Without index. */
  readonly id: string;
  readonly mapIndex: number | null;
  readonly mapItem?: JsonValue;
  /** Of a task with `expand`, not of its instances. */
  readonly mapped?: boolean;
  /** A word of a newer build is neither terminal nor touched. */
  readonly state: TaskState | (string & Record<never, never>);
  /** Failed attempts so far (D-STM-4). */
  readonly attempt: number;
  /** Proc token of the claim in flight. */
  readonly proc: string | null;
  readonly pid: number | null;
  /** What tells the process from a later one of the same pid (D-CRS-4). */
  readonly pidStart?: number | string | null;
  readonly host: string | null;
  readonly startedAt: EpochSeconds | null;
  readonly finishedAt: EpochSeconds | null;
  readonly exitCode: number | null;
  readonly failReason: string | null;
  readonly resources: JsonValue;
  readonly limits?: JsonValue;
  readonly updatedAt: EpochSeconds;
  readonly nextRetryAt?: EpochSeconds | null;
  /** Of sensors: pokes that have ended. */
  readonly pokeCount?: number;
  readonly nextPokeAt?: EpochSeconds | null;
  readonly firstPokeAt?: EpochSeconds | null;
  readonly approval?: GateDecision | null;
  /** Of a gate that waits; gone once it is decided. */
  readonly awaitingApproval?: boolean;
  readonly approvalNotifiedAt?: EpochSeconds;
  /** Key of the run a recovery took this result from. */
  readonly reusedFrom?: string;
};

export type GateDecision = {
  readonly decision: string;
  readonly by: string;
  readonly at: EpochSeconds;
};

/** The items of a mapped task, frozen (D-MAP-5). */
export type FanOut = {
  readonly items: readonly JsonValue[];
  readonly expandedAt: EpochSeconds;
};

export interface RunDocument {
  readonly dag: string;
  readonly runKey: string;
  readonly runId: string;
  /** A `RunKind`, or a word of a newer build. */
  readonly kind: string;
  readonly logicalDate: string | null;
  readonly state: RunState;
  readonly createdAt: EpochSeconds;
  readonly updatedAt: EpochSeconds;
  readonly tasks: ReadonlyMap<TaskKey, TaskRecord>;
  readonly mapped: ReadonlyMap<string, FanOut>;
  /** Null in documents of builds that knew none. */
  readonly configurationRevision: string | null;
  /** Only in runs a recovery made: its plan and how far it is (15). */
  readonly recovery: JsonObject | null;
  /** Members only a newer build knows. */
  readonly others: JsonObject;
}

/** Who a new run is. */
export interface RunIdentity {
  readonly runKey: string;
  readonly runId: string;
  readonly kind: RunKind;
  readonly logicalDate: string | null;
  readonly configurationRevision: string | null;
}

/** A run of which nothing has been done: every task is pending. */
export function freshRun(dag: DagConfig, identity: RunIdentity, now: EpochSeconds): RunDocument {
  return {
    dag: dag.name,
    ...identity,
    state: "running",
    createdAt: now,
    updatedAt: now,
    tasks: new Map(dag.tasks.map((task) => [task.id, freshRecord(task, now)])),
    mapped: new Map(),
    recovery: null,
    others: {},
  };
}

/** What a task has from the creation of its run on. */
export function freshRecord(task: DagTaskConfig, now: EpochSeconds): TaskRecord {
  return {
    ...blankRecord(task.id, now),
    ...(task.expand === null ? {} : { mapped: true }),
    ...kindFields(task),
  };
}

/** What an instance of a mapped task has from the expansion on. */
export function freshInstance(task: DagTaskConfig, index: number, item: JsonValue, now: EpochSeconds): TaskRecord {
  return { ...blankRecord(task.id, now), mapIndex: index, mapItem: item, ...kindFields(task) };
}

function blankRecord(id: string, now: EpochSeconds): TaskRecord {
  return {
    id,
    mapIndex: null,
    state: "pending",
    attempt: 0,
    proc: null,
    pid: null,
    host: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    failReason: null,
    resources: null,
    updatedAt: now,
  };
}

function kindFields({ type, job }: DagTaskConfig): Partial<TaskRecord> {
  if (type === "approval") return { approval: null };
  const limits = job !== null && job.launch.resourceLimits !== null ? { limits: null } : {};
  return type === "sensor" ? { ...limits, pokeCount: 0, nextPokeAt: null } : limits;
}

export function instanceKey(id: string, index: number): TaskKey {
  return `${id}#${index}`;
}

/** Whether a state is one that nothing ever changes (D-STM-1). */
export function isTerminal(state: string): boolean {
  return state === "success" || state === "failed" || state === "skipped" || state === "upstream_failed";
}

/** Whether a state makes the run fail (D-STM-2). */
export function isFailure(state: string): boolean {
  return state === "failed" || state === "upstream_failed";
}
