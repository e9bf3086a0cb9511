import type { JobConfig } from "../../config/model.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { type UnavailablePolicy, whenUnavailable } from "../unavailable.rules.ts";

/** A run that succeeded or failed, and when it finished. */
export interface Verdict {
  readonly outcome: "success" | "failure";
  readonly finishedAt: EpochMs;
}

/** What the ledger says about the job's last verdict. */
export type LedgerVerdict =
  /** There is no `state` section: memory is all there is (CFG-3). */
  | { readonly kind: "none kept" }
  | { readonly kind: "known"; readonly verdict: Verdict | null }
  | { readonly kind: "unavailable" };

export interface PastFacts {
  readonly concurrencyPolicy: JobConfig["concurrencyPolicy"];
  /** The job has a live run here, or one that has ended and is not recorded yet (DEP-3). */
  readonly running: boolean;
  /** The newest verdict this node remembers; it survives longer than the history it came from (DEP-7). */
  readonly memory: Verdict | null;
}

export type Past =
  | { readonly kind: "allows" }
  | { readonly kind: "blocks"; readonly because: "still running" | "last run failed" | "store unavailable" };

/** Whether a run that is there settles it already, before anything is read (DEP-3). Under Replace the new run ends the old one. */
export function blockedByRun({ running, concurrencyPolicy }: PastFacts): boolean {
  return running && concurrencyPolicy !== "Replace";
}

/**
 * `onlyIfLastSucceeded`: whether a scheduled or boot fire goes (state 10). The newest verdict of memory and ledger decides, memory's at
 * equal instants; no verdict allows (DEP-4).
 */
export function judgePast(facts: PastFacts, ledger: LedgerVerdict, policy: UnavailablePolicy): Past {
  if (blockedByRun(facts)) return { kind: "blocks", because: "still running" };
  if (ledger.kind === "unavailable" && whenUnavailable["depends-on-past"][policy] === "block")
    return { kind: "blocks", because: "store unavailable" };
  const recorded = ledger.kind === "known" ? ledger.verdict : null;
  const { memory } = facts;
  const newest = memory !== null && (recorded === null || memory.finishedAt >= recorded.finishedAt) ? memory : recorded;
  return newest?.outcome === "failure" ? { kind: "blocks", because: "last run failed" } : { kind: "allows" };
}
