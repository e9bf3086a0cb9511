import type { Operation } from "../../../src/store/engine.ts";
import type { Conduct } from "../../../src/store/front/in-thread.ts";
import type { Fate } from "./facts.ts";
import type { Life } from "./life.ts";
import type { Random } from "./random.ts";

/** How the store is for one host at present: each operation meets one of these by its weight. */
export interface Weather {
  readonly name: string;
  readonly slow: number;
  readonly fail: number;
  readonly silent: number;
  /** Only operations on leases meet it: lost renewals. */
  readonly leasesOnly: boolean;
  /** The longest delay of a slow operation. */
  readonly slowMsMax: number;
}

export const fair: Weather = { name: "fair", slow: 0, fail: 0, silent: 0, leasesOnly: false, slowMsMax: 0 };

/** Draws how bad it gets. */
export function badWeather(random: Random): Weather {
  const leasesOnly = random.chance(0.2);
  const some = { slow: 0, fail: 0, silent: 0, leasesOnly, slowMsMax: 4_000 };
  return random.pick([
    { ...some, name: "a bit slow", slow: 0.5 },
    { ...some, name: "very slow", slow: 0.7, slowMsMax: 40_000 },
    { ...some, name: "failing at times", fail: 0.3 },
    { ...some, name: "failing", fail: 1 },
    { ...some, name: "hanging at times", silent: 0.1 },
    { ...some, name: "hanging", silent: 1 },
    { ...some, name: "wild", slow: 0.3, fail: 0.2, silent: 0.05, slowMsMax: 15_000 },
  ]);
}

const leaseOperations: ReadonlySet<Operation> = new Set(["acquireLease", "renewLease", "releaseLease", "readLease"]);

export function isOnLeases(operation: Operation): boolean {
  return leaseOperations.has(operation);
}

/** How the store takes the next operation of a daemon, and what becomes of it. */
export function conductOf(
  operation: Operation,
  { weather, life, random }: { readonly weather: Weather; readonly life: Life; readonly random: Random },
): { readonly conduct: Conduct; readonly fate: Fate } {
  // What a killed daemon had handed over before it died may still be done, and a process that ends takes the rest with it.
  if (!life.alive) return silent(life.landsAfterEnd());
  const { slow, fail, silent: silence, leasesOnly, slowMsMax } = weather;
  if (leasesOnly && !isOnLeases(operation)) return { conduct: { kind: "answer" }, fate: "answered" };
  const drawn = random.next();
  if (drawn < slow) return { conduct: { kind: "slow", delayMs: random.between(1, slowMsMax) }, fate: "slow" };
  if (drawn < slow + fail) return { conduct: { kind: "fail", message: "the simulated disk is full" }, fate: "failed" };
  if (drawn < slow + fail + silence) return silent(random.chance(0.5));
  return { conduct: { kind: "answer" }, fate: "answered" };
}

function silent(lands: boolean): { readonly conduct: Conduct; readonly fate: Fate } {
  return { conduct: { kind: "silent", lands }, fate: lands ? "silent, done" : "silent, not done" };
}
