import type { CountersSnapshot, DurationHistogram } from "../../contract/counters.ts";
import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import { COUNTERS_EVERY_MS } from "../limits.ts";
import { countersStream, keep } from "../streams.ts";
import type { WriteQueue } from "../write-queue.ts";
import { areSameBounds } from "./counters.rules.ts";
import { countersRecord } from "./counters-record.ts";

/** Counters that go on over a restart (state 14). Lossy on purpose: a crash costs what was counted in the last 15 s (CNT-3). */
export interface DurableCounters {
  /**
   * What earlier daemons of this host counted, to be added once into what this one counts (CNT-2). Null: nothing there, nothing
   * readable, or asked before: a process never seeds twice, and never from its own snapshots (CNT-4).
   *
   * @param bounds of this daemon's histograms. Of other bounds the histograms wait in `parked`.
   */
  seed(
    bounds: readonly number[],
  ): Promise<{ readonly snapshot: CountersSnapshot; readonly sameBounds: boolean } | null>;
  /**
   * The histograms of the seed, if they were kept for other bounds than the daemon's then and for exactly these (CNT-4). Answers them
   * once.
   */
  adoptParked(bounds: readonly number[]): ReadonlyMap<string, DurationHistogram> | null;
  /** A run was recorded: writes a snapshot unless one was taken less than 15 s ago. Nothing before `seed` was asked. */
  runRecorded(take: () => CountersSnapshot): void;
  /** The last snapshot before the end, whatever the time (CNT-1). */
  flush(take: () => CountersSnapshot): void;
}

export function createDurableCounters(parts: {
  readonly host: string;
  readonly backend: Backend;
  readonly writes: WriteQueue;
  readonly clock: Clock;
  readonly log: Logger;
}): DurableCounters {
  const { host, backend, writes, clock, log } = parts;
  const stream = countersStream(host);
  let seeded = false;
  let parked: CountersSnapshot | null = null;
  let lastSnapshot = Number.NEGATIVE_INFINITY;

  const write = (take: () => CountersSnapshot): void => {
    lastSnapshot = clock.elapsedNow();
    const body = countersRecord.encode({ ...take(), at: clock.wallNow() });
    void writes.add(stream, "counters", host, () =>
      onBackend(backend, ({ records }) => records.append(stream, body, { keep: keep.counters })),
    );
  };

  return {
    async seed(bounds) {
      if (seeded) return null;
      seeded = true;
      const listed = await onBackend(backend, ({ records }) =>
        records.list(stream, { order: "newest first", limit: 1, reading: "tolerant" }),
      );
      if (listed.kind !== "done") {
        log.warning(`state: counters start anew, those of before cannot be read: ${failureText(listed)}`);
        return null;
      }
      const [newest] = listed.value;
      const found = newest === undefined ? null : countersRecord.decode(newest.data);
      if (found?.kind !== "record") return null;
      const snapshot = found.value;
      const sameBounds = areSameBounds(snapshot.bounds, bounds);
      if (!sameBounds) parked = snapshot;
      return { snapshot, sameBounds };
    },
    adoptParked(bounds) {
      if (parked === null || !areSameBounds(parked.bounds, bounds)) return null;
      const histograms = new Map([...parked.jobs].map(([job, { durations }]) => [job, durations]));
      parked = null;
      return histograms;
    },
    runRecorded(take) {
      if (seeded && clock.elapsedNow() - lastSnapshot >= COUNTERS_EVERY_MS) write(take);
    },
    flush(take) {
      if (seeded) write(take);
    },
  };
}
