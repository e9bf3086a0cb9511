import type { Acquired, Lease, Renewed } from "./store.ts";

/** What is known of a lease when its lock is held. */
export type Standing =
  | { readonly kind: "absent" }
  | { readonly kind: "lease"; readonly lease: Lease }
  | { readonly kind: "unreadable"; readonly because: string };

/** What to store, if anything, and what to answer once it is stored. */
export interface LeaseDecision<T> {
  readonly write: Lease | null;
  readonly answer: T;
}

/** Expiry of a released lease. The lease itself stays: it is the only home of its fence (LSE-2). */
const RELEASED = 0;

/** LSE-4. The fence grows unless we already hold the lease and it is valid. */
export function acquired(
  standing: Standing,
  name: string,
  holder: string,
  ttlSeconds: number,
  nowSeconds: number,
): LeaseDecision<Acquired> {
  if (standing.kind === "unreadable") return { write: null, answer: { kind: "unreadable" } };
  const current = standing.kind === "lease" ? standing.lease : null;
  const valid = current !== null && current.expiresAtSeconds > nowSeconds;
  if (valid && current.holder !== holder) return { write: null, answer: { kind: "denied", by: current } };
  const fence = current === null ? 1 : valid ? current.fence : current.fence + 1;
  const lease = { name, holder, fence, expiresAtSeconds: nowSeconds + ttlSeconds };
  return { write: lease, answer: { kind: "held", lease } };
}

/** LSE-4. Only the same holder with the same fence, and never after a release. */
export function renewed(
  standing: Standing,
  lease: Lease,
  ttlSeconds: number,
  nowSeconds: number,
): LeaseDecision<Renewed> {
  if (standing.kind === "unreadable") return { write: null, answer: { kind: "unreadable" } };
  if (standing.kind === "absent") return { write: null, answer: { kind: "lost", by: null } };
  const current = standing.lease;
  const released = current.expiresAtSeconds <= RELEASED;
  if (released || !isSame(current, lease))
    return { write: null, answer: { kind: "lost", by: released ? null : current } };
  const extended = { ...current, expiresAtSeconds: nowSeconds + ttlSeconds };
  return { write: extended, answer: { kind: "held", lease: extended } };
}

/** LSE-4. Another's lease, and one that cannot be understood, is left to its expiry. */
export function released(standing: Standing, lease: Lease): LeaseDecision<{ readonly released: boolean }> {
  if (standing.kind !== "lease" || !isSame(standing.lease, lease)) return { write: null, answer: { released: false } };
  return { write: { ...standing.lease, expiresAtSeconds: RELEASED }, answer: { released: true } };
}

function isSame(current: Lease, lease: Lease): boolean {
  return current.holder === lease.holder && current.fence === lease.fence;
}
