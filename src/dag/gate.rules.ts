import type { DagConfig } from "../config/model.ts";
import { portableText } from "../journal/record-codec.ts";
import { graphOf } from "./graph.rules.ts";
import { ended } from "./instance.rules.ts";
import type { EpochSeconds, RunDocument, TaskKey } from "./run-document.ts";
import { draftOf } from "./run-draft.ts";

/** What became of a decision. Of several at once exactly one finds its gate waiting (D-APR-7). */
export type Decision =
  | {
      readonly kind: "decided";
      readonly document: RunDocument;
      readonly state: "success" | "failed" | "skipped";
    }
  | { readonly kind: "unknown task" }
  | { readonly kind: "not awaiting" };

/** Takes a decision into the run (D-APR-2, D-APR-3). Whoever may write the document may do that, owner or not (D-APR-6). */
export function decideGate(
  document: RunDocument,
  dag: DagConfig,
  taskKey: TaskKey,
  decision: "approve" | "reject",
  by: string,
  now: EpochSeconds,
): Decision {
  const record = document.tasks.get(taskKey);
  const task = record === undefined ? undefined : graphOf(dag).byId.get(record.id);
  if (record === undefined || task === undefined) return { kind: "unknown task" };
  if (document.state !== "running" || record.state !== "running" || record.awaitingApproval !== true)
    return { kind: "not awaiting" };
  const state = decision === "approve" ? "success" : task.onReject === "skip" ? "skipped" : "failed";
  const { awaitingApproval: _awaiting, ...decided } = ended(record, state, null, now);
  const approval = {
    decision: decision === "approve" ? "approved" : "rejected",
    by: portableText(by),
    at: now,
  };
  const draft = draftOf(document);
  draft.put(taskKey, { ...decided, approval });
  return { kind: "decided", document: draft.finish(now), state };
}

/**
 * The run once these gates are marked as told of, and those that were not before: only for them may a notification go out, and only after
 * this is written (D-APR-5). Gates that no longer wait are left out.
 */
export function markGatesTold(
  document: RunDocument,
  gates: readonly TaskKey[],
  now: EpochSeconds,
): { readonly document: RunDocument; readonly toTell: readonly TaskKey[] } {
  const draft = draftOf(document);
  const toTell = gates.filter((key) => {
    const record = draft.tasks.get(key);
    if (record?.awaitingApproval !== true || record.approvalNotifiedAt !== undefined) return false;
    draft.put(key, { ...record, approvalNotifiedAt: now, updatedAt: now });
    return true;
  });
  return { document: draft.finish(now), toTell };
}
