import type { UnavailablePolicy } from "../unavailable.rules.ts";
import type { Ledger } from "./ledger.ts";
import { blockedByRun, judgePast, type Past, type PastFacts } from "./past.rules.ts";

/**
 * Asks the ledger for a fire of an `onlyIfLastSucceeded` job, at most 10 s for each look (WRT-2). Only that job's fire waits (GEN-3).
 *
 * @param facts asked again after the wait: what happened meanwhile counts
 */
export async function askPast(
  ledger: Pick<Ledger, "lastVerdict">,
  job: string,
  facts: () => PastFacts,
  policy: UnavailablePolicy,
): Promise<Past> {
  if (blockedByRun(facts())) return { kind: "blocks", because: "still running" };
  const found = await ledger.lastVerdict(job);
  const recorded =
    found.kind === "done" ? ({ kind: "known", verdict: found.value } as const) : ({ kind: "unavailable" } as const);
  return judgePast(facts(), recorded, policy);
}
