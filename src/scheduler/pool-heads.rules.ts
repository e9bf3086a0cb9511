import type { PoolDocument, WaitingEntry } from "../contract/pool.ts";
import { HEADS_PER_CHANGE_MAX } from "./limits.ts";
import { headsOf, usedIn } from "./pool-document.rules.ts";
import { type HeadFacts, judgeHead } from "./pools.rules.ts";

/** What this node would do with the front of a queue, in order. */
export interface HeadPlan {
  readonly admit: readonly WaitingEntry[];
  readonly cancel: readonly { readonly entry: WaitingEntry; readonly because: string }[];
}

/**
 * Goes through a queue from its head for as long as each entry may be admitted here and fits beside those before it (P2). Of one job
 * only the first: whether the next may follow, under Forbid or a new pause, shows when that one runs. Instances of a task know neither.
 */
export function planHeads(document: PoolDocument, facts: (entry: WaitingEntry) => HeadFacts): HeadPlan {
  const admit: WaitingEntry[] = [];
  const cancel: { entry: WaitingEntry; because: string }[] = [];
  const names = new Set<string>();
  let free = document.slots - usedIn(document);
  for (const entry of headsOf(document)) {
    if ((entry.kind === "job" && names.has(entry.name)) || admit.length === HEADS_PER_CHANGE_MAX) break;
    const judged = judgeHead(entry, facts(entry));
    if (judged.verdict === "cancel") {
      cancel.push({ entry, because: judged.because });
      continue;
    }
    if (judged.verdict === "wait" || entry.slots > free) break;
    admit.push(entry);
    names.add(entry.name);
    free -= entry.slots;
  }
  return { admit, cancel };
}
