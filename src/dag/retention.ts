/**
 * Deletes the finished runs a DAG has too many of (section 17). Numbered rules, cited where they are kept:
 *   R1. A run goes only under its advance lease, held in a name nobody advances by, and only while it still is the run that was listed.
 *   R2. The document goes first, then what it stands for: a crash in between leaves a scope that the garbage collection ages out, never
 *       a run without its XCom (D-RET-11).
 *   R3. A delete that nobody confirmed may still land: that lease is left to lapse, so that until then nothing can begin under the key (D-RET-10).
 *   R4. What cannot be read keeps everything (D-RET-5).
 */
import type { DagConfig } from "../config/model.ts";
import type { Logger } from "../contract/log.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import type { Clock } from "../platform/clock.ts";
import type { Lease, Outcome } from "../store/store.ts";
import { GUARD_START_MS, GUARD_TTL_MS, RETENTION_BATCH_MAX } from "./cadence.ts";
import { appendCheckpoint, readCheckpoints } from "./catch-up.ts";
import { liveBatches } from "./recovery-batch.ts";
import { dateToRemember, excessRuns, isStillListed, type ListedRun, referencedRuns } from "./retention.rules.ts";
import type { RunIndex } from "./run-index.ts";
import { advanceLease, xcomScope, xcomStream } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

export interface RetentionParts {
  readonly backend: Backend;
  readonly runs: RunStore;
  readonly index: RunIndex;
  /** `<host>#<proc>` */
  readonly holder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly randomHex: (bytes: number) => string;
  /** Between two deletes. */
  readonly isStopped: () => boolean;
}

/** One DAG's pass. Never throws for what the store does. */
export async function retainRuns(dag: DagConfig, parts: RetentionParts): Promise<void> {
  const { index, log } = parts;
  const listed = await index.look(dag.name, 0);
  if (listed.kind !== "done") return;
  const { runs, unreadable } = listed.value;
  const excess = excessRuns(runs, dag.retainRuns, new Set());
  if (excess.length === 0) return;
  const referenced = await references(dag, parts);
  if (referenced === null) return;
  if (unreadable.length > 0) log.debug(`dag ${dag.name}: ${unreadable.length} damaged run document(s) are not counted`);
  const going = await remembered(
    dag.name,
    runs,
    excess.filter(({ runKey }) => !referenced.has(runKey)),
    parts,
  );
  for (let at = 0; at < going.length && !parts.isStopped(); at += RETENTION_BATCH_MAX) {
    await deleteBatch(dag, going.slice(at, at + RETENTION_BATCH_MAX), parts);
  }
}

/** What must not go because a recovery needs it; null when that cannot be told (R4). */
async function references(
  dag: DagConfig,
  { backend, index, clock, log }: RetentionParts,
): Promise<ReadonlySet<string> | null> {
  const kept = (why: string): null => {
    log.warning(`dag ${dag.name}: retention keeps every run: ${why}`);
    return null;
  };
  const listed = await index.look(dag.name, 0);
  if (listed.kind !== "done") return kept(`its runs cannot be listed: ${failureText(listed)}`);
  const damaged = listed.value.unreadable.find((key) => key.startsWith("recovery-"));
  if (damaged !== undefined) return kept(`the recovery run ${damaged} cannot be read`);
  const batches = await liveBatches(backend, dag.name, clock.wallNow() / 1000);
  if (batches.kind !== "done") return kept(`its recoveries of ranges cannot be read: ${failureText(batches)}`);
  return referencedRuns(listed.value.runs, batches.value);
}

/** Writes down the newest date before its run goes (D-CAT-6); where that is not possible, the run stays. */
async function remembered<Run extends ListedRun>(
  dag: string,
  runs: readonly Run[],
  going: readonly Run[],
  { backend, clock }: RetentionParts,
): Promise<readonly Run[]> {
  const date = dateToRemember(runs, going);
  if (date === null) return going;
  const checkpoints = await readCheckpoints(backend, dag);
  const isOver = checkpoints.kind === "done" && checkpoints.value.open === "none";
  const isKnown = isOver && checkpoints.value.closed !== null && checkpoints.value.closed >= date;
  const checkpoint = { kind: "close", at: clock.wallNow(), watermark: date } as const;
  if (isKnown || (isOver && (await appendCheckpoint(backend, dag, checkpoint)).kind === "done")) return going;
  return going.filter((run) => dateToRemember(runs, [run]) === null);
}

interface Guard<Run> {
  readonly run: Run;
  readonly lease: Lease;
  /** On the elapsed clock. */
  readonly takenAt: number;
}

async function deleteBatch(dag: DagConfig, batch: readonly ListedRun[], parts: RetentionParts): Promise<void> {
  const { backend, clock, holder, randomHex, log } = parts;
  const guardHolder = `${holder}:retention:${randomHex(6)}`;
  const guards: Guard<ListedRun>[] = [];
  for (const run of batch) {
    const takenAt = clock.elapsedNow();
    const name = advanceLease(dag.name, run.runKey);
    const taken = await onBackend(backend, ({ leases }) => leases.acquire(name, guardHolder, GUARD_TTL_MS));
    // Held by whoever: left (D-RET-4). Of one that was not answered for nobody knows; it lapses by itself.
    if (taken.kind === "done" && taken.value.kind === "held") guards.push({ run, lease: taken.value.lease, takenAt });
  }
  // Under the leases nothing new can begin to need these runs (R1).
  const referenced = guards.length === 0 ? null : await references(dag, parts);
  let deleted = 0;
  for (const guard of guards) {
    const isInTime = clock.elapsedNow() - guard.takenAt < GUARD_START_MS; // D-RET-8
    const isWanted = referenced !== null && isInTime && !referenced.has(guard.run.runKey) && !parts.isStopped();
    const outcome = isWanted
      ? await deleteGuarded({ dag: dag.name, runKey: guard.run.runKey }, guard.run, parts)
      : "kept";
    if (outcome === "deleted") deleted++;
    if (outcome !== "unknown") await onBackend(backend, ({ leases }) => leases.release(guard.lease)); // R3
  }
  if (deleted > 0) log.info(`dag ${dag.name}: retention deleted ${deleted} run(s)`);
}

/** Deletes the run if it still is the one that was listed (R1), and what it stands for (R2). */
async function deleteGuarded(
  run: RunRef,
  listed: ListedRun,
  { backend, runs, index, log }: RetentionParts,
): Promise<"deleted" | "kept" | "unknown"> {
  const outcome = await runs.change<"deleted" | "another" | "gone">(run, (stored) => {
    if (stored.kind === "absent") return { kind: "keep", answer: "gone" };
    if (stored.kind === "run" && isStillListed(stored.run, listed)) return { kind: "delete", answer: "deleted" };
    return { kind: "keep", answer: "another" };
  });
  if (outcome.kind === "unknown") {
    log.warning(
      `dag ${run.dag}: whether run ${run.runKey} was deleted is not known (${outcome.because}); its lease is left to lapse`,
    );
    return "unknown";
  }
  if (outcome.kind === "failed") return "kept";
  if (outcome.value === "another") {
    index.drop(run.dag); // D-RET-7
    return "kept";
  }
  if (outcome.value === "gone") {
    index.drop(run.dag);
    return "kept";
  }
  await deleteScope(backend, run.dag, listed.runId);
  return "deleted";
}

/** XCom of a run that is gone, and what its tasks kept in its scope (D-XCM-10). Best effort: the garbage collection has the rest. */
export async function deleteScope(backend: Backend, dag: string, runId: string): Promise<void> {
  await onBackend(backend, ({ records }) => records.prune(xcomStream(dag, runId), 0));
  for (const family of ["kv", "cursor", "idem"]) {
    const namespace = `${family}/${xcomScope(dag, runId)}`;
    const keys = await onBackend(backend, ({ documents }) => documents.keys(namespace));
    if (keys.kind !== "done") continue;
    for (const key of keys.value.names) await deleteDocument(backend, namespace, key);
  }
}

function deleteDocument(backend: Backend, namespace: string, key: string): Promise<Outcome<null>> {
  return onBackend(backend, ({ documents }) =>
    documents.mutate<null>(namespace, key, () => ({ kind: "delete", answer: null })),
  );
}
