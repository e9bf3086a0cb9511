import { createHash } from "node:crypto";
import type { DagConfig } from "../config/model.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Outcome } from "../store/store.ts";
import type { Advancer } from "./advancer.ts";
import { configurationRevision, type Sha256 } from "./configuration-revision.rules.ts";
import type { Ownership } from "./ownership.ts";
import { freshRun, type RunDocument, type RunKind } from "./run-document.ts";
import { dateRunKey, logicalDateText, manualRunKey } from "./run-key.rules.ts";
import type { RunRef, RunStore } from "./run-store.ts";

export const sha256: Sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Creates runs, of any kind: if there is none yet, and with one try to advance it here (D-OWN-2, D-KEY-2). */
export interface Creation {
  /** The run of a logical date, whoever wants it. */
  ofDate(
    dag: DagConfig,
    kind: Extract<RunKind, "scheduled" | "catchup" | "backfill">,
    date: EpochMs,
  ): Promise<Outcome<"created" | "exists">>;
  /** @returns its key */
  manual(dag: DagConfig): Promise<Outcome<string>>;
  /** One that is made already. */
  put(run: RunDocument): Promise<Outcome<"created" | "exists">>;
}

export function createCreation(parts: {
  readonly runs: RunStore;
  readonly ownership: Ownership;
  readonly advancer: Advancer;
  readonly clock: Clock;
  readonly randomHex: (bytes: number) => string;
}): Creation {
  const { runs, ownership, advancer, clock, randomHex } = parts;
  /** Writes of which nobody knows whether they landed: then "exists" may mean our own run. */
  const unconfirmed = new Set<string>();

  const put: Creation["put"] = async (document) => {
    const { dag, runKey } = document;
    const run: RunRef = { dag, runKey };
    const outcome = await runs.create(document);
    const name = `${dag}/${runKey}`;
    if (outcome.kind === "unknown") unconfirmed.add(name);
    if (outcome.kind !== "done") return outcome;
    const isOurs = outcome.value === "created" || unconfirmed.has(name);
    unconfirmed.delete(name);
    if (isOurs && (await ownership.take(run)).kind === "ours") advancer.advance(run);
    return outcome;
  };

  const fresh = (dag: DagConfig, kind: RunKind, runKey: string, logicalDate: string | null): RunDocument =>
    freshRun(
      dag,
      { runKey, runId: randomHex(16), kind, logicalDate, configurationRevision: configurationRevision(dag, sha256) },
      clock.wallNow() / 1000,
    );

  return {
    put,
    ofDate: (dag, kind, date) => put(fresh(dag, kind, dateRunKey(date), logicalDateText(date))),
    async manual(dag) {
      const runKey = manualRunKey(randomHex(6));
      const outcome = await put(fresh(dag, "manual", runKey, null));
      return outcome.kind === "done" ? { kind: "done", value: runKey } : outcome;
    },
  };
}
