import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../store/json.ts";
import { plainJson } from "../../store/json.ts";
import type { Outcome } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { isOrphanRun, type KeepSets } from "./collection.rules.ts";

const PREFIX = "dagrun/";

/** Time to live of the lease under which a run is deleted; long enough for a delete that was not answered to land. */
const GUARD_TTL_MS = 60_000;

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
  const outcome = await deleteGuarded(backend, dag, runKey, body, goes);
  if (outcome.kind === "done" && outcome.value) return { kind: "deleted" };
  return runId === null ? { kind: "unknown" } : { kind: "stays", runId };
}

/**
 * Deletes the run under its advance lease, so that no node takes it up meanwhile, and only while it still is the run that was judged
 * (dags D-GC-7). A delete nobody confirmed may still land: its lease is left to lapse.
 *
 * @returns whether the run is gone
 */
async function deleteGuarded(
  backend: Backend,
  dag: string,
  runKey: string,
  judged: JsonObject,
  goes: (body: JsonObject) => boolean,
): Promise<Outcome<boolean>> {
  const holder = `collection#${randomBytes(6).toString("hex")}`;
  const name = `dagadvance/${dag}/${runKey}`;
  const taken = await onBackend(backend, ({ leases }) => leases.acquire(name, holder, GUARD_TTL_MS));
  if (taken.kind !== "done") return taken;
  if (taken.value.kind !== "held") return { kind: "done", value: false };
  const { lease } = taken.value;
  const isJudged = (body: JsonObject): boolean => {
    const [now, then] = [runFields(body), runFields(judged)];
    return now.runId === then.runId && now.createdAtSeconds === then.createdAtSeconds && goes(body);
  };
  const outcome = await onBackend(backend, ({ documents }) =>
    documents.mutate<boolean>(`${PREFIX}${dag}`, runKey, (current) =>
      current !== null && isJudged(current)
        ? { kind: "delete", answer: true }
        : { kind: "keep", answer: current === null },
    ),
  );
  if (outcome.kind !== "unknown") await onBackend(backend, ({ leases }) => leases.release(lease));
  return outcome;
}

interface RunFields {
  readonly state: unknown;
  readonly updatedAtSeconds: number | null;
  readonly createdAtSeconds: number | null;
  readonly runId: string | null;
}

function runFields(body: JsonObject): RunFields {
  const [updatedAt, createdAt] = [plainJson(body.updatedAt ?? null), plainJson(body.createdAt ?? null)];
  return {
    state: body.state,
    updatedAtSeconds: typeof updatedAt === "number" ? updatedAt : null,
    createdAtSeconds: typeof createdAt === "number" ? createdAt : null,
    runId: typeof body.runId === "string" ? body.runId : null,
  };
}
