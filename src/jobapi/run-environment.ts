import { isoInZone, utcZone } from "../schedule/zone.ts";
import type { RunFacts } from "./run-sessions.ts";

/** How jobs reach the endpoint. */
export interface EndpointAddress {
  /** `http://127.0.0.1:42119` */
  readonly url: string;
  /** Path of the certificate authority that jobs are to trust; null for plain http or the system's own ones. */
  readonly caFile: string | null;
}

/** What a DAG task is told beside what every run is told (dags 7.1). */
export interface DagTaskFacts {
  readonly dag: string;
  readonly dagRunId: string;
  readonly runKey: string;
  readonly task: string;
  /** `task`, or `task#index` for an instance of a mapped one. */
  readonly taskKey: string;
  readonly mapIndex: number | null;
  /** The item as JSON text; empty for a task that is not mapped and for a null item. */
  readonly mapItem: string;
  readonly xcomScope: string;
  /** ISO text; null for a run without one. */
  readonly logicalDate: string | null;
}

/** Variables set after the job's own, so that it cannot shadow them. The token stands in no other place than this. */
export function runEnvironment(
  address: EndpointAddress,
  token: string,
  host: string,
  { runId, job, attempt, scheduledAt }: RunFacts,
): Record<string, string> {
  return {
    CRONSTABLE_STATE_URL: address.url,
    CRONSTABLE_STATE_TOKEN: token,
    ...(address.caFile === null ? {} : { CRONSTABLE_STATE_CACERT: address.caFile }),
    CRONSTABLE_RUN_ID: runId,
    CRONSTABLE_JOB_NAME: job,
    CRONSTABLE_ATTEMPT: String(attempt),
    CRONSTABLE_SCHEDULED_AT: scheduledAt === null ? "" : isoInZone(utcZone, scheduledAt),
    CRONSTABLE_HOST: host,
  };
}

/** All are texts; what is unknown is empty (D-ENV-1). */
export function dagTaskEnvironment(task: DagTaskFacts): Record<string, string> {
  return {
    CRONSTABLE_DAG_NAME: task.dag,
    CRONSTABLE_DAG_RUN_ID: task.dagRunId,
    CRONSTABLE_DAG_RUN_KEY: task.runKey,
    CRONSTABLE_DAG_TASK: task.task,
    CRONSTABLE_DAG_TASKKEY: task.taskKey,
    CRONSTABLE_DAG_MAP_INDEX: task.mapIndex === null ? "" : String(task.mapIndex),
    CRONSTABLE_DAG_MAP_ITEM: task.mapItem,
    CRONSTABLE_DAG_XCOM_SCOPE: task.xcomScope,
    CRONSTABLE_DAG_LOGICAL_DATE: task.logicalDate ?? "",
  };
}
