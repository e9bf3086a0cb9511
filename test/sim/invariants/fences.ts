import type { MemoryMedium } from "../../../src/store/memory/medium.ts";
import type { Invariant } from "./invariant.ts";

/** The fence of a lease never falls, and another holder has a higher one (LSE-2). */
export function fencesRise(medium: MemoryMedium): Invariant {
  const seen = new Map<string, { readonly fence: number; readonly holder: string }>();
  return {
    promise: "fences rise with every change of holder (LSE-2)",
    saw: () => null,
    after() {
      for (const [name, { lease }] of medium.leases) {
        const before = seen.get(name);
        if (before?.fence === lease.fence && before.holder === lease.holder) continue;
        seen.set(name, { fence: lease.fence, holder: lease.holder });
        if (before === undefined) continue;
        if (lease.fence < before.fence || (lease.holder !== before.holder && lease.fence <= before.fence))
          return `lease ${name} went from fence ${before.fence} of ${before.holder} to ${lease.fence} of ${lease.holder}`;
      }
      for (const name of seen.keys())
        if (!medium.leases.has(name)) return `lease ${name} is gone, and its fence with it`;
      return null;
    },
  };
}
