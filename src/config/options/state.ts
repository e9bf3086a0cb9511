/** The `state` section (config 7.3) and `pools`, which live in it (7.5). */
import type { z } from "zod";
import { mapOf, orAbsent, tableOf, within } from "./collections.ts";
import { bool, float, integer, oneOf, text, textOrNone } from "./scalars.ts";

export const topology = oneOf("auto", "single-node", "shared");

const atLeastFiveSeconds = (seconds: number): boolean => seconds >= 5 && Number.isFinite(seconds);

function bytesMax(key: string) {
  return within(integer, (bytes) => bytes >= 0, `state.jobApi.${key} must be >= 0`);
}

const jobApi = mapOf({
  enabled: bool.default(true).describe("Serve the endpoint through which running jobs use the store."),
  listen: text.optional().describe("Its address; without it a free port of 127.0.0.1."),
  maxValueBytes: bytesMax("maxValueBytes").default(1_048_576).describe("Largest value of a key; 0 is no limit."),
  maxArtifactBytes: bytesMax("maxArtifactBytes").default(67_108_864).describe("Largest artifact; 0 is no limit."),
  lockTtlSeconds: within(float, atLeastFiveSeconds, "state.jobApi.lockTtlSeconds must be >= 5 and finite")
    .default(30)
    .describe("How long a lock outlives a holder that is gone."),
  allowNonLoopbackBind: bool.default(false).describe("Allow an address that other hosts can reach."),
  tls: orAbsent(
    mapOf({
      cert: textOrNone.default(null).describe("Certificate chain (PEM)."),
      key: textOrNone.default(null).describe("Its private key (PEM)."),
      ca: textOrNone.default(null).describe("Authority that jobs check the certificate against."),
    }),
  ).describe("What an `https://` address is served with."),
});

export const state = mapOf({
  path: text.describe("Directory of the store."),
  topology: topology.default("auto").describe("Whether other nodes use the same directory; `auto` looks at the mount."),
  deploymentId: text.optional().describe("Name of this deployment within the directory; without it `default`."),
  maxRunsPerJob: integer.default(1000).describe("Runs kept per job; 0 or less keeps all."),
  onStoreUnavailable: oneOf("degrade", "fail-closed")
    .default("degrade")
    .describe("Whether a run starts while the store that guards it does not answer."),
  gcGraceSeconds: within(
    integer,
    (seconds) => seconds <= 0 || seconds >= 86_400,
    "state.gcGraceSeconds must be <= 0 (GC disabled) or >= 86400",
  )
    .default(604_800)
    .describe("Records of jobs that are gone are removed after this; 0 or less: never."),
  maxOpsPerSecond: within(
    float,
    (rate) => rate >= 0 && Number.isFinite(rate),
    "state.maxOpsPerSecond must be >= 0 and finite",
  )
    .default(0)
    .describe("Bound on operations of the store; 0 is none."),
  slotTtlSeconds: within(float, atLeastFiveSeconds, "state.slotTtlSeconds must be >= 5 and finite")
    .default(30)
    .describe("How long a cluster-wide concurrency slot outlives a node that is gone."),
  jobApi: orAbsent(jobApi).describe("The endpoint for running jobs."),
});

export type StateOptions = z.output<typeof state>;

const countOfPool = (count: number): boolean => count >= 1 && count <= 10_000;

const pool = mapOf({
  slots: within(integer, countOfPool, "pool slots must be between 1 and 10000").describe(
    "Runs at a time, over all nodes.",
  ),
  maxQueued: within(integer, countOfPool, "pool maxQueued must be between 1 and 10000")
    .default(1000)
    .describe("Runs that may wait."),
});

export const pools = tableOf(pool);
