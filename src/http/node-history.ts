import type { Clock } from "../platform/clock.ts";
import type { NodeUsage } from "../platform/node-usage.ts";

/** `[epoch seconds, cpu percent, memory percent]`. */
export type NodePoint = readonly [at: number, cpuPercent: number, memoryPercent: number];

/** The node's load over time, in memory, sampled while the API is up (http 7.6). */
export interface NodeHistory {
  readonly intervalSeconds: number;
  /** Oldest first. */
  points(): readonly NodePoint[];
  stop(): void;
}

/** Keeps the newest `points` samples. */
export function startNodeHistory(
  config: { readonly intervalSeconds: number; readonly points: number },
  usage: () => NodeUsage | null,
  clock: Clock,
): NodeHistory {
  const kept: NodePoint[] = [];
  const sample = (): void => {
    const now = usage();
    if (now !== null) {
      kept.push([hundredths(clock.wallNow() / 1000), tenths(now.cpuPercent), tenths(now.memoryPercent)]);
      if (kept.length > config.points) kept.shift();
    }
    cancel = clock.after(config.intervalSeconds * 1000, sample);
  };
  let cancel = clock.after(config.intervalSeconds * 1000, sample);
  return { intervalSeconds: config.intervalSeconds, points: () => kept, stop: () => cancel() };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
