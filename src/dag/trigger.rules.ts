import type { DagTaskConfig } from "../config/model.ts";
import { instanceKey, isFailure, isTerminal, type RunDocument } from "./run-document.ts";

/** What a trigger rule says of a task that has not started: it may run, it waits, or it ends without having run. */
export type Verdict = "run" | "wait" | "upstream_failed" | "skipped";

/**
 * Section 4. Neither rule decides early: while one upstream is not terminal the answer is "wait" (D-TRG-3).
 *
 * @param upstream effective states, those of tasks that are not part of the run left out
 */
export function triggerVerdict(rule: DagTaskConfig["triggerRule"], upstream: Iterable<string>): Verdict {
  let failed = false;
  let skipped = false;
  for (const state of upstream) {
    if (!isTerminal(state)) return "wait";
    failed ||= isFailure(state);
    skipped ||= state === "skipped";
  }
  if (rule === "all_done") return "run";
  if (failed) return "upstream_failed"; // failure beats skip (D-TRG-3)
  return skipped ? "skipped" : "run";
}

/** What a mapped task is to its downstream once it is expanded (8.3): of no instances it is a success (D-MAP-4). */
export function groupState(instances: Iterable<string>): string {
  let failed = false;
  let skipped = false;
  for (const state of instances) {
    if (!isTerminal(state)) return "running";
    failed ||= isFailure(state);
    skipped ||= state === "skipped";
  }
  if (failed) return "upstream_failed";
  return skipped ? "skipped" : "success";
}

/** What a task is to its downstream; null when it has no entry in the run. */
export function effectiveState({ tasks, mapped }: Pick<RunDocument, "tasks" | "mapped">, id: string): string | null {
  const record = tasks.get(id);
  const fanOut = mapped.get(id);
  if (record === undefined) return null;
  if (fanOut === undefined) return record.state;
  return groupState(fanOut.items.map((_, index) => tasks.get(instanceKey(id, index))?.state ?? "pending"));
}
