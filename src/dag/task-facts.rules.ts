import type { DagTaskFacts } from "../jobapi/run-environment.ts";
import type { JsonValue } from "../store/json.ts";
import { spacedJson } from "../store/json-spaced.ts";
import type { Claim } from "./claim.rules.ts";
import type { RunDocument } from "./run-document.ts";
import { xcomScope } from "./run-key.rules.ts";

/** What a task is told of its run and of itself (D-ENV-1). */
export function taskFacts({ dag, runId, runKey, logicalDate }: RunDocument, claim: Claim): DagTaskFacts {
  return {
    dag,
    dagRunId: runId,
    runKey,
    task: claim.taskId,
    taskKey: claim.taskKey,
    mapIndex: claim.mapIndex,
    mapItem: mapItemText(claim.mapItem),
    xcomScope: xcomScope(dag, runId),
    logicalDate,
  };
}

/** `CRONSTABLE_DAG_MAP_ITEM`: the item as JSON, `"a"` with its quotes, `{"k": 1}`; nothing for a null one (7.1). */
export function mapItemText(item: JsonValue): string {
  return item === null ? "" : spacedJson(item);
}
