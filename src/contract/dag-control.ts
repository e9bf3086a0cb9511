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

/** `instants`: logical dates that were visited, runs that were there already included. */
export type BackfillOutcome =
  | { readonly kind: "created"; readonly instants: number }
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
  | { readonly kind: "not awaiting" };
