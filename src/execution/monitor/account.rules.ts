import type { LiveResources } from "../../contract/launcher.ts";
import type { ResourceUsage } from "../../contract/run.ts";
import type { Reading } from "./protocol.ts";
import { emptySeries, type Point, type Series, shownPoints, withSample } from "./series.rules.ts";

/** What one watched run's readings add up to. */
export interface Account {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly rssBytes: number;
  readonly maxRssBytes: number;
  readonly cpuPercent: number;
  readonly samples: number;
  readonly lastAtElapsedMs: number | null;
  readonly series: Series;
}

export interface ReadAt {
  readonly atElapsedMs: number;
  readonly atSeconds: number;
}

/** Below this distance of two readings a percentage says more about the clock tick than about the run. */
const PERCENT_SPAN_MIN_MS = 20;

export function newAccount(historyPoints: number): Account {
  return {
    userSeconds: 0,
    systemSeconds: 0,
    rssBytes: 0,
    maxRssBytes: 0,
    cpuPercent: 0,
    samples: 0,
    lastAtElapsedMs: null,
    series: emptySeries(historyPoints),
  };
}

/** A reading that found no process any more adds to the CPU total alone: it is no sample of a living run. */
export function withReading(account: Account, reading: Reading, at: ReadAt): Account {
  const { userSeconds, systemSeconds, rssBytes } = reading;
  if (reading.processes === 0) return { ...account, userSeconds, systemSeconds, rssBytes: 0, cpuPercent: 0 };
  const spanMs = account.lastAtElapsedMs === null ? 0 : at.atElapsedMs - account.lastAtElapsedMs;
  const usedSeconds = userSeconds + systemSeconds - account.userSeconds - account.systemSeconds;
  const cpuPercent = spanMs < PERCENT_SPAN_MIN_MS ? account.cpuPercent : (usedSeconds / spanMs) * 100_000;
  const point: Point = [at.atSeconds, cpuPercent, rssBytes];
  return {
    userSeconds,
    systemSeconds,
    rssBytes,
    cpuPercent,
    maxRssBytes: Math.max(account.maxRssBytes, rssBytes),
    samples: account.samples + 1,
    lastAtElapsedMs: at.atElapsedMs,
    series: withSample(account.series, point),
  };
}

export function liveOf(account: Account): LiveResources | null {
  if (account.samples === 0) return null;
  return {
    cpuPercent: hundredths(account.cpuPercent),
    cpuSeconds: micros(account.userSeconds + account.systemSeconds),
    rssBytes: account.rssBytes,
    series: shownPoints(account.series).map(rounded),
  };
}

/** Null when nothing was ever sampled. */
export function usageOf(account: Account): ResourceUsage | null {
  if (account.samples === 0) return null;
  return {
    cpuUserSeconds: micros(account.userSeconds),
    cpuSystemSeconds: micros(account.systemSeconds),
    maxRssBytes: account.maxRssBytes,
    samples: account.samples,
    series: shownPoints(account.series).map(rounded),
  };
}

function rounded([atSeconds, cpuPercent, rssBytes]: Point): Point {
  return [hundredths(atSeconds), hundredths(cpuPercent), rssBytes];
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function micros(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
