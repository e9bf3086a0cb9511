import type { DagConfig } from "../config/model.ts";
import type { FanOutList } from "./fan-out-list.rules.ts";
import { graphOf } from "./graph.rules.ts";
import { ended } from "./instance.rules.ts";
import { FAN_OUT_ITEMS_MAX } from "./limits.ts";
import { type EpochSeconds, freshInstance, instanceKey, type RunDocument, type TaskRecord } from "./run-document.ts";
import { draftOf } from "./run-draft.ts";
import { effectiveState } from "./trigger.rules.ts";

/**
 * The run with the lists that were read for it (6.3 step 4). The document may have changed since they were asked for: a list is taken only
 * while its task still waits for one and its source still is a success, so items are frozen once and for all (D-MAP-5).
 *
 * @param lists by id of the mapped task; one that could not be read is not in it (D-MAP-6)
 */
export function expanded(
  document: RunDocument,
  dag: DagConfig,
  lists: ReadonlyMap<string, FanOutList>,
  now: EpochSeconds,
): RunDocument {
  if (document.state !== "running") return document;
  const draft = draftOf(document);
  for (const [id, list] of lists) {
    const task = graphOf(dag).byId.get(id);
    const record = draft.tasks.get(id);
    if (task === undefined || task.expand === null || record?.state !== "pending" || draft.mapped.has(id)) continue;
    if (effectiveState(draft, task.expand.fromTask) !== "success") continue;
    if (list.kind === "too many") {
      draft.put(id, ended(record, "failed", tooMany(list.count), now)); // nothing of it is materialised (D-MAP-10)
      continue;
    }
    draft.freeze(id, { items: list.items, expandedAt: now });
    draft.put(id, marker(record, now));
    for (const [index, item] of list.items.entries())
      draft.put(instanceKey(id, index), freshInstance(task, index, item, now));
  }
  return draft.finish(now);
}

function tooMany(count: number): string {
  return `mapped fan-out of ${count} items exceeds the cap of ${FAN_OUT_ITEMS_MAX}`;
}

/** The record of the mapped task itself, which is never run. */
function marker(record: TaskRecord, now: EpochSeconds): TaskRecord {
  return { ...record, mapped: true, state: "expanded", updatedAt: now };
}
