import type { EndedEntry, PoolView } from "./pool.ts";

/** Pools as surfaces see them (running 19). Each answer comes within seconds, whatever the store does. */
export interface PoolControl {
  /** All configured pools, by name. "unavailable": one of them cannot be read. */
  list(): Promise<readonly PoolView[] | "unavailable">;
  /** Takes an entry out of a queue; done again it answers the same. `by`: who wants it, for the log. */
  cancel(pool: string, id: string, by: string | null): Promise<PoolCancelOutcome>;
}

export type PoolCancelOutcome =
  | { readonly kind: "cancelled"; readonly entry: EndedEntry }
  | { readonly kind: "unknown pool" }
  | { readonly kind: "unknown entry" }
  /** It runs or ran; or the pool takes no change. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unavailable" };
