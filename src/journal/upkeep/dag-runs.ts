import type { JsonObject } from "../../store/json.ts";
import { plainJson } from "../../store/json.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { isOrphanRun, type KeepSets } from "./collection.rules.ts";

const PREFIX = "dagrun/";

/** Whether a run of a DAG is being advanced by this node. */
export type RunOwnership = (dag: string, runKey: string) => boolean;

export interface CollectedRuns {
  readonly deleted: number;
  /** Artifact scopes of the runs that stay; null when a document could not be named or read, so that nobody knows them all. */
  readonly surviving: ReadonlySet<string> | null;
}

/** Deletes run documents of DAGs that are gone, and names the artifact scopes of all others (GC-3, GC-4). */
export async function collectRuns(
  backend: Backend,
  keep: KeepSets,
  beforeSeconds: number,
  dryRun: boolean,
  owned: RunOwnership | null,
): Promise<CollectedRuns> {
  if (keep.dags === null) return { deleted: 0, surviving: null };
  const namespaces = await onBackend(backend, ({ documents }) => documents.namespaces(PREFIX));
  if (namespaces.kind !== "done" || !namespaces.value.complete) return { deleted: 0, surviving: null };
  const surviving = new Set<string>();
  let deleted = 0;
  let certain = true;
  for (const namespace of namespaces.value.names) {
    const dag = namespace.slice(PREFIX.length);
    const keys = await onBackend(backend, ({ documents }) => documents.keys(namespace));
    if (keys.kind !== "done" || !keys.value.complete) {
      certain = false;
      continue;
    }
    for (const key of keys.value.names) {
      const fate = await settleRun(backend, namespace, dag, key, keep, beforeSeconds, dryRun, owned);
      if (fate.kind === "deleted") deleted++;
      else if (fate.kind === "unknown") certain = false;
      else surviving.add(`dagxcom/${dag}/${fate.runId}`);
    }
  }
  return { deleted, surviving: certain ? surviving : null };
}

type RunFate =
  | { readonly kind: "deleted" }
  | { readonly kind: "stays"; readonly runId: string }
  | { readonly kind: "unknown" };

async function settleRun(
  backend: Backend,
  namespace: string,
  dag: string,
  runKey: string,
  keep: KeepSets,
  beforeSeconds: number,
  dryRun: boolean,
  owned: RunOwnership | null,
): Promise<RunFate> {
  const goes = (body: JsonObject): boolean =>
    owned !== null && isOrphanRun({ ...runFields(body), owned: owned(dag, runKey) }, dag, keep, beforeSeconds);
  const read = await onBackend(backend, ({ documents }) => documents.read(namespace, runKey));
  if (read.kind !== "done") return { kind: "unknown" };
  const { body } = read.value;
  if (body === null) return { kind: "deleted" }; // somebody else was faster
  const { runId } = runFields(body);
  if (!goes(body)) return runId === null ? { kind: "unknown" } : { kind: "stays", runId };
  if (dryRun) return { kind: "deleted" };
  // Judged once more under the document's lock: it may have come to life again.
  const outcome: Outcome<boolean> = await onBackend(backend, ({ documents }) =>
    documents.mutate<boolean>(namespace, runKey, (current) =>
      current !== null && goes(current) ? { kind: "delete", answer: true } : { kind: "keep", answer: current === null },
    ),
  );
  if (outcome.kind === "done" && outcome.value) return { kind: "deleted" };
  return runId === null ? { kind: "unknown" } : { kind: "stays", runId };
}

function runFields(body: JsonObject): { state: unknown; updatedAtSeconds: number | null; runId: string | null } {
  const updatedAt = plainJson(body.updatedAt ?? null);
  return {
    state: body.state,
    updatedAtSeconds: typeof updatedAt === "number" ? updatedAt : null,
    runId: typeof body.runId === "string" ? body.runId : null,
  };
}
