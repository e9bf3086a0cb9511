import type { DagConfig } from "../config/model.ts";
import type { EpochMs } from "../platform/clock.ts";
import type { NodeUsage } from "../platform/node-usage.ts";
import type { ClusterControl } from "./cluster-control.ts";
import type { DagControl } from "./dag-control.ts";
import type { JobView } from "./job-view.ts";
import type { LiveOutput, OutputLine } from "./launcher.ts";
import type { JobPause, PauseChannel } from "./pause.ts";
import type { PoolControl } from "./pool-control.ts";
import type { PushControl } from "./push-control.ts";
import type { NotRunReason } from "./reason.ts";
import type { RunId } from "./run.ts";
import type { Trends } from "./run-stats.ts";
import type { StateInspection } from "./state-inspection.ts";

/**
 * All that the surfaces (HTTP, MCP) may ask of a running daemon and tell it to do. Answers are plain data of one moment; a question about
 * jobs never waits, and no answer is an HTTP status.
 *
 * Parts that are off are null; they may come and go with a reload, so they are asked for at each use.
 */
export interface ControlPlane {
  /** Name of this node in its cluster, else the host's. */
  nodeName(): string;
  /** `v1:<64 hex>` of the jobs in force. */
  jobSetId(): string;
  /** Whether the daemon is on its way down: it starts nothing more and waits for what runs. */
  isDraining(): boolean;
  /** Begins the graceful shutdown and returns at once. */
  shutDown(by: string): void;
  /**
   * Grows when a run is recorded or launched, a pause is set or cleared, or a configuration is applied: an answer that was begun before
   * must not be given to who asks afterwards.
   */
  readonly revision: number;

  readonly jobCount: number;
  /** The configured jobs, in the order of the configuration. Each is looked at when it is reached, so that others may have a turn between. */
  jobs(): Iterable<JobView>;
  /** Jobs that are gone from the configuration and still run. */
  removedJobs(): Iterable<JobView>;
  /** Of either kind. */
  job(name: string): JobView | null;
  /** Output of the newest live run, else of the last row; null when neither has any kept. */
  output(name: string): RunOutput | null;
  /** Output of one run, while this node keeps it; null otherwise. */
  runOutput(name: string, runId: RunId): RunOutput | null;
  /** Whether output of finished runs may be found in the archive. */
  readonly archivesOutput: boolean;
  /** Archived output of the run that finished then; null when there is none, or the store does not answer. */
  archivedOutput(name: string, finishedAt: EpochMs): Promise<ArchivedLines | null>;
  /** Figures over the durable ledger, or over what this node keeps; null for an unknown job. */
  trends(name: string): Promise<Trends | null>;

  startJob(name: string, by: string | null): Promise<StartOutcome>;
  /** Answers when the runs are gone. */
  cancelJob(name: string): Promise<CancelOutcome>;
  /** `request`: fields as somebody sent them; what is wrong with them is the answer. */
  pauseJob(name: string, request: Fields, channel: PauseChannel): Promise<PauseOutcome>;
  resumeJob(name: string, request: Fields, channel: PauseChannel): Promise<ResumeOutcome>;

  /** Configured DAGs, in the order of the configuration. */
  dagConfigs(): readonly DagConfig[];
  readonly dags: DagControl | null;
  readonly cluster: ClusterControl | null;
  readonly pools: PoolControl | null;
  readonly state: StateInspection | null;
  readonly push: PushControl | null;
  /** Where phones are paired: `<scheme>://<host>/pair` of the relay in force, or of the public one. */
  pairLinkBase(): string;
  /** Null where the host does not tell. Shared by all who ask within a second. */
  nodeUsage(): NodeUsage | null;
}

/** What somebody sent, parsed and not yet judged. */
export type Fields = Readonly<Record<string, unknown>>;

export interface ArchivedLines {
  readonly lines: readonly OutputLine[];
  /** Lines before these that were not kept. */
  readonly droppedLines: number;
}

export interface RunOutput {
  /** Null for a run of a build that gave none. */
  readonly runId: RunId | null;
  readonly lines: LiveOutput;
}

export type StartOutcome =
  | { readonly kind: "started"; readonly runId: RunId }
  /** It waits for its turn in a pool. */
  | { readonly kind: "queued"; readonly pool: string; readonly queueId: string }
  | { readonly kind: "refused"; readonly reason: NotRunReason }
  | { readonly kind: "unknown job" };

export type CancelOutcome =
  | { readonly kind: "cancelled"; readonly instances: number }
  | { readonly kind: "not running" }
  | { readonly kind: "unknown job" };

export type PauseOutcome =
  | { readonly kind: "paused"; readonly pause: JobPause }
  | { readonly kind: "invalid"; readonly error: string }
  | { readonly kind: "unknown job" };

export type ResumeOutcome =
  | { readonly kind: "resumed" }
  | { readonly kind: "invalid"; readonly error: string }
  | { readonly kind: "unknown job" };
