import type { HistoryRow, RanRow } from "../../contract/history.ts";
import type { RunStats, TrendWindow } from "../../contract/run-stats.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { finishInstant, latestOf } from "./latest.rules.ts";

/** What rows add up to (TRD-1). Unknown rows count in `total` and `unknown` alone, skipped ones in `total` (TRD-3). */
export function runStats(rows: readonly HistoryRow[]): RunStats {
  const ran = rows.filter((row) => row.kind === "ran");
  const count = (outcome: RanRow["outcome"]): number => ran.filter((row) => row.outcome === outcome).length;
  const success = count("success");
  const failure = count("failure");
  const measured = ran.filter((row) => row.outcome !== "unknown");
  const durations = spread(measured, durationSeconds);
  const cpu = spread(measured, cpuSeconds);
  const rss = spread(measured, rssBytes);
  const last = latestOf(measured);
  return {
    total: rows.length,
    success,
    failure,
    cancelled: count("cancelled"),
    unknown: count("unknown") + rows.filter((row) => row.kind === "interrupted").length,
    successRate: success + failure === 0 ? null : success / (success + failure),
    averageDurationSeconds: durations.average,
    minDurationSeconds: durations.least,
    maxDurationSeconds: durations.greatest,
    lastDurationSeconds: last === null ? null : durationSeconds(last),
    averageCpuSeconds: cpu.average,
    maxCpuSeconds: cpu.greatest,
    lastCpuSeconds: last === null ? null : cpuSeconds(last),
    averageRssBytes: rss.average,
    maxRssBytes: rss.greatest,
    lastRssBytes: last === null ? null : rssBytes(last),
  };
}

const windowMs = {
  "1h": 3600_000,
  "24h": 24 * 3600_000,
  "7d": 7 * 24 * 3600_000,
  "30d": 30 * 24 * 3600_000,
  all: Number.POSITIVE_INFINITY,
} as const satisfies Record<TrendWindow, number>;

/** The figures of each window: rows that finished at most that long ago (TRD-3). */
export function trendWindows(rows: readonly HistoryRow[], now: EpochMs): Record<TrendWindow, RunStats> {
  const within = (window: TrendWindow): RunStats =>
    runStats(rows.filter((row) => now - finishInstant(row) <= windowMs[window]));
  return { "1h": within("1h"), "24h": within("24h"), "7d": within("7d"), "30d": within("30d"), all: within("all") };
}

/** Null for a run that did not start. */
function durationSeconds(row: RanRow): number | null {
  if (row.startedAt === null) return null;
  return Math.round((row.finishedAt - row.startedAt) * 1000) / 1e6;
}

function cpuSeconds(row: RanRow): number | null {
  return row.resources === null ? null : row.resources.cpuUserSeconds + row.resources.cpuSystemSeconds;
}

function rssBytes(row: RanRow): number | null {
  return row.resources?.maxRssBytes ?? null;
}

interface Spread {
  readonly average: number | null;
  readonly least: number | null;
  readonly greatest: number | null;
}

function spread(rows: readonly RanRow[], measure: (row: RanRow) => number | null): Spread {
  let sum = 0;
  let count = 0;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    const value = measure(row);
    if (value === null) continue;
    sum += value;
    count++;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return count === 0 ? { average: null, least: null, greatest: null } : { average: sum / count, least, greatest };
}
