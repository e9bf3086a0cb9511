import type { JobConfig, SlaConfig } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { HistoryRow } from "./history.ts";
import type { LiveResources } from "./launcher.ts";
import type { JobPause } from "./pause.ts";
import type { SlaCheck } from "./report.ts";
import type { RunId, Trigger } from "./run.ts";

/** A configured job as it stands on this node at one moment. What surfaces show of jobs is made from this alone. */
export interface JobView {
  readonly config: JobConfig;
  readonly instances: readonly JobInstance[];
  /** Null when it is disabled, runs at start only, or has no fire left. A pause does not change it. */
  readonly nextFireAt: EpochMs | null;
  /** Enabled, with a timetable, and no fire left. */
  readonly neverFires: boolean;
  /** Retained history, oldest first, in the order it was observed. */
  readonly rows: readonly HistoryRow[];
  /** The row that finished last, skipped slots included; a run of this host that a crash cut stays until the next row. */
  readonly lastRow: HistoryRow | null;
  /** In force now. */
  readonly pause: JobPause | null;
  /** The retry that was scheduled last and that is not settled; `dueAt` stays while that attempt runs. */
  readonly retry: PendingRetry | null;
  readonly sla: SlaStanding | null;
  /** The boot run is owed: the job is paused, or nobody leads yet. */
  readonly rebootPending: boolean;
  /** This node's view of the slot of a job with `concurrencyScope: cluster`; null for others. */
  readonly slot: ClusterSlot | null;
  /** Who may run it, where leaders are elected; null elsewhere. */
  readonly owner: JobOwner | null;
}

/** `by job`: under `distribution: spread` each job has an owner of its own; `name` is null without quorum. */
export type JobOwner = { readonly kind: "elected" } | { readonly kind: "by job"; readonly name: string | null };

/** A run that lives. `pid` and `startedAt` are null until it is spawned. */
export interface JobInstance {
  readonly runId: RunId;
  readonly trigger: Trigger;
  readonly pid: number | null;
  readonly startedAt: EpochMs | null;
  /** Null when unmonitored or not sampled yet. */
  readonly resources: LiveResources | null;
}

export interface PendingRetry {
  readonly attempt: number;
  readonly dueAt: EpochMs;
  readonly delaySeconds: number;
}

/** How a job stands with its `sla` (running 15). Observations are of this moment, latches of the last look. */
export interface SlaStanding {
  readonly thresholds: Partial<Record<keyof SlaConfig, number>>;
  readonly state: "ok" | "late";
  readonly breaches: readonly {
    readonly check: SlaCheck;
    readonly since: EpochMs;
    readonly observedSeconds: number;
    readonly thresholdSeconds: number;
  }[];
}

export interface ClusterSlot {
  readonly held: boolean;
  /** `<host>#<token>` of the holder. */
  readonly holder: string | null;
  readonly refs: number;
}
