import { readInstant } from "../../../src/journal/instant.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { JsonObject } from "../../../src/store/json.ts";
import type { DaemonId, Fact } from "../world/facts.ts";
import type { World } from "../world/world.ts";
import { clockTime, type Invariant, type Trouble } from "./invariant.ts";

/** A retry from its arming on, wherever it goes. */
interface Sequence {
  readonly job: string;
  readonly attempt: number;
  readonly armedAt: EpochMs;
  readonly at: EpochMs;
  readonly by: DaemonId;
  recorded: boolean;
  launches: { readonly at: EpochMs; readonly daemon: DaemonId }[];
  settled: boolean;
}

/** How late a retry may be that nothing holds up: a scan comes each minute, a claim after 30 s, a deferral after its own delay. */
const OVERDUE_MS = 20 * 60_000;

/**
 * A retry that was scheduled is launched, or settled with a reason, exactly once, over restarts and nodes (RET-2 to RET-9, RSM-2 to RSM-6).
 *
 * Excused: a second launch after a store that did not answer (RET-7, RSM-6), a retry whose record had not landed when its daemon was
 * killed (RET-2), and one whose daemon was killed between the settling and the launch (RET-3).
 */
export function retriesOnce(world: World, trouble: Trouble): Invariant {
  const sequences = new Map<string, Sequence>();
  /** Other names of a sequence, given by claims. */
  const claimedAs = new Map<string, string>();
  /** What each daemon has armed last, by job. */
  const armedHere = new Map<string, Sequence>();
  const newest = new Map<string, JsonObject>();
  const everTroubled = (sequence: Sequence, daemon: DaemonId): boolean =>
    world.places.some(({ host }) => host.name === daemon.host || world.places.length > 1) &&
    world.places.some(
      ({ host }) =>
        trouble.since(host.name, null, sequence.at - 60_000) || trouble.clockSince(host.name, sequence.at - 60_000),
    );

  const keyOf = (job: string, attempt: unknown, armedAt: EpochMs | null, host: unknown): string => {
    const key = `${job} ${String(attempt)} ${armedAt} ${String(host)}`;
    return claimedAs.get(key) ?? key;
  };

  const landed = (job: string, body: JsonObject): void => {
    const before = newest.get(job);
    newest.set(job, body);
    if (body.kind === "settled") {
      for (const sequence of sequences.values())
        if (sequence.job === job && sequence.attempt === body.attempt) sequence.settled = true;
      return;
    }
    const key = keyOf(job, body.attempt, armInstantOf(body), hostOf(body));
    if (body.kind === "pending" && body.claimedFrom !== undefined && before !== undefined) {
      claimedAs.set(key, keyOf(job, before.attempt, armInstantOf(before), hostOf(before)));
    }
    const sequence = sequences.get(keyOf(job, body.attempt, armInstantOf(body), hostOf(body)));
    if (sequence !== undefined) sequence.recorded = true;
  };

  return {
    promise: "a pending retry is launched, or settled with a reason, exactly once (RET-3, RET-9, RSM-4, RSM-5)",
    saw(fact: Fact) {
      switch (fact.kind) {
        case "landed":
          if (fact.stream.startsWith("retries/")) landed(fact.stream.slice("retries/".length), fact.body);
          return null;
        case "retry armed": {
          const key = keyOf(fact.job, fact.attempt, fact.armedAt, fact.daemon.host);
          const { job, attempt, armedAt, at, daemon } = fact;
          const made = { job, attempt, armedAt, at, by: daemon, recorded: false, launches: [], settled: false };
          const sequence = sequences.get(key) ?? made;
          sequences.set(key, sequence);
          armedHere.set(`${daemon.proc} ${job}`, sequence);
          return null;
        }
        case "retry settled": {
          const sequence = armedHere.get(`${fact.daemon.proc} ${fact.job}`);
          if (sequence !== undefined && sequence.attempt === fact.attempt) sequence.settled = true;
          return null;
        }
        case "launched": {
          if (fact.trigger.kind !== "retry") return null;
          const sequence = armedHere.get(`${fact.daemon.proc} ${fact.job.name}`);
          if (sequence === undefined || sequence.attempt !== fact.trigger.attempt)
            return `${fact.job.name}: retry #${fact.trigger.attempt} was launched, and never armed`;
          sequence.launches.push({ at: fact.at, daemon: fact.daemon });
          const [first] = sequence.launches;
          if (sequence.launches.length === 1 || first === undefined || everTroubled(sequence, fact.daemon)) return null;
          return `${fact.job.name}: retry #${sequence.attempt}, armed ${clockTime(sequence.armedAt)}, was launched on ${first.daemon.host} at ${clockTime(first.at)} and again on ${fact.daemon.host}`;
        }
        default:
          return null;
      }
    },
    atEnd() {
      for (const [job, body] of newest) {
        const config = world.jobs.get(job)?.config;
        if (body.kind !== "pending" && body.kind !== "handoff") continue;
        if (config === undefined || !config.enabled || config.retry.maximumRetries === 0) continue;
        const notBefore = readInstant(body.notBefore) ?? 0;
        if (world.time.now() - notBefore <= OVERDUE_MS) continue;
        // A job that has a run or a sequence of its own again has left the record behind; nobody may claim it meanwhile (RSM-4).
        const states = world.places.map(({ daemon }) => daemon?.scheduler.look(job)?.state ?? null);
        if (
          states.some(
            (state) => state !== null && (state.asking.size > 0 || state.runs.size > 0 || state.ladder !== null),
          )
        )
          continue;
        return `${job}: retry #${String(body.attempt)} of ${String(body.host ?? body.fromHost)}, due ${clockTime(notBefore)}, is still pending: ${JSON.stringify(body)}`;
      }
      return null;
    },
  };
}

function armInstantOf(body: JsonObject): EpochMs | null {
  return readInstant(body.armedAt ?? body.at);
}

/** Whose it is, or was. */
function hostOf(body: JsonObject): unknown {
  return body.host ?? body.fromHost;
}
