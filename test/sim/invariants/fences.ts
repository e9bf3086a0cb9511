import type { Lease } from "../../../src/store/store.ts";
import type { Invariant } from "./invariant.ts";

/** The fence of a lease never falls, also over a release, and another holder has a higher one (LSE-2). */
export function fencesRise(leasesNow: () => readonly Lease[]): Invariant {
  let looked: readonly Lease[] = [];
  const seen = new Map<string, { readonly fence: number; readonly holder: string }>();
  return {
    promise: "fences rise with every change of holder (LSE-2)",
    saw: () => null,
    after() {
      const leases = leasesNow();
      if (leases === looked) return null;
      looked = leases;
      for (const lease of leases) {
        const { name } = lease;
        const before = seen.get(name);
        if (before?.fence === lease.fence && before.holder === lease.holder) continue;
        seen.set(name, { fence: lease.fence, holder: lease.holder });
        if (before === undefined) continue;
        if (lease.fence < before.fence || (lease.holder !== before.holder && lease.fence <= before.fence))
          return `lease ${name} went from fence ${before.fence} of ${before.holder} to ${lease.fence} of ${lease.holder}`;
      }
      return null;
    },
  };
}
