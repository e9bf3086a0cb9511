import { expect, test } from "vitest";
import { runStats, trendWindows } from "../../../src/journal/ledger/run-stats.rules.ts";
import { failed, ran, skipped } from "../support/rows.ts";

const usage = (cpu: number, maxRssBytes: number) => ({
  cpuUserSeconds: cpu,
  cpuSystemSeconds: 1,
  maxRssBytes,
  samples: 1,
  series: [],
});

test("TRD-1: figures of a set of rows", () => {
  const rows = [
    ran(20_000, { startedAt: 10_000, resources: usage(2, 100) }),
    failed(15_000),
    ran(30_000, { outcome: "cancelled", startedAt: 28_000 }),
    skipped(40_000),
  ];
  expect(runStats(rows)).toEqual({
    total: 4,
    success: 1,
    failure: 1,
    cancelled: 1,
    unknown: 0,
    successRate: 0.5,
    averageDurationSeconds: 22 / 3,
    minDurationSeconds: 2,
    maxDurationSeconds: 10,
    lastDurationSeconds: 2,
    averageCpuSeconds: 3,
    maxCpuSeconds: 3,
    lastCpuSeconds: null,
    averageRssBytes: 100,
    maxRssBytes: 100,
    lastRssBytes: null,
  });
});

test("TRD-1: what no row tells is null", () => {
  expect(runStats([skipped(1)])).toMatchObject({
    total: 1,
    successRate: null,
    averageDurationSeconds: null,
    lastDurationSeconds: null,
  });
});

test("TRD-2: last figures come from the run that finished last, whichever node wrote it", () => {
  expect(runStats([ran(90_000, { startedAt: 80_000 }), ran(50_000, { startedAt: 49_000 })]).lastDurationSeconds).toBe(
    10,
  );
});

test("TRD-3, INF-7: interrupted and unknown rows count in total and unknown only", () => {
  const rows = [
    ran(20_000),
    ran(90_000, { outcome: "unknown", startedAt: 10_000 }),
    { kind: "interrupted", interruptedAt: 99_000, owed: true, failReason: null } as const,
  ];
  expect(runStats(rows)).toMatchObject({
    total: 3,
    unknown: 2,
    successRate: 1,
    maxDurationSeconds: 10,
    lastDurationSeconds: 10,
  });
});

test("TRD-3: a row belongs to a window while its finish is at most that long ago", () => {
  const now = 100 * 24 * 3600_000;
  const hoursAgo = [1, 1.001, 24, 24.001, 7 * 24, 30 * 24, 31 * 24];
  const windows = trendWindows(
    hoursAgo.map((hours) => ran(now - hours * 3600_000)),
    now,
  );
  expect(Object.values(windows).map(({ total }) => total)).toEqual([1, 3, 5, 6, 7]);
});
