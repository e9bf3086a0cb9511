import type { HistoryRow } from "../../contract/history.ts";
import type { Trends } from "../../contract/run-stats.ts";
import type { Clock } from "../../platform/clock.ts";
import { TREND_CACHE_JOBS_MAX, TREND_CACHE_MS, TREND_ROWS_MAX } from "../limits.ts";
import type { Ledger } from "./ledger.ts";
import { trendWindows } from "./run-stats.rules.ts";

/** Figures over the ledger (state 15). */
export interface TrendBook {
  /**
   * Always answers: from the ledger, or without it from `memory`, the rows this node keeps (TRD-3). Ledger answers are kept for 5 s;
   * jobs asked for at once share one read.
   */
  of(job: string, memory: () => readonly HistoryRow[]): Promise<Trends>;
  /** The job finished a run here, so what is kept of it no longer holds. */
  forget(job: string): void;
}

export function createTrendBook(ledger: Pick<Ledger, "newest">, clock: Clock): TrendBook {
  const kept = new Map<string, { readonly at: number; readonly answer: Promise<Trends | null> }>();

  const fromLedger = async (job: string): Promise<Trends | null> => {
    const rows = await ledger.newest(job, TREND_ROWS_MAX);
    if (rows.kind !== "done") return null;
    const generatedAt = clock.wallNow();
    return { source: "durable", generatedAt, windows: trendWindows(rows.value, generatedAt) };
  };

  const keep = (job: string): Promise<Trends | null> => {
    const answer = fromLedger(job);
    kept.delete(job);
    kept.set(job, { at: clock.elapsedNow(), answer });
    const [oldest] = kept.keys();
    if (kept.size > TREND_CACHE_JOBS_MAX && oldest !== undefined) kept.delete(oldest);
    return answer;
  };

  return {
    async of(job, memory) {
      const known = kept.get(job);
      const fresh = known !== undefined && clock.elapsedNow() - known.at < TREND_CACHE_MS;
      const durable = await (fresh ? known.answer : keep(job));
      if (durable !== null) return durable;
      kept.delete(job);
      const generatedAt = clock.wallNow();
      return { source: "memory", generatedAt, windows: trendWindows(memory(), generatedAt) };
    },
    forget: (job) => void kept.delete(job),
  };
}
