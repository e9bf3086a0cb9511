import type { EpochMs } from "../../../src/platform/clock.ts";
import type { Fact } from "../world/facts.ts";

/** One promise, judged on facts alone. Each answer is null, or what is wrong. */
export interface Invariant {
  /** What is promised, with the requirements it stands for. */
  readonly promise: string;
  saw(fact: Fact): string | null;
  /** Looked at after every step of the world. */
  after?(): string | null;
  /** Once everything has been whole for long enough. */
  atEnd?(): string | null;
}

/** When the store last failed a host: what excuses the documented losses. */
export interface Trouble {
  saw(fact: Fact): void;
  /** Whether an operation of the host on this target, or any one for null, was not answered well at or after `since`. */
  since(host: string, target: string | null, since: EpochMs): boolean;
  /** Whether the host's clock was set, or the host slept, at or after `since`. */
  clockSince(host: string, since: EpochMs): boolean;
}

export function troubleBook(): Trouble {
  const bad = new Map<string, EpochMs>();
  const moved = new Map<string, EpochMs>();
  return {
    saw(fact) {
      if (fact.kind === "operation" && fact.fate !== "answered") {
        bad.set(fact.daemon.host, fact.at);
        bad.set(`${fact.daemon.host} ${fact.target}`, fact.at);
      }
      if (fact.kind === "store not opened" || fact.kind === "store opens slowly") bad.set(fact.host, fact.at);
      if (fact.kind === "clock moved") moved.set(fact.host, fact.at);
    },
    since: (host, target, since) =>
      (bad.get(target === null ? host : `${host} ${target}`) ?? Number.NEGATIVE_INFINITY) >= since,
    clockSince: (host, since) => (moved.get(host) ?? Number.NEGATIVE_INFINITY) >= since,
  };
}

export function clockTime(at: EpochMs): string {
  return new Date(at).toISOString().slice(5, 23);
}
