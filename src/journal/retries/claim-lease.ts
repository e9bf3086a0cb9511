import type { Lease } from "../../store/store.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import type { DaemonProcess } from "../inflight/inflight-record.ts";
import { CLAIM_TTL_MS } from "../limits.ts";

export type Claim =
  | { readonly kind: "held"; release(): Promise<void> }
  /** Another node is at it. */
  | { readonly kind: "denied"; readonly holder: string }
  /** The store does not tell. */
  | { readonly kind: "unknown"; readonly because: string };

/** Makes this node the only one that claims or launches a job's retry, for half a minute at most (RSM-4, RSM-5). */
export async function takeClaim(backend: Backend, self: DaemonProcess, job: string): Promise<Claim> {
  const name = `retry-claim/${job}`;
  const holder = `${self.host}#${self.proc}`;
  const held = (lease: Lease): Claim => ({
    kind: "held",
    async release() {
      await onBackend(backend, ({ leases }) => leases.release(lease)); // what is not released lapses
    },
  });
  const acquired = await onBackend(backend, ({ leases }) => leases.acquire(name, holder, CLAIM_TTL_MS));
  if (acquired.kind === "done") {
    const { value } = acquired;
    if (value.kind === "held") return held(value.lease);
    if (value.kind === "denied") return { kind: "denied", holder: value.by.holder };
    return { kind: "unknown", because: `the lease ${name} is unreadable` };
  }
  if (acquired.kind === "unknown") {
    // It may have been taken all the same: reading it back tells (LSE-5).
    const found = await onBackend(backend, ({ leases }) => leases.read(name));
    if (found.kind === "done" && found.value?.holder === holder) return held(found.value);
  }
  return { kind: "unknown", because: failureText(acquired) };
}
