import type { StateConfig } from "../config/model.ts";

/** `onStoreUnavailable` (state 16). */
export type UnavailablePolicy = StateConfig["onStoreUnavailable"];

/**
 * What a decision that wants the store does when the store does not answer. One table for all of them (UNA-1); whatever it says, a
 * scheduled fire goes on, because it never asks.
 */
export const whenUnavailable = {
  /** `onlyIfLastSucceeded` without the ledger (DEP-6). */
  "depends-on-past": { degrade: "judge from memory", "fail-closed": "block" },
  /** A due retry whose record cannot be settled `launched` (F-36). */
  "settle before retry": { degrade: "launch", "fail-closed": "defer" },
  /** A due retry that cannot be serialized with other nodes' claims (RSM-5). */
  "coordinate retry": { degrade: "launch", "fail-closed": "defer" },
  /** The slot of a `concurrencyScope: cluster` job. */
  "cluster slot": { degrade: "launch under node-local policy", "fail-closed": "skip" },
  /** The marker of a boot run cannot be read or written (BOO-6). */
  "boot marker": { degrade: "run", "fail-closed": "skip" },
  /** Catch-up is never decided on a guess (CAT-12). */
  "catch-up": { degrade: "defer", "fail-closed": "defer" },
  /** Claims of DAG tasks and mapped expansion are retried later; the policy does not apply. */
  "dag claim": { degrade: "retry later", "fail-closed": "retry later" },
  "rehydrate history": { degrade: "skip", "fail-closed": "skip" },
  trends: { degrade: "answer from memory", "fail-closed": "answer from memory" },
  "seed counters": { degrade: "skip", "fail-closed": "skip" },
  pauses: { degrade: "keep the last known", "fail-closed": "keep the last known" },
  /** A durable write that did not land. */
  write: { degrade: "drop and count", "fail-closed": "drop and count" },
  "job api": { degrade: "answer 503", "fail-closed": "answer 503" },
} as const satisfies Record<string, Record<UnavailablePolicy, string>>;
