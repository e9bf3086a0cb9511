import { readInstant } from "../journal/instant.ts";
import { compareCodePoints, isArray, isObject, type JsonObject } from "../store/json.ts";
import { preparationOf } from "./recovery-note.ts";
import type { EpochSeconds, RunDocument } from "./run-document.ts";

/** A run as it was listed. Key, id and creation together say which one it is (D-KEY-4). */
export interface ListedRun {
  readonly runKey: string;
  readonly runId: string;
  readonly createdAt: EpochSeconds;
  readonly state: RunDocument["state"];
  readonly logicalDate: string | null;
}

/**
 * Finished runs a DAG has too many of, the oldest first (D-RET-2). Those in `referenced` stay, even above the bound (D-RET-5); active ones
 * are neither counted nor named (D-RET-1).
 */
export function excessRuns<Run extends ListedRun>(
  runs: readonly Run[],
  retainRuns: number,
  referenced: ReadonlySet<string>,
): readonly Run[] {
  const finished = runs.filter(({ state }) => state !== "running").toSorted(byCreation);
  return finished.slice(0, Math.max(0, finished.length - retainRuns)).filter(({ runKey }) => !referenced.has(runKey));
}

function byCreation(a: ListedRun, b: ListedRun): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.runKey, b.runKey);
}

/** Whether the document still is the finished run that was listed; asked under the document's lock, and only then it goes (D-RET-6). */
export function isStillListed(current: RunDocument, listed: ListedRun): boolean {
  return current.state !== "running" && current.runId === listed.runId && current.createdAt === listed.createdAt;
}

/** Keys of the runs that recoveries need: of one whose artifacts are being copied, and of ranges that are not through (D-RET-5). */
export function referencedRuns(
  runs: Iterable<Pick<RunDocument, "state" | "recovery">>,
  batches: Iterable<JsonObject>,
): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const run of runs)
    if (run.state === "running" && preparationOf(run) === "preparing") addSource(keys, run.recovery);
  for (const { complete, plans } of batches) {
    if (complete === true || plans === undefined || !isArray(plans)) continue;
    for (const plan of plans) if (isObject(plan)) addSource(keys, plan);
  }
  return keys;
}

function addSource(keys: Set<string>, plan: JsonObject | null): void {
  const key = plan?.sourceRunKey;
  if (typeof key === "string") keys.add(key);
}

/**
 * The logical date that would be forgotten with these runs although it is the newest of the DAG: it must be written down before they go
 * (D-CAT-6). Null when a newer one stays.
 */
export function dateToRemember(runs: readonly ListedRun[], going: readonly ListedRun[]): number | null {
  const newest = newestDate(runs);
  return newest !== null && newest === newestDate(going) ? newest : null;
}

function newestDate(runs: readonly ListedRun[]): number | null {
  const dates = runs.flatMap(({ logicalDate }) => readInstant(logicalDate) ?? []);
  return dates.length === 0 ? null : dates.reduce((newest, date) => Math.max(newest, date));
}
