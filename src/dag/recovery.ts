/**
 * New runs from finished ones (section 15). Numbered rules, cited where they are kept:
 *   Y1. What is carried out is what was previewed: the plan is made again under the source's lease, and must have the same token.
 *   Y2. A run that may have been written protects its source: the lease is then left to lapse.
 */
import type { DagConfig } from "../config/model.ts";
import type { Fields } from "../contract/control-plane.ts";
import type { RecoveryOutcome } from "../contract/dag-control.ts";
import type { Logger } from "../contract/log.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { failureText } from "../journal/drops.ts";
import { inParallel } from "../journal/parallel.ts";
import type { Clock } from "../platform/clock.ts";
import type { JsonObject } from "../store/json.ts";
import type { Lease, Outcome } from "../store/store.ts";
import { GUARD_START_MS, GUARD_TTL_MS, PARALLEL_READS } from "./cadence.ts";
import { type Creation, sha256 } from "./creation.ts";
import {
  isForRequest,
  planBody,
  planRecovery,
  type RecoveryPlan,
  rangeSources,
  rangeToken,
  recoveredRun,
} from "./recovery.rules.ts";
import { publishedArtifacts } from "./recovery-artifacts.ts";
import { type Batch, changeBatch, freshBatch, readBatch } from "./recovery-batch.ts";
import { type RecoveryTerms, readRangeRequest, readRecoveryRequest } from "./recovery-request.ts";
import type { RecoveryRequest } from "./recovery-selection.rules.ts";
import type { RunDocument } from "./run-document.ts";
import type { RunIndex } from "./run-index.ts";
import { advanceLease, recoveryRunKey } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

export interface RecoveryParts {
  readonly backend: Backend;
  readonly runs: RunStore;
  readonly index: RunIndex;
  readonly creation: Creation;
  /** `<host>#<proc>` */
  readonly holder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly randomHex: (bytes: number) => string;
}

const STALE: RecoveryOutcome = { kind: "refused", error: "recovery preview is stale; preview again" };
const BUSY: RecoveryOutcome = { kind: "refused", error: "source run is busy; retry shortly" };
const CHANGED: RecoveryOutcome = {
  kind: "refused",
  error: "the configuration differs from the one the source ran with; allow it with allowConfigChange",
};
const TOO_SLOW: RecoveryOutcome = {
  kind: "refused",
  error: "leasing the source runs took too long; retry or select fewer dates",
};

export async function recover(
  dag: DagConfig,
  runKey: string,
  fields: Fields,
  parts: RecoveryParts,
): Promise<RecoveryOutcome> {
  const read = readRecoveryRequest(fields);
  if (read.kind === "invalid") return read;
  const request = read.value;
  const source: RunRef = { dag: dag.name, runKey };
  if (request.planToken === null) {
    const planned = await planOf(source, dag, request, parts);
    if (planned.kind !== "planned") return planned;
    return { kind: "preview", body: { dryRun: true, ...shown(planned.plan) } };
  }
  const accepted = { dag: dag.name, runKey: recoveryRunKey(request.planToken), runId: request.planToken };
  const known = await parts.runs.read({ dag: dag.name, runKey: accepted.runKey });
  if (known.kind !== "done") return unavailable(dag.name, known, parts);
  if (known.value.kind === "run") {
    if (!isForRequest(known.value.run, request))
      return { kind: "refused", error: "the selection differs from the one this planToken was made for" };
    return { kind: "accepted", body: { ...accepted, created: false, dryRun: false } };
  }
  const guards = await guardSources([source], parts);
  if (guards.kind !== "held") return guards.outcome;
  const planned = await confirmed(source, dag, request, request.planToken, parts);
  const outcome = planned.kind === "planned" ? await carryOut(dag, planned, parts) : planned;
  if (outcome.kind === "uncertain") return { kind: "unavailable" }; // Y2
  await guards.release();
  if (outcome.kind !== "created") return outcome;
  return { kind: "accepted", body: { ...accepted, created: outcome.isNew, dryRun: false } };
}

export async function recoverRange(dag: DagConfig, fields: Fields, parts: RecoveryParts): Promise<RecoveryOutcome> {
  const read = readRangeRequest(fields);
  if (read.kind === "invalid") return read;
  const { range, planToken, allowConfigChange } = read.value;
  const terms: RecoveryTerms & RecoveryRequest = { planToken, allowConfigChange, mode: "failed", tasks: [] };
  if (planToken !== null) {
    const known = await readBatch(parts.backend, dag.name, planToken);
    if (known.kind !== "done") return unavailable(dag.name, known, parts);
    if (known.value !== null) return continueBatch(dag, planToken, known.value, terms, parts);
  }
  const listed = await parts.index.look(dag.name, 0);
  if (listed.kind !== "done") return unavailable(dag.name, listed, parts);
  const { dates, runs } = rangeSources(listed.value.runs, range.from, range.to);
  const sources = runs.map(({ runKey }) => ({ dag: dag.name, runKey }));
  if (planToken === null) {
    const planned = await plansOf(sources, dag, terms, parts);
    if (planned.kind !== "plans") return planned;
    const token = rangeToken(planned.plans, sha256);
    return { kind: "preview", body: { dryRun: true, dates, plans: planned.plans.map(shown), planToken: token } };
  }
  const guards = await guardSources(sources, parts);
  if (guards.kind !== "held") return guards.outcome;
  const planned = await plansOf(sources, dag, terms, parts);
  const refused = planned.kind !== "plans" ? planned : refusalOf(planned.plans, planToken, terms);
  if (planned.kind !== "plans" || refused !== null) {
    await guards.release();
    return refused ?? STALE;
  }
  const batch = freshBatch(planned.plans, parts.clock.wallNow() / 1000);
  const written = await changeBatch(parts.backend, dag.name, planToken, (found) => found ?? batch);
  await guards.release(); // the batch protects its sources from now on
  if (written.kind !== "done") return unavailable(dag.name, written, parts);
  return continueBatch(dag, planToken, batch, terms, parts);
}

function refusalOf(plans: readonly RecoveryPlan[], token: string, terms: RecoveryTerms): RecoveryOutcome | null {
  if (rangeToken(plans, sha256) !== token) return STALE; // Y1
  return plans.some(({ configurationChanged }) => configurationChanged) && !terms.allowConfigChange ? CHANGED : null;
}

/** Creates what a batch has not yet. */
async function continueBatch(
  dag: DagConfig,
  token: string,
  batch: Batch,
  terms: RecoveryTerms & RecoveryRequest,
  parts: RecoveryParts,
): Promise<RecoveryOutcome> {
  const { backend, clock } = parts;
  const runs: JsonObject[] = [];
  for (const { sourceRunKey, planToken } of batch.plans) {
    const runKey = recoveryRunKey(planToken);
    const result = { sourceRunKey, runKey, runId: planToken };
    if (!batch.done.has(sourceRunKey)) {
      const outcome = await recover(dag, sourceRunKey, { ...fieldsOf(terms), dryRun: false, planToken }, parts);
      if (outcome.kind !== "accepted") return outcome;
      const noted = await changeBatch(backend, dag.name, token, (found) =>
        found === null ? null : found.with(sourceRunKey, result, clock.wallNow() / 1000),
      );
      if (noted.kind !== "done") return unavailable(dag.name, noted, parts);
    }
    runs.push(result);
  }
  if (batch.plans.length === 0 || !batch.complete) {
    const noted = await changeBatch(
      backend,
      dag.name,
      token,
      (found) => found?.completed(clock.wallNow() / 1000) ?? null,
    );
    if (noted.kind !== "done") return unavailable(dag.name, noted, parts);
  }
  return { kind: "accepted", body: { dag: dag.name, dryRun: false, runs, complete: true } };
}

function fieldsOf({ mode, tasks, allowConfigChange }: RecoveryTerms & RecoveryRequest): Fields {
  return { mode, tasks, allowConfigChange };
}

interface Planned {
  readonly kind: "planned";
  readonly source: RunDocument;
  readonly plan: RecoveryPlan;
}

async function planOf(
  source: RunRef,
  dag: DagConfig,
  request: RecoveryRequest,
  parts: RecoveryParts,
): Promise<Planned | RecoveryOutcome> {
  const read = await parts.runs.read(source);
  if (read.kind !== "done") return unavailable(dag.name, read, parts);
  if (read.value.kind === "absent") return { kind: "refused", error: "workflow run not found" };
  if (read.value.kind === "damaged") return { kind: "unavailable" };
  const { run } = read.value;
  const published = await publishedArtifacts(parts.backend, dag.name, run.runId);
  if (published.kind !== "done") return unavailable(dag.name, published, parts);
  const planned = planRecovery(run, dag, request, published.value, sha256);
  if (planned.kind === "refused") return { kind: "refused", error: planned.because };
  return { kind: "planned", source: run, plan: planned.plan };
}

async function plansOf(
  sources: readonly RunRef[],
  dag: DagConfig,
  request: RecoveryRequest,
  parts: RecoveryParts,
): Promise<{ readonly kind: "plans"; readonly plans: readonly RecoveryPlan[] } | RecoveryOutcome> {
  const plans: RecoveryPlan[] = [];
  for (const source of sources) {
    const planned = await planOf(source, dag, request, parts);
    if (planned.kind !== "planned") return planned;
    plans.push(planned.plan);
  }
  return { kind: "plans", plans };
}

/** The plan once more, if it still is the one that was previewed (Y1). */
async function confirmed(
  source: RunRef,
  dag: DagConfig,
  request: RecoveryRequest & RecoveryTerms,
  token: string,
  parts: RecoveryParts,
): Promise<Planned | RecoveryOutcome> {
  const planned = await planOf(source, dag, request, parts);
  if (planned.kind !== "planned") return planned;
  if (planned.plan.planToken !== token) return STALE;
  if (planned.plan.configurationChanged && !request.allowConfigChange) return CHANGED;
  let missing: string | null = null;
  await inParallel(planned.plan.artifacts, PARALLEL_READS, async ({ name, sha256: address }) => {
    const payload = await onBackend(parts.backend, ({ blobs }) => blobs.get(address));
    if (payload.kind === "done" && payload.value === null) missing = name;
    return missing === null ? "go on" : "stop";
  });
  return missing === null ? planned : { kind: "refused", error: `an artifact is missing: ${missing}` };
}

async function carryOut(
  dag: DagConfig,
  { source, plan }: Planned,
  { creation, clock, log }: RecoveryParts,
): Promise<RecoveryOutcome | { readonly kind: "created"; readonly isNew: boolean } | { readonly kind: "uncertain" }> {
  const put = await creation.put(recoveredRun(source, dag, plan, clock.wallNow() / 1000));
  if (put.kind === "done") return { kind: "created", isNew: put.value === "created" };
  log.error(`dag ${dag.name}: the recovery of run ${source.runKey} could not be stored: ${failureText(put)}`);
  return put.kind === "unknown" ? { kind: "uncertain" } : { kind: "unavailable" };
}

type Guarded =
  | { readonly kind: "held"; release(): Promise<void> }
  | { readonly kind: "not held"; readonly outcome: RecoveryOutcome };

/** Takes the advance leases of all sources in a name nobody advances by (D-OWN-5), or none of them. */
async function guardSources(sources: readonly RunRef[], parts: RecoveryParts): Promise<Guarded> {
  const { backend, holder, clock, randomHex } = parts;
  const guardHolder = `${holder}:recovery:${randomHex(6)}`;
  const began = clock.elapsedNow();
  const held: Lease[] = [];
  const release = async (): Promise<void> => {
    for (const lease of held) await onBackend(backend, ({ leases }) => leases.release(lease));
  };
  const give = async (outcome: RecoveryOutcome): Promise<Guarded> => {
    await release();
    return { kind: "not held", outcome };
  };
  for (const { dag, runKey } of sources) {
    const name = advanceLease(dag, runKey);
    const taken = await onBackend(backend, ({ leases }) => leases.acquire(name, guardHolder, GUARD_TTL_MS));
    if (taken.kind !== "done") return give(unavailable(dag, taken, parts));
    if (taken.value.kind !== "held") return give(BUSY);
    held.push(taken.value.lease);
    if (clock.elapsedNow() - began >= GUARD_START_MS) return give(TOO_SLOW);
  }
  return { kind: "held", release };
}

function shown(plan: RecoveryPlan): Readonly<Record<string, unknown>> {
  const { planToken, ...rest } = plan;
  return { ...planBody(rest), planToken };
}

function unavailable(
  dag: string,
  outcome: Exclude<Outcome<unknown>, { kind: "done" }>,
  { log }: RecoveryParts,
): RecoveryOutcome {
  log.error(`dag ${dag}: a recovery was not possible: ${failureText(outcome)}`);
  return { kind: "unavailable" };
}
