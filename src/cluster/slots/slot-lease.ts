import { failureText } from "../../journal/drops.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Lease, Leases, Outcome } from "../../store/store.ts";
import { SLOT_OPERATION_DEADLINE_MS } from "../limits.ts";
import { slotName } from "./yield-request.ts";

export type Taking =
  | { readonly kind: "won"; readonly lease: Lease }
  /** A live foreign holder. */
  | { readonly kind: "taken"; readonly by: Lease }
  | { readonly kind: "undecided"; readonly because: string };

const patience = { deadlineMs: SLOT_OPERATION_DEADLINE_MS };

/** Asks for the slot's lease. What the store does not answer is looked up: it may be ours all the same (LSE-5, running 7.2). */
export async function takeLease(
  leases: Leases,
  clock: Clock,
  { job, holder, ttlMs }: { readonly job: string; readonly holder: string; readonly ttlMs: number },
): Promise<Taking> {
  const name = slotName(job);
  const acquired = await leases.acquire(name, holder, ttlMs, patience);
  if (acquired.kind === "done") {
    const { value } = acquired;
    if (value.kind === "held") return confirmed(leases, clock, value.lease, ttlMs);
    if (value.kind === "unreadable") return { kind: "undecided", because: `the lease ${name} is unreadable` };
    return { kind: "taken", by: value.by };
  }
  const found = await leases.read(name, patience);
  const because = failureText(acquired);
  if (found.kind !== "done" || found.value === null) return { kind: "undecided", because };
  if (found.value.holder === holder) return confirmed(leases, clock, found.value, ttlMs);
  return isLive(found.value, clock) ? { kind: "taken", by: found.value } : { kind: "undecided", because };
}

/** A lease whose answer came too late to be of use is renewed before anything is built on it. */
async function confirmed(leases: Leases, clock: Clock, lease: Lease, ttlMs: number): Promise<Taking> {
  if (isLive(lease, clock)) return { kind: "won", lease };
  const renewed = await leases.renew(lease, ttlMs, patience);
  if (renewed.kind !== "done") return { kind: "undecided", because: failureText(renewed) };
  const { value } = renewed;
  if (value.kind === "held") return { kind: "won", lease: value.lease };
  if (value.kind === "lost" && value.by !== null) return { kind: "taken", by: value.by };
  return { kind: "undecided", because: "its lease lapsed before the store answered" };
}

export function isLive(lease: Lease, clock: Clock): boolean {
  return lease.expiresAtSeconds * 1000 > clock.wallNow();
}

export function freeLease(leases: Leases, lease: Lease): Promise<Outcome<unknown>> {
  return leases.release(lease, patience);
}

export function renewLease(leases: Leases, lease: Lease, ttlMs: number) {
  return leases.renew(lease, ttlMs, patience);
}

export function readHolder(leases: Leases, job: string): Promise<Outcome<Lease | null>> {
  return leases.read(slotName(job), patience);
}
