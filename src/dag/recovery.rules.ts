import type { DagConfig } from "../config/model.ts";
import { readInstant } from "../journal/instant.ts";
import { compareCodePoints, type JsonObject, type JsonValue } from "../store/json.ts";
import { canonical, configurationRevision, type Sha256 } from "./configuration-revision.rules.ts";
import { RECOVERY_ARTIFACTS_MAX, RECOVERY_DATES_MAX } from "./limits.ts";
import { preparationOf } from "./recovery-note.ts";
import { type RecoveryRequest, type Selection, select } from "./recovery-selection.rules.ts";
import type { ListedRun } from "./retention.rules.ts";
import {
  type EpochSeconds,
  freshInstance,
  freshRecord,
  instanceKey,
  type RunDocument,
  type TaskKey,
  type TaskRecord,
} from "./run-document.ts";
import { encodeRun } from "./run-document-codec.ts";
import { recoveryRunKey } from "./run-key.rules.ts";

/** One published version of a run's scope. */
export interface Artifact {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly meta: JsonValue;
}

/** What a recovery would do, as it is shown, hashed and kept (15). Lists are sorted. */
export interface RecoveryPlan extends Selection {
  readonly sourceRunKey: string;
  readonly sourceRunId: string;
  readonly mode: string;
  readonly requestedTasks: readonly TaskKey[];
  /** Of what is preserved: to be copied into the new run's scope. */
  readonly artifacts: readonly Artifact[];
  readonly configurationRevision: string;
  /** Null when the source run's document does not say. */
  readonly sourceConfigurationRevision: string | null;
  /** The tasks are, or may be, not what they were when the source ran. */
  readonly configurationChanged: boolean;
  /** Of all this and of the source as it stands: whatever changes makes another one. */
  readonly planToken: string;
}

export type PlannedRecovery =
  | { readonly kind: "plan"; readonly plan: RecoveryPlan }
  | { readonly kind: "refused"; readonly because: string };

/** @param published newest version of every name in the source's scope */
export function planRecovery(
  source: RunDocument,
  dag: DagConfig,
  request: RecoveryRequest,
  published: readonly Artifact[],
  sha256: Sha256,
): PlannedRecovery {
  // Of a run that was never prepared nothing can be reused.
  if (source.state === "running" || preparationOf(source) === "failed")
    return refused("recovery requires a finished run");
  const difference = graphDifference(source, dag);
  if (difference !== null) return refused(`${difference}; create a full run for the current graph`);
  const selected = select(source, dag, request);
  if (selected.kind === "refused") return selected;
  const artifacts = reusedArtifacts(published, selected.selection);
  if (artifacts.length > RECOVERY_ARTIFACTS_MAX)
    return refused(`recovery supports at most ${RECOVERY_ARTIFACTS_MAX} artifacts`);
  const revision = configurationRevision(dag, sha256);
  const plan = {
    sourceRunKey: source.runKey,
    sourceRunId: source.runId,
    mode: request.mode,
    requestedTasks: [...new Set(request.tasks)].sort(compareCodePoints),
    ...selected.selection,
    artifacts,
    configurationRevision: revision,
    sourceConfigurationRevision: source.configurationRevision,
    configurationChanged: source.configurationRevision !== revision,
  };
  const planToken = sha256(canonical({ plan: planBody(plan), source: encodeRun(source) }));
  return { kind: "plan", plan: { ...plan, planToken } };
}

function refused(because: string): PlannedRecovery {
  return { kind: "refused", because };
}

/** A recovery goes over the source's own graph: other tasks, or mapped ones that were none, are no match for its records. */
function graphDifference({ tasks, mapped }: RunDocument, dag: DagConfig): string | null {
  const recorded = new Set([...tasks.values()].map(({ id }) => id));
  if (recorded.size !== dag.tasks.length || !dag.tasks.every(({ id }) => recorded.has(id)))
    return "task definitions differ";
  const wasMapped = (id: string) => mapped.has(id) || tasks.get(id)?.mapped === true;
  return dag.tasks.every(({ id, expand }) => wasMapped(id) === (expand !== null)) ? null : "task mapping differs";
}

/** What no task of the new run publishes again. Names without a task are anybody's, and go along. */
function reusedArtifacts(published: readonly Artifact[], { tasks }: Selection): readonly Artifact[] {
  const again = new Set(tasks);
  const isReused = ({ name }: Artifact): boolean => {
    const slash = name.indexOf("/");
    if (slash < 0) return true;
    const taskKey = name.slice(0, slash);
    return !again.has(taskKey) && !again.has(taskKey.split("#")[0] ?? taskKey); // instances of a mapping made anew
  };
  return published.filter(isReused).toSorted((a, b) => compareCodePoints(a.name, b.name));
}

/** The plan as JSON, as the preview answers with it and the new run keeps it. */
export function planBody(plan: Omit<RecoveryPlan, "planToken">): JsonObject {
  return { ...plan, artifacts: plan.artifacts.map((artifact) => ({ ...artifact })) };
}

/** The run a plan makes of its source. Nothing of it may be claimed before its artifacts are copied and it is `prepared`. */
export function recoveredRun(source: RunDocument, dag: DagConfig, plan: RecoveryPlan, now: EpochSeconds): RunDocument {
  const again = new Set(plan.tasks);
  const reset = new Set(plan.resetMappings);
  const tasks = new Map<TaskKey, TaskRecord>();
  const reuse = (key: TaskKey): void => {
    const record = source.tasks.get(key);
    if (record !== undefined) tasks.set(key, { ...record, reusedFrom: source.runKey });
  };
  for (const task of dag.tasks) {
    const fanOut = reset.has(task.id) ? undefined : source.mapped.get(task.id);
    if (again.has(task.id)) tasks.set(task.id, freshRecord(task, now));
    else reuse(task.id);
    for (const [index, item] of (fanOut?.items ?? []).entries()) {
      const key = instanceKey(task.id, index);
      if (again.has(key)) tasks.set(key, freshInstance(task, index, item, now));
      else reuse(key);
    }
  }
  return {
    dag: source.dag,
    runKey: recoveryRunKey(plan.planToken),
    runId: plan.planToken, // D-KEY-3
    kind: "recovery",
    logicalDate: source.logicalDate,
    state: "running",
    createdAt: now,
    updatedAt: now,
    tasks,
    mapped: new Map([...source.mapped].filter(([id]) => !reset.has(id))),
    configurationRevision: plan.configurationRevision,
    recovery: { ...planBody(plan), status: "preparing" },
    others: {},
  };
}

/** Whether a run that a token has led to was made for this very request; if not, the token is another selection's. */
export function isForRequest({ recovery }: RunDocument, { mode, tasks }: RecoveryRequest): boolean {
  const asked: JsonValue = [...new Set(tasks)].sort(compareCodePoints);
  return recovery?.mode === mode && canonical(recovery.requestedTasks ?? []) === canonical(asked);
}

/** The runs a recovery of a range of logical dates is about (15). */
export interface RangeSources<Run extends ListedRun> {
  /** Dates in the range that have runs. */
  readonly dates: number;
  /** The newest run of each of those dates, where it has failed. */
  readonly runs: readonly Run[];
}

/** @param from @param to both inclusive */
export function rangeSources<Run extends ListedRun>(runs: readonly Run[], from: number, to: number): RangeSources<Run> {
  const newest = new Map<number, Run>();
  for (const run of runs) {
    const date = readInstant(run.logicalDate);
    if (date === null || date < from || date > to) continue;
    const other = newest.get(date);
    if (other === undefined || other.createdAt < run.createdAt) newest.set(date, run);
  }
  const byDate = [...newest].sort(([a], [b]) => a - b).slice(0, RECOVERY_DATES_MAX);
  return { dates: byDate.length, runs: byDate.flatMap(([, run]) => (run.state === "failed" ? [run] : [])) };
}

/** Token of a range: of its plans, in their order. */
export function rangeToken(plans: readonly RecoveryPlan[], sha256: Sha256): string {
  return sha256(canonical(plans.map(({ planToken }) => planToken)));
}
