import { expect, test } from "vitest";
import { z } from "zod";
import { clusterView, fleetView } from "../../src/contract/wire/cluster.ts";
import {
  backfilled,
  dag,
  dagRunDocument,
  dagRuns,
  dagTriggered,
  dagXcom,
  decided,
} from "../../src/contract/wire/dags.ts";
import { errorShape } from "../../src/contract/wire/error.ts";
import { jobSetId, summary, whoAmI } from "../../src/contract/wire/identity.ts";
import { cancelled, job, pausedAnswer, started, statusRow } from "../../src/contract/wire/job.ts";
import { nodeHistory, nodeView } from "../../src/contract/wire/node.ts";
import { paired, pushDevices, pushTest, revoked } from "../../src/contract/wire/push.ts";
import { activity, jobResources, jobRuns, trends } from "../../src/contract/wire/run.ts";
import {
  scheduleDuplicates,
  schedulePressure,
  schedulePreview,
  scheduleSuggestion,
  scheduleWhy,
} from "../../src/contract/wire/schedule.ts";
import { stateDocuments, stateOverview, stateRecords } from "../../src/contract/wire/state.ts";
import { sample, sampleIndex } from "./samples.ts";

/** Which shape each sample is of, by the beginning of its name; the longest one counts. */
const shapes: Readonly<Record<string, z.ZodType>> = {
  "action.backfill": backfilled,
  "action.cancel": cancelled,
  "action.decision": decided,
  "action.pause": pausedAnswer,
  "action.resume": pausedAnswer,
  "action.start": started,
  "action.trigger": dagTriggered,
  activity,
  cluster: clusterView,
  "dag-run": dagRunDocument,
  "dag-runs": dagRuns,
  "dag-xcom": dagXcom,
  dags: z.array(dag),
  error: errorShape,
  fleet: fleetView,
  job,
  "job-set-id": jobSetId,
  jobs: z.array(job),
  node: nodeView,
  "node-history": nodeHistory,
  "push.devices": pushDevices,
  "push.pair": paired,
  "push.re-pair": paired,
  "push.revoke": revoked,
  "push.revoke-404": errorShape,
  "push.test-404": errorShape,
  "push.test-502": pushTest,
  resources: jobResources,
  runs: jobRuns,
  "schedule-duplicates": scheduleDuplicates,
  "schedule-pressure": schedulePressure,
  "schedule-preview": schedulePreview,
  "schedule-suggest": scheduleSuggestion,
  "schedule-why": scheduleWhy,
  state: stateOverview,
  "state-documents": stateDocuments,
  "state-records": stateRecords,
  status: z.array(statusRow),
  summary,
  trends,
  whoami: whoAmI,
};

const names = Object.keys(sampleIndex()).filter((name) => name.endsWith(".json") && name !== "openapi-skeleton.json");

test.each(names)("%s is described by its shape, and by nothing less", (name) => {
  const stem = name.replace(/\.json$/, "");
  const matching = Object.keys(shapes).filter((prefix) => stem === prefix || stem.startsWith(`${prefix}.`));
  const shape = shapes[matching.sort((a, b) => b.length - a.length)[0] ?? ""];
  expect(shape, `a shape for ${name}`).toBeDefined();
  // A member the shape does not name is dropped by it, and shows as a difference.
  expect(shape?.parse(sample(name))).toEqual(sample(name));
});
