import type { Logger } from "../../contract/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Backend } from "../backend.ts";
import { COLLECT_EVERY_MS } from "../limits.ts";
import { type Collection, type CollectionRequest, collectGarbage } from "./collection.ts";

/** Collects garbage once a day, the first time at the first call (GC-1). */
export interface Collector {
  /** For each minute. Does nothing when it is not time, while a pass goes on, without a backend, or with a grace of 0 or less (GC-9). */
  minute(request: () => Omit<CollectionRequest, "dryRun">): Promise<Collection | null>;
}

export function createCollector(parts: {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Logger;
}): Collector {
  const { backend, clock, log } = parts;
  let dueAt = Number.NEGATIVE_INFINITY;
  let collecting = false;
  return {
    async minute(request) {
      if (collecting || clock.elapsedNow() < dueAt || backend() === null) return null;
      const wanted = request();
      if (wanted.graceSeconds <= 0) return null;
      dueAt = clock.elapsedNow() + COLLECT_EVERY_MS;
      collecting = true;
      try {
        const done = await collectGarbage(parts, { ...wanted, dryRun: false });
        if (done.kind === "given up")
          log.warning(`state: garbage collection given up: ${done.because}; the next pass is in a day`);
        return done;
      } finally {
        collecting = false;
      }
    },
  };
}
