import type { PoolDocument } from "../contract/pool.ts";
import type { EpochMs } from "../platform/clock.ts";
import { POOL_IDLE_LOOK_MS, POOL_PASS_MS } from "./limits.ts";

/** What decides when a node turns to a pool again by itself. */
export interface PassFacts {
  /** As it was seen last; null before the first look. */
  readonly document: PoolDocument | null;
  /** This process. */
  readonly holder: string;
  /** Something is to be told yet. */
  readonly owes: boolean;
  /** Null while nothing runs here. */
  readonly renewalInMs: number | null;
  /** Work is taken from it here. */
  readonly isWorked: boolean;
  /** Other nodes may work it too. */
  readonly isShared: boolean;
}

/** How long until the next turn; Infinity when only an event brings one (Q5, running 19.4.10). */
export function nextPassInMs(facts: PassFacts, now: EpochMs): number {
  const { document, holder, owes, renewalInMs, isWorked, isShared } = facts;
  const due = [Number.POSITIVE_INFINITY];
  if (owes) due.push(POOL_PASS_MS);
  if (renewalInMs !== null) due.push(renewalInMs);
  if (isWorked) {
    if (document === null || waits(document)) due.push(POOL_PASS_MS);
    for (const entry of document?.entries ?? []) {
      if (entry.state === "running" && entry.holder !== holder) due.push(entry.leaseUntil - now);
    }
    if (isShared) due.push(POOL_IDLE_LOOK_MS);
  }
  return Math.max(POOL_PASS_MS, Math.min(...due));
}

export function waits({ entries }: PoolDocument): boolean {
  return entries.some(({ state }) => state === "waiting");
}
