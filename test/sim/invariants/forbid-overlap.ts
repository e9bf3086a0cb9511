import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact, SimProcess } from "../world/facts.ts";
import type { Invariant, Trouble } from "./invariant.ts";

/** How long a store has to have been whole before a daemon has to know again what it could not read. */
const RELEARNS_WITHIN_MS = 180_000;

/**
 * A Forbid job has one process on a host, those that outlived their daemon included (F56, F57).
 *
 * A daemon knows of a survivor by its open record. Excused: the record never landed or is not among the newest eight (INF-5), and a store
 * that did not let itself be read.
 */
export function forbidOverlap(trouble: Trouble): Invariant {
  const live = new Map<string, SimProcess[]>();
  const startedAt = new Map<string, EpochMs>();
  const openRecords = new Map<string, { readonly order: number; readonly pid: unknown; readonly proc: unknown }[]>();
  const landedIn = new Map<string, number>();

  const isKnowable = ({ job, pid, daemon }: SimProcess): boolean => {
    const landed = landedIn.get(job.name) ?? 0;
    return (openRecords.get(job.name) ?? []).some(
      (record) => record.pid === pid && record.proc === daemon.proc && landed - record.order < 8,
    );
  };

  return {
    promise: "a Forbid job never has two processes on one host, survivors of a killed daemon included (F56, F57)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "daemon started":
          startedAt.set(fact.daemon.proc, fact.at);
          return null;
        case "landed": {
          if (!fact.stream.startsWith("inflight/")) return null;
          const job = fact.stream.slice("inflight/".length);
          const order = (landedIn.get(job) ?? 0) + 1;
          landedIn.set(job, order);
          const { kind, pid, proc } = fact.body;
          if (kind === "open") openRecords.set(job, [...(openRecords.get(job) ?? []), { order, pid, proc }].slice(-40));
          return null;
        }
        case "process ended": {
          const { job, daemon, runId } = fact.process;
          const key = `${daemon.host} ${job.name}`;
          live.set(
            key,
            (live.get(key) ?? []).filter((other) => other.runId !== runId),
          );
          return null;
        }
        case "process started": {
          const { process } = fact;
          const { job, daemon } = process;
          const key = `${daemon.host} ${job.name}`;
          const others = live.get(key) ?? [];
          live.set(key, [...others, process]);
          if (job.concurrencyPolicy !== "Forbid") return null;
          const bornAt = startedAt.get(daemon.proc) ?? 0;
          for (const other of others) {
            const isSurvivor = other.daemon.proc !== daemon.proc;
            const wasBlind = trouble.since(daemon.host, null, Math.max(bornAt, fact.at - RELEARNS_WITHIN_MS));
            if (isSurvivor && (!isKnowable(other) || wasBlind)) continue;
            return `${job.name} has process ${process.pid} beside process ${other.pid} on ${daemon.host}${isSurvivor ? ", which outlived its daemon" : ""}`;
          }
          return null;
        }
        default:
          return null;
      }
    },
  };
}
