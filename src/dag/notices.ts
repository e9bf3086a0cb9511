import type { NotifyConfig, NotifyEvent } from "../config/model.ts";
import type { ReportFacts, Reporting } from "../contract/report.ts";
import type { RunDocument, TaskKey } from "./run-document.ts";

/** Tells of runs through the `notify` section (section 20). Fire and forget: nothing waits for it. */
export interface DagNotices {
  /** Whether anybody would hear of the event. */
  wants(event: NotifyEvent): boolean;
  gateWaits(run: RunDocument, taskKey: TaskKey): void;
  failed(run: RunDocument, failedTasks: readonly TaskKey[]): void;
}

/** @param notify the section in force, null without one */
export function createDagNotices(reporting: Reporting, notify: () => NotifyConfig | null): DagNotices {
  const wants = (event: NotifyEvent): boolean => {
    const section = notify();
    if (section === null) return false;
    return (section.events.length === 0 || section.events.includes(event)) && reporting.wouldAct(section.report);
  };
  const tell = (facts: Extract<ReportFacts, { kind: "event" }>): void => {
    const section = notify();
    if (section !== null && wants(facts.event)) void reporting.report(section.report, facts);
  };
  return {
    wants,
    gateWaits({ dag, runKey, runId }, taskKey) {
      tell({
        kind: "event",
        event: "approval_waiting",
        name: dag,
        subject: `DAG '${dag}' run ${runKey} awaiting approval: ${taskKey}`,
        message: `Task ${taskKey} is an approval gate awaiting a decision; approve or reject it to let the run continue.`,
        extras: { dag, run_key: runKey, run_id: runId, taskkey: taskKey },
      });
    },
    failed({ dag, runKey, runId }, failedTasks) {
      tell({
        kind: "event",
        event: "dag_failure",
        name: dag,
        subject: `DAG '${dag}' run ${runKey} failed`,
        message: `${failedTasks.length} task(s) failed: ${failedTasks.join(", ")}`,
        extras: { dag, run_key: runKey, run_id: runId, failed_tasks: failedTasks },
      });
    },
  };
}
