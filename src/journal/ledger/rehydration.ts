import type { HistoryRow } from "../../contract/history.ts";
import type { Logger } from "../../contract/log.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { Backend } from "../backend.ts";
import { failureText } from "../drops.ts";
import { PARALLEL_READS, WARMED_ROWS } from "../limits.ts";
import { inParallel } from "../parallel.ts";
import { presentStreams } from "../present-streams.ts";
import {
  finishInstant,
  inFinishOrder,
  latestCompletionAt,
  latestSuccessAt,
  latestVerdict,
  type VerdictRow,
} from "./latest.rules.ts";
import type { Ledger } from "./ledger.ts";

/** What the ledger knows of a job from before this process (REH-3, REH-4). */
export interface WarmedHistory {
  /** At most 50, in finish order, oldest first. */
  readonly rows: readonly HistoryRow[];
  readonly lastVerdict: VerdictRow | null;
  readonly lastCompletedAt: EpochMs | null;
  /** From when `maxTimeSinceSuccess` counts: the last success, or without any the oldest record seen. Null: nothing on record. */
  readonly successReference: { readonly at: EpochMs; readonly isSuccess: boolean } | null;
}

export interface WarmedJob {
  readonly name: string;
  /** The job has `maxTimeSinceSuccess`, so it is worth looking deeper for its last success. */
  readonly wantsLastSuccess: boolean;
}

/**
 * Reads what memory lost in a restart (REH-1). Read-only and bounded: the first read that is not answered in time ends the pass, and
 * history then fills in as jobs run (REH-2).
 *
 * @param warmed called once per job with rows; memory that got a run meanwhile wins, which is for the callee to see
 */
export async function rehydrate(
  parts: { readonly backend: Backend; readonly ledger: Pick<Ledger, "newest" | "deepRows">; readonly log: Logger },
  jobs: readonly WarmedJob[],
  warmed: (job: string, history: WarmedHistory) => void,
): Promise<void> {
  const { backend, ledger, log } = parts;
  const present = await presentStreams(backend, "runs/");
  if (present.kind !== "done") {
    log.warning(`state: run history cannot be rehydrated (${failureText(present)}); it fills in as jobs run`);
    return;
  }
  let count = 0;
  let abandoned = false;
  await inParallel(
    jobs.filter(({ name }) => present.value.has(name)),
    PARALLEL_READS,
    async ({ name, wantsLastSuccess }) => {
      if (abandoned) return "stop";
      const rows = await ledger.newest(name, WARMED_ROWS);
      if (rows.kind === "unknown") {
        if (!abandoned)
          log.warning(
            `state: rehydration timed out reading ${name}; skipping the rest of the warm-up (store unhealthy?)`,
          );
        abandoned = true;
        return "stop";
      }
      if (rows.kind === "failed") {
        log.warning(`state: the run history of ${name} cannot be rehydrated: ${failureText(rows)}`);
        return "go on";
      }
      if (rows.value.length === 0) return "go on";
      const seen =
        wantsLastSuccess && latestSuccessAt(rows.value) === null ? await deeper(ledger, name, rows.value) : rows.value;
      if (abandoned) return "stop";
      warmed(name, historyOf(rows.value, seen));
      count++;
      return "go on";
    },
  );
  if (count > 0) log.info(`state: rehydrated run history for ${count} job(s) from the ledger`);
}

async function deeper(
  ledger: Pick<Ledger, "newest" | "deepRows">,
  name: string,
  known: readonly HistoryRow[],
): Promise<readonly HistoryRow[]> {
  const found = await ledger.newest(name, ledger.deepRows);
  return found.kind === "done" ? found.value : known;
}

/** @param seen all rows that were read, `rows` among them */
function historyOf(rows: readonly HistoryRow[], seen: readonly HistoryRow[]): WarmedHistory {
  const successAt = latestSuccessAt(seen);
  const [oldest] = inFinishOrder(seen);
  return {
    rows: inFinishOrder(rows),
    lastVerdict: latestVerdict(rows),
    lastCompletedAt: latestCompletionAt(rows),
    successReference:
      successAt !== null
        ? { at: successAt, isSuccess: true }
        : oldest === undefined
          ? null
          : { at: finishInstant(oldest), isSuccess: false },
  };
}
