import { type Claim, claimKey } from "./claim.rules.ts";
import { advanceLease } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";

/**
 * Every claim this process was handed to launch, until the store shows what became of it (D-CLM-2). A claim of ours in a document that
 * is not in here was made by a write that landed after we had stopped waiting for it: nothing runs for it (D-CLM-3). Lives as long as the
 * process, across changes of the store (D-CLM-8).
 */
export interface HandOuts {
  add(run: RunRef, runId: string, claim: Claim): void;
  /** The claim's end is stored, or it was never launched (D-CLM-4). */
  remove(run: RunRef, runId: string, claim: Claim): void;
  /** Keys of the claims of one run. */
  keys(run: RunRef, runId: string): ReadonlySet<string>;
  /** The store shows the run finished or gone (D-CLM-7). */
  forget(run: RunRef, runId: string): void;
  /** Runs of a DAG that have claims in here. */
  runs(dag: string): readonly { readonly run: RunRef; readonly runId: string }[];
}

interface Entry {
  readonly run: RunRef;
  readonly runId: string;
  readonly claims: Set<string>;
}

const none: ReadonlySet<string> = new Set();

export function createHandOuts(): HandOuts {
  const entries = new Map<string, Entry>();
  const nameOf = ({ dag, runKey }: RunRef, runId: string): string => `${advanceLease(dag, runKey)}\0${runId}`;
  return {
    add(run, runId, claim) {
      const name = nameOf(run, runId);
      const entry = entries.get(name) ?? { run, runId, claims: new Set() };
      entries.set(name, entry);
      entry.claims.add(claimKey(claim));
    },
    remove(run, runId, claim) {
      const name = nameOf(run, runId);
      const entry = entries.get(name);
      entry?.claims.delete(claimKey(claim));
      if (entry?.claims.size === 0) entries.delete(name);
    },
    keys: (run, runId) => entries.get(nameOf(run, runId))?.claims ?? none,
    forget: (run, runId) => void entries.delete(nameOf(run, runId)),
    runs: (dag) => [...entries.values()].filter(({ run }) => run.dag === dag),
  };
}
