import type { DagConfig } from "../config/model.ts";

/** Which node creates scheduled runs (D-SCH-5). A file of its own: whoever names a gate need not load the engine. */
export interface ClusterGate {
  mayCreateScheduled(dag: DagConfig): boolean;
}

/** Without a cluster every node does; the run's key keeps it to one run per date. */
export const standaloneGate: ClusterGate = { mayCreateScheduled: () => true };
