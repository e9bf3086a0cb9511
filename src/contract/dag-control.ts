import type { Fields } from "./control-plane.ts";
import type { LiveOutput } from "./launcher.ts";
import type { Dag, DagRunDocument, DagRunSummary, DagXcom } from "./wire/dags.ts";

/** Workflows as surfaces see them (dags 16). Present while the engine runs, with or without a store that answers. */
export interface DagControl {
  /** Run members are left out of a row when the store does not answer. */
  list(): Promise<readonly Dag[]>;
  /** Newest first. */
  runs(dag: string, limit: number): Promise<DagAnswer<readonly DagRunSummary[]>>;
  run(dag: string, runKey: string): Promise<DagRunAnswer<DagRunDocument>>;
  xcom(dag: string, runKey: string): Promise<DagRunAnswer<DagXcom>>;
  /** Output of an instance that runs here; null when there is none. */
  taskOutput(
    dag: string,
    runKey: string,
    taskKey: string,
  ): { readonly kind: "unknown dag" } | { readonly kind: "answer"; readonly value: LiveOutput | null };
  trigger(
    dag: string,
    by: string | null,
  ): Promise<{ readonly kind: "triggered"; readonly runKey: string } | NoDag | NotRecorded>;
  backfill(dag: string, from: string, to: string): Promise<BackfillOutcome>;
  decide(
    dag: string,
    runKey: string,
    taskKey: string,
    decision: "approve" | "reject",
    by: string,
  ): Promise<DecisionOutcome>;
  /** A new run from a finished one. `request`: fields as somebody sent them; what is wrong with them is the answer. */
  recover(dag: string, runKey: string, request: Fields): Promise<RecoveryOutcome>;
  /** The same for every logical date of a range whose latest run has failed. */
  recoverRange(dag: string, request: Fields): Promise<RecoveryOutcome>;
  /** Without asking the store; empty for DAGs nothing is known of yet. */
  figures(): readonly DagFigures[];
}

interface NoDag {
  readonly kind: "unknown dag";
}

interface NotRecorded {
  readonly kind: "not recorded";
}

export type DagAnswer<T> =
  | { readonly kind: "answer"; readonly value: T }
  | NoDag
  | { readonly kind: "no store" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "timed out" };

export type DagRunAnswer<T> = DagAnswer<T> | { readonly kind: "unknown run" };

/**
 * `instants`: logical dates that were visited, runs that were there already included; `created`: runs that were not. `next`: the first date
 * that one request had no room for, null when all were visited.
 */
export type BackfillOutcome =
  | { readonly kind: "created"; readonly instants: number; readonly created: number; readonly next: string | null }
  | { readonly kind: "unknown dag" }
  | { readonly kind: "bad range" }
  | { readonly kind: "no instants" }
  /** What was written stays. */
  | { readonly kind: "unavailable" };

export type DecisionOutcome =
  | { readonly kind: "decided"; readonly state: "success" | "failed" | "skipped" }
  | { readonly kind: "unknown dag" }
  | { readonly kind: "unknown run" }
  | { readonly kind: "unknown task" }
  | { readonly kind: "not awaiting" }
  | { readonly kind: "unreadable" }
  /** It may have landed all the same. */
  | { readonly kind: "timed out" };

/** What a recovery request leads to (dags 15). */
export type RecoveryOutcome =
  /** The plan, with the token that carries it out. */
  | { readonly kind: "preview"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: "accepted"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: "invalid"; readonly error: string }
  | { readonly kind: "refused"; readonly error: string }
  | { readonly kind: "unavailable" };

/** A DAG in numbers, as this node saw its runs last. */
export interface DagFigures {
  readonly dag: string;
  readonly activeRuns: number;
  readonly gatesWaiting: number;
}
