import { JsonFloat, type JsonObject } from "../json.ts";
import { LIST_LIMIT_MAX, MANIFEST_STREAMS_MAX, MANIFESTS_PER_HOST_MAX, TEMPORARY_AGE_SECONDS } from "../limits.ts";
import type { Outcome, Store } from "../store.ts";
import {
  isFinishedRun,
  isPaused,
  type Keep,
  type Manifest,
  manifestOf,
  mayCollect,
  type Uses,
  whatToKeep,
} from "./what-to-keep.ts";

export interface CollectionOptions {
  /** What this node's configuration uses. */
  readonly own: Uses;
  readonly graceSeconds: number;
  readonly nowSeconds: number;
  /** Changes nothing and answers with the same numbers. */
  readonly dryRun: boolean;
  /** Whether finished runs of removed DAGs go too; the command line leaves them to the daemon. */
  readonly removeRunDocuments: boolean;
}

export type Collection =
  | { readonly kind: "done"; readonly removed: Removed }
  /** The manifests do not reach back one whole grace yet (GC-8). */
  | { readonly kind: "deferred" }
  /** Something could not be read that has to be known before anything may be deleted. */
  | { readonly kind: "given up"; readonly because: string };

export interface Removed {
  readonly streams: readonly string[];
  readonly records: number;
  readonly keptStreams: number;
  readonly runDocuments: number;
  readonly expiredClaims: number;
  readonly leases: number;
  readonly locks: number;
  readonly temporaries: number;
  readonly quarantined: number;
  readonly blobs:
    | { readonly kind: "swept"; readonly blobs: number }
    | { readonly kind: "skipped"; readonly because: string };
}

/**
 * One pass of garbage collection (state 17). It deletes only what every recent manifest proves unused and whose last sign of life is
 * older than the grace; whatever fails means "not this time".
 *
 * The order matters: run documents before the streams of their data, streams before blobs.
 */
export async function collectGarbage(store: Store, options: CollectionOptions): Promise<Collection> {
  const { own, graceSeconds, nowSeconds, dryRun } = options;
  const beforeSeconds = nowSeconds - graceSeconds;
  const manifests = await readManifests(store);
  if (manifests.kind === "given up") return manifests;
  const keep = whatToKeep(own, manifests.value, graceSeconds, nowSeconds);
  if (keep === null) return { kind: "deferred" };

  const paused = await pausedJobs(store, nowSeconds);
  if (paused.kind === "given up") return paused;
  const runs = await surveyRuns(store, keep, beforeSeconds, options);
  const judged = runs.kind === "complete" ? keep : { ...keep, scopes: null };
  const scopes = runs.kind === "complete" ? runs.scopes : new Set<string>();

  const names = await store.records.streams("");
  if (names.kind !== "done") return { kind: "given up", because: said(names) };
  const streams: string[] = [];
  let records = 0;
  for (const stream of names.value.names) {
    if (!mayCollect(stream, judged, paused.value, scopes)) continue;
    const collected = await store.upkeep.collectStream(stream, beforeSeconds, dryRun);
    if (collected.kind !== "done" || collected.value.kind !== "collected") continue;
    streams.push(stream);
    records += collected.value.records;
  }

  const expiredClaims = await store.upkeep.collectDocuments("idem/", "expiresAt", beforeSeconds, dryRun);
  const leases = await store.upkeep.collectLeases("dagadvance/", beforeSeconds, dryRun);
  const cutoffs = {
    temporariesBeforeSeconds: nowSeconds - TEMPORARY_AGE_SECONDS,
    quarantinedBeforeSeconds: beforeSeconds,
    locksBeforeSeconds: beforeSeconds,
  };
  const tidied = await store.upkeep.tidy(cutoffs, dryRun);
  return {
    kind: "done",
    removed: {
      streams,
      records,
      keptStreams: names.value.names.length - streams.length,
      runDocuments: runs.removed,
      expiredClaims: countOf(expiredClaims),
      leases: countOf(leases),
      ...(tidied.kind === "done" ? tidied.value : { temporaries: 0, quarantined: 0, locks: 0 }),
      blobs: await sweepBlobs(store, new Set(streams), beforeSeconds, dryRun),
    },
  };
}

type Found<T> = { readonly kind: "found"; readonly value: T } | { readonly kind: "given up"; readonly because: string };

function countOf(outcome: Outcome<number>): number {
  return outcome.kind === "done" ? outcome.value : 0;
}

function said(outcome: Exclude<Outcome<unknown>, { kind: "done" }>): string {
  return outcome.kind === "failed" ? outcome.failure.message : outcome.because;
}

/** All retained manifests. A host whose manifests cannot be read or named may need anything. */
async function readManifests(store: Store): Promise<Found<readonly Manifest[]>> {
  const hosts = await store.records.streams("manifests/");
  if (hosts.kind !== "done") return { kind: "given up", because: said(hosts) };
  if (!hosts.value.complete) return { kind: "given up", because: "a manifest stream cannot be named" };
  if (hosts.value.names.length > MANIFEST_STREAMS_MAX)
    return { kind: "given up", because: `more than ${MANIFEST_STREAMS_MAX} hosts have written manifests` };
  const manifests: Manifest[] = [];
  for (const stream of hosts.value.names) {
    const query = { order: "newest first", limit: MANIFESTS_PER_HOST_MAX, reading: "tolerant" } as const;
    const listed = await store.records.list(stream, query);
    if (listed.kind !== "done") return { kind: "given up", because: said(listed) };
    manifests.push(...listed.value.map(({ data }) => manifestOf(data)));
  }
  return { kind: "found", value: manifests };
}

async function pausedJobs(store: Store, nowSeconds: number): Promise<Found<ReadonlySet<string>>> {
  const streams = await store.records.streams("paused/");
  if (streams.kind !== "done") return { kind: "given up", because: said(streams) };
  const jobs = new Set<string>();
  for (const stream of streams.value.names) {
    const listed = await store.records.list(stream, { order: "newest first", limit: 1, reading: "strict" });
    const [newest] = listed.kind === "done" ? listed.value : [];
    if (listed.kind !== "done" || (newest !== undefined && isPaused(newest.data, nowSeconds)))
      jobs.add(stream.slice("paused/".length));
  }
  return { kind: "found", value: jobs };
}

type Runs =
  | { readonly kind: "complete"; readonly scopes: ReadonlySet<string>; readonly removed: number }
  /** Some run could not be named or read, so the data of any may be needed. */
  | { readonly kind: "incomplete"; readonly removed: number };

/** Deletes finished runs of removed DAGs and names the artifact scopes of the runs that stay. */
async function surveyRuns(
  store: Store,
  keep: Keep,
  beforeSeconds: number,
  { dryRun, removeRunDocuments }: CollectionOptions,
): Promise<Runs> {
  const namespaces = await store.documents.namespaces("dagrun/");
  if (keep.dags === null || namespaces.kind !== "done" || !namespaces.value.complete)
    return { kind: "incomplete", removed: 0 };
  const scopes = new Set<string>();
  let removed = 0;
  let complete = true;
  for (const namespace of namespaces.value.names) {
    const dag = namespace.slice("dagrun/".length);
    const keys = await store.documents.keys(namespace);
    if (keys.kind !== "done" || !keys.value.complete) {
      complete = false;
      continue;
    }
    for (const key of keys.value.names) {
      const read = await store.documents.read(namespace, key);
      if (read.kind !== "done") complete = false;
      if (read.kind !== "done" || read.value.body === null) continue;
      const { body, version } = read.value;
      const isGarbage =
        removeRunDocuments && !keep.dags.has(dag) && isFinishedRun(withPlainUpdate(body), beforeSeconds);
      const isGone = isGarbage && (dryRun || (await isDeleted(store, namespace, key, version)));
      if (isGone) removed++;
      else if (typeof body.runId === "string") scopes.add(`dagxcom/${dag}/${body.runId}`);
      else complete = false;
    }
  }
  return complete ? { kind: "complete", scopes, removed } : { kind: "incomplete", removed };
}

/** A float of whole seconds is a number like any other. */
function withPlainUpdate(body: JsonObject): JsonObject {
  return body.updatedAt instanceof JsonFloat ? { ...body, updatedAt: body.updatedAt.value } : body;
}

async function isDeleted(store: Store, namespace: string, key: string, version: string | null): Promise<boolean> {
  const swapped = await store.documents.swap(namespace, key, version, null);
  return swapped.kind === "done" && swapped.value.kind === "swapped";
}

/** Reads every artifact record strictly: a reference that cannot be read may be to any blob (GC-4). */
async function sweepBlobs(
  store: Store,
  removedStreams: ReadonlySet<string>,
  beforeSeconds: number,
  dryRun: boolean,
): Promise<Removed["blobs"]> {
  const scopes = await store.records.streams("artifacts/");
  if (scopes.kind !== "done") return { kind: "skipped", because: said(scopes) };
  if (!scopes.value.complete) return { kind: "skipped", because: "an artifact stream cannot be named" };
  const referenced = new Set<string>();
  for (const stream of scopes.value.names) {
    if (removedStreams.has(stream)) continue;
    const listed = await store.records.list(stream, {
      order: "oldest first",
      limit: LIST_LIMIT_MAX,
      reading: "strict",
    });
    if (listed.kind !== "done") return { kind: "skipped", because: `${stream}: ${said(listed)}` };
    if (listed.value.length >= LIST_LIMIT_MAX)
      return { kind: "skipped", because: `${stream}: too many records to read` };
    for (const { data } of listed.value) if (typeof data.sha256 === "string") referenced.add(data.sha256);
  }
  const swept = await store.upkeep.collectBlobs(referenced, beforeSeconds, dryRun);
  return swept.kind === "done" ? { kind: "swept", blobs: swept.value } : { kind: "skipped", because: said(swept) };
}
