import type { UnavailablePolicy } from "../../journal/unavailable.rules.ts";

/** The host of a holder `<host>#<process>`, as people know the node. */
export function nodeOf(holder: string): string {
  return holder.replace(/#[^#]*$/, "");
}

/** Why Forbid dropped a launch (running 7.2). */
export function slotHeldMessage(job: string, holder: string): string {
  return `Job ${job} skipped: its cluster concurrency slot is held by ${nodeOf(holder)} (concurrencyPolicy: Forbid, concurrencyScope: cluster)`;
}

/** What becomes of a launch whose slot nobody could decide on (running 7.3). */
export function slotUndecidedMessage(job: string, because: string, policy: UnavailablePolicy): string {
  return policy === "degrade"
    ? `Job ${job}: its cluster concurrency slot cannot be claimed (${because}); enforcing concurrencyPolicy on this node only for this run (onStoreUnavailable: degrade)`
    : `Job ${job} skipped: its cluster concurrency slot cannot be claimed (${because}) (onStoreUnavailable: fail-closed)`;
}

/** Why Replace gave a launch up (running 7.5). */
export function notYieldedMessage(job: string, holder: string | null, withinSeconds: number): string {
  const who = holder === null ? "the holder" : nodeOf(holder);
  return `Job ${job}: ${who} did not yield its cluster concurrency slot within ${withinSeconds}s; skipping this launch (no-run over double-run)`;
}
