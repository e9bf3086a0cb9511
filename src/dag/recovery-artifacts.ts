import type { Logger } from "../contract/log.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import type { Clock } from "../platform/clock.ts";
import { isArray, isObject, type JsonObject, type JsonValue, jsonFloat, plainJson } from "../store/json.ts";
import type { Outcome, StoredRecord } from "../store/store.ts";
import type { Ownership } from "./ownership.ts";
import type { Artifact } from "./recovery.rules.ts";
import { prepared } from "./recovery-note.ts";
import type { RunDocument } from "./run-document.ts";
import { xcomStream } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

/** The newest version of every name in a run's scope; strict, since what is missed would be missing in the recovery. */
export async function publishedArtifacts(
  backend: Backend,
  dag: string,
  runId: string,
): Promise<Outcome<readonly Artifact[]>> {
  const newest = await onBackend(backend, ({ records }) =>
    records.newestByKey(xcomStream(dag, runId), "name", { reading: "strict" }),
  );
  return newest.kind === "done"
    ? { kind: "done", value: newest.value.flatMap(({ data }) => artifactOf(data)) }
    : newest;
}

/**
 * Copies what a recovery reuses into the scope of its run, and marks the run ready, or failed when a payload is gone (15). Only the holder of
 * the new run's lease does that (D-RCV-2); done again after a crash, it copies what is not there yet.
 *
 * @returns whether the document says how it went; if not, it is to be tried again
 */
export async function prepareRecovery(
  document: RunDocument,
  parts: {
    readonly backend: Backend;
    readonly runs: RunStore;
    readonly ownership: Ownership;
    readonly clock: Clock;
    readonly log: Logger;
  },
): Promise<boolean> {
  const { runs, clock, log } = parts;
  const { dag, runKey, runId, createdAt } = document;
  const run: RunRef = { dag, runKey };
  const copied = await copyArtifacts(document, run, parts);
  if (copied.kind !== "done") {
    log.warning(`dag ${dag}: run ${runKey}: what it reuses could not be copied: ${failureText(copied)}; trying again`);
    return false;
  }
  const outcome =
    copied.value === null ? ({ kind: "ready" } as const) : ({ kind: "failed", reason: copied.value } as const);
  if (copied.value !== null) log.error(`dag ${dag}: run ${runKey} cannot be prepared: ${copied.value}`);
  const marked = await runs.change<null>(run, (stored) => {
    if (stored.kind !== "run" || stored.run.runId !== runId || stored.run.createdAt !== createdAt)
      return { kind: "keep", answer: null };
    const next = prepared(stored.run, outcome, clock.wallNow() / 1000);
    return next === stored.run ? { kind: "keep", answer: null } : { kind: "put", run: next, answer: null };
  });
  return marked.kind === "done";
}

/** @returns null when all is there, else why it can never be */
async function copyArtifacts(
  { dag, runId, recovery }: RunDocument,
  run: RunRef,
  { backend, ownership, clock }: { readonly backend: Backend; readonly ownership: Ownership; readonly clock: Clock },
): Promise<Outcome<string | null>> {
  const artifacts = recovery?.artifacts;
  if (artifacts === undefined || !isArray(artifacts) || artifacts.length === 0) return { kind: "done", value: null };
  const present = await publishedArtifacts(backend, dag, runId);
  if (present.kind !== "done") return present;
  const there = new Map(present.value.map(({ name, sha256 }) => [name, sha256]));
  for (const listed of artifacts.flatMap((artifact) => (isObject(artifact) ? artifactOf(artifact) : []))) {
    if (there.get(listed.name) === listed.sha256) continue;
    if ((await ownership.standing(run)) !== "ours")
      return { kind: "failed", failure: { reason: "io", message: "its lease is not ours any more" } };
    const payload = await onBackend(backend, ({ blobs }) => blobs.get(listed.sha256));
    if (payload.kind !== "done") return payload;
    if (payload.value === null) return { kind: "done", value: `artifact is missing: ${listed.name}` };
    const { meta, ...record } = listed;
    const body = { ...record, ...(meta === null ? {} : { meta }), at: jsonFloat(clock.wallNow() / 1000) };
    const published = await onBackend(backend, ({ records }) => records.publish(xcomStream(dag, runId), "name", body));
    if (published.kind !== "done") return published;
  }
  return { kind: "done", value: null };
}

/** Nothing for a record that is none of ours. */
function artifactOf({ name, sha256, size, meta = null }: JsonObject | StoredRecord["data"]): Artifact[] {
  const bytes: unknown = plainJson((size ?? 0) as JsonValue);
  return typeof name === "string" && typeof sha256 === "string"
    ? [{ name, sha256, size: typeof bytes === "number" ? bytes : 0, meta }]
    : [];
}
