import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact, SimProcess } from "../world/facts.ts";
import type { Invariant, Trouble } from "./invariant.ts";

/** Trouble this long before a run counts as trouble during it. */
const TRIED_AGAIN_WITHIN_MS = 130_000;

/**
 * A job with `concurrencyScope: cluster` has one process over all hosts, while the store answers (running 7).
 *
 * A slot is a lease: excused are runs whose daemon is gone, which nobody renews for, and whatever happened to store or clock of one of the
 * two hosts since the first one started.
 */
export function clusterOverlap(trouble: Trouble): Invariant {
  const live = new Map<string, Map<string, { readonly process: SimProcess; readonly at: EpochMs }>>();
  const gone = new Set<string>();
  return {
    promise: "a job of cluster scope never has two processes in the fleet while the store answers (running 7)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "daemon ended":
          gone.add(fact.daemon.proc);
          return null;
        case "process ended":
          live.get(fact.process.job.name)?.delete(fact.process.runId);
          return null;
        case "process started": {
          const { process, at } = fact;
          const { job, daemon } = process;
          if (job.concurrencyScope !== "cluster") return null;
          const others = live.get(job.name) ?? new Map();
          for (const { process: other, at: since } of others.values()) {
            const hosts = [daemon.host, other.daemon.host];
            if (gone.has(other.daemon.proc)) continue;
            // Answers that come late let a lease run out, and a store that cannot be opened is tried again each minute.
            if (
              hosts.some(
                (host) =>
                  trouble.since(host, null, since - TRIED_AGAIN_WITHIN_MS) ||
                  trouble.clockSince(host, since - TRIED_AGAIN_WITHIN_MS),
              )
            )
              continue;
            return `${job.name} has process ${process.pid} on ${daemon.host} beside process ${other.pid} on ${other.daemon.host}`;
          }
          live.set(job.name, others.set(process.runId, { process, at }));
          return null;
        }
        default:
          return null;
      }
    },
  };
}
