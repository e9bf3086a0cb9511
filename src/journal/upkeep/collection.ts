import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Outcome, Tidied } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import { DELETE_PASS_MS, MANIFEST_STREAMS_MAX, MANIFESTS_READ_MAX, TEMPORARY_AGE_MS } from "../limits.ts";
import { pauseRecord } from "../pauses/pause-record.ts";
import { presentStreams } from "../present-streams.ts";
import { jobStreams, manifestsStream } from "../streams.ts";
import { type SweptBlobs, sweepBlobs } from "./blob-sweep.ts";
import { isOrphan, type KeepSets, planCollection, type StreamFacts } from "./collection.rules.ts";
import { collectRuns, type RunOwnership } from "./dag-runs.ts";
import { type Manifest, manifestRecord } from "./manifest-record.ts";
import type { Configured } from "./manifests.ts";

/** What a pass did, or in a dry run would have done. */
export type Collection =
  /** The manifests do not reach back far enough to prove anything absent (GC-8). */
  | { readonly kind: "deferred" }
  /** Something could not be read; nothing more was deleted. */
  | { readonly kind: "given up"; readonly because: string }
  | {
      readonly kind: "done";
      readonly streams: readonly { readonly name: string; readonly records: number }[];
      readonly keptStreams: number;
      readonly runs: number;
      readonly idempotencyKeys: number;
      readonly leases: number;
      readonly tidied: Tidied;
      readonly blobs: SweptBlobs;
    };

export interface CollectionRequest {
  readonly own: Configured & { readonly host: string };
  readonly graceSeconds: number;
  readonly dryRun: boolean;
  /** Whose the run documents are; null leaves them all, as the command line does. */
  readonly runs: RunOwnership | null;
}

/**
 * One pass of garbage collection (state 17). Biased to keep: what cannot be read ends the pass or keeps its part of the store. Leases
 * other than those of single DAG runs are never touched (LSE-2). Order matters: a run's document goes before its artifacts, streams
 * before the payloads they refer to.
 */
export async function collectGarbage(
  parts: { readonly backend: Backend; readonly clock: Clock; readonly log: Logger },
  { own, graceSeconds, dryRun, runs }: CollectionRequest,
): Promise<Collection> {
  const { backend, clock, log } = parts;
  const now = clock.wallNow();
  const beforeSeconds = now / 1000 - graceSeconds;

  const manifests = await readManifests(backend);
  if (manifests.kind !== "done") return givenUp(manifests);
  const plan = planCollection(manifests.value, own, now, graceSeconds * 1000);
  if (plan.kind === "deferred") {
    log.info(
      "state: garbage collection deferred: the manifest history does not yet span gcGraceSeconds, so absence cannot be proven",
    );
    return plan;
  }

  const present = await onBackend(backend, ({ records }) => records.streams(""));
  if (present.kind !== "done") return givenUp(present);
  const pausedJobs = await livePauses(backend, present.value.names, now);
  const collectedRuns = await collectRuns(backend, plan.keep, beforeSeconds, dryRun, runs);
  const facts: StreamFacts = { pausedJobs, runScopes: collectedRuns.surviving };

  const streams = await deleteStreams(parts, present.value.names, plan.keep, facts, beforeSeconds, dryRun);
  const idempotencyKeys = await onBackend(backend, ({ upkeep }) =>
    upkeep.collectDocuments("idem/", "expiresAt", beforeSeconds, dryRun),
  );
  const leases = await onBackend(backend, ({ upkeep }) => upkeep.collectLeases("dagadvance/", beforeSeconds, dryRun));
  const tidied = await onBackend(backend, ({ upkeep }) =>
    upkeep.tidy(
      {
        temporariesBeforeSeconds: (now - TEMPORARY_AGE_MS) / 1000,
        quarantinedBeforeSeconds: beforeSeconds,
        locksBeforeSeconds: beforeSeconds,
      },
      dryRun,
    ),
  );
  const blobs = await sweepBlobs(backend, new Set(streams.map(({ name }) => name)), beforeSeconds, dryRun);
  const done: Collection = {
    kind: "done",
    streams,
    keptStreams: present.value.names.length - streams.length,
    runs: collectedRuns.deleted,
    idempotencyKeys: valueOr(idempotencyKeys, 0),
    leases: valueOr(leases, 0),
    tidied: valueOr(tidied, { temporaries: 0, quarantined: 0, locks: 0 }),
    blobs,
  };
  if (!dryRun) say(log, done);
  return done;
}

/** Every retained manifest. A stream that cannot be named or read, or a record that cannot be understood, protects what nobody knows. */
async function readManifests(backend: Backend): Promise<Outcome<readonly Manifest[]>> {
  const hosts = await presentStreams(backend, "manifests/");
  if (hosts.kind !== "done") return hosts;
  if (!hosts.value.complete) return unreadable("a stream of manifests cannot be named");
  const { length } = hosts.value.names;
  if (length > MANIFEST_STREAMS_MAX)
    return unreadable(`there are ${length} streams of manifests, more than the ${MANIFEST_STREAMS_MAX} that are read`);
  const manifests: Manifest[] = [];
  for (const host of hosts.value.names) {
    const listed = await onBackend(backend, ({ records }) =>
      records.list(manifestsStream(host), { order: "newest first", limit: MANIFESTS_READ_MAX, reading: "tolerant" }),
    );
    if (listed.kind !== "done") return listed;
    for (const { data } of listed.value) {
      const manifest = manifestRecord.decode(data);
      if (manifest.kind === "damaged") return unreadable(`a manifest of ${host} cannot be understood`);
      manifests.push(manifest.value);
    }
  }
  return { kind: "done", value: manifests };
}

async function livePauses(backend: Backend, streams: readonly string[], now: number): Promise<ReadonlySet<string>> {
  const prefix = jobStreams.paused("");
  const live = new Set<string>();
  for (const stream of streams.filter((name) => name.startsWith(prefix))) {
    const listed = await onBackend(backend, ({ records }) =>
      records.list(stream, { order: "newest first", limit: 1, reading: "tolerant" }),
    );
    const newest = listed.kind === "done" ? listed.value[0] : undefined;
    const record = newest === undefined ? null : pauseRecord.decode(newest.data);
    const over = record?.kind === "record" && (record.value.kind === "resumed" || record.value.until <= now);
    if (!over) live.add(stream.slice(prefix.length)); // any doubt keeps
  }
  return live;
}

async function deleteStreams(
  { backend, clock }: { readonly backend: Backend; readonly clock: Clock },
  streams: readonly string[],
  keep: KeepSets,
  facts: StreamFacts,
  beforeSeconds: number,
  dryRun: boolean,
): Promise<{ name: string; records: number }[]> {
  const deleted: { name: string; records: number }[] = [];
  const until = clock.elapsedNow() + DELETE_PASS_MS;
  for (const name of streams) {
    if (!isOrphan(name, keep, facts)) continue;
    if (clock.elapsedNow() >= until) break; // the next pass goes on
    const outcome = await onBackend(backend, ({ upkeep }) => upkeep.collectStream(name, beforeSeconds, dryRun));
    if (outcome.kind === "done" && outcome.value.kind === "collected")
      deleted.push({ name, records: outcome.value.records });
  }
  return deleted;
}

function say(log: Logger, { streams, runs, blobs, tidied }: Extract<Collection, { kind: "done" }>): void {
  const records = streams.reduce((sum, { records }) => sum + records, 0);
  const swept = blobs.kind === "swept" ? `${blobs.count} blob(s)` : `no blobs (${blobs.because})`;
  log.info(
    `state: garbage collection removed ${streams.length} stream(s) (${records} record(s)), ${runs} run document(s), ${tidied.temporaries} temp file(s), ${tidied.quarantined} quarantined record(s), ${swept}`,
  );
}

function givenUp(outcome: Exclude<Outcome<unknown>, { kind: "done" }>): Collection {
  return { kind: "given up", because: failureText(outcome) };
}

function unreadable(message: string): Outcome<never> {
  return { kind: "failed", failure: { reason: "unreadable", message } };
}

function valueOr<T>(outcome: Outcome<T>, otherwise: T): T {
  return outcome.kind === "done" ? outcome.value : otherwise;
}
