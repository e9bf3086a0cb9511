import { createHash } from "node:crypto";
import { jobDigest } from "../config/fingerprint.ts";
import type { JobConfig } from "../config/model.ts";
import type { NewWork } from "../scheduler/pools.rules.ts";
import type { Claim } from "./claim.rules.ts";
import type { RunRef } from "./run-store.ts";

/** A claim as the queue of its pool has it, whichever node asks (D-POL-3). */
export function admissionEntry(
  { dag, runKey }: RunRef,
  runId: string,
  { taskKey, attempt, poke }: Claim,
  job: JobConfig,
): NewWork & { readonly pool: string } {
  const { pool, slots, priority, timeoutSeconds } = job.launch.pool ?? noPool(job.name);
  const named = JSON.stringify([dag, runKey, runId, taskKey, attempt, poke]);
  return {
    pool,
    id: `dag-${createHash("sha256").update(named).digest("hex").slice(0, 32)}`,
    kind: "task",
    name: job.name,
    source: "dag",
    slots,
    priority,
    timeoutMs: timeoutSeconds * 1000,
    jobDigest: jobDigest(job),
    pinnedTo: null,
    attempt,
    retryEpoch: null,
    dag: { name: dag, runKey, runId, taskkey: taskKey, poke },
  };
}

function noPool(job: string): never {
  throw new Error(`${job} has no pool to be admitted by`);
}
