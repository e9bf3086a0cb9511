/**
 * Why a due slot, a retry or a start did not run (DESIGN idea 9). The same value is what the log line, the history row, the metric
 * label and "why did it not run?" show. `kind` is the metric label.
 */
export type NotRunReason =
  | { readonly kind: "paused"; readonly until: number; readonly note: string }
  | { readonly kind: "last-run-failed" } // onlyIfLastSucceeded
  | { readonly kind: "forbidden"; readonly running: number } // concurrencyPolicy: Forbid, an instance on this node
  | { readonly kind: "slot-held"; readonly holder: string } // concurrencyScope: cluster
  | { readonly kind: "store-unavailable"; readonly what: string } // onStoreUnavailable: fail-closed
  | { readonly kind: "not-owner"; readonly owner: string | null } // cluster leadership
  | { readonly kind: "pool-refused"; readonly pool: string; readonly why: string }
  | { readonly kind: "pool-unavailable"; readonly pool: string } // its state cannot be read or written
  | { readonly kind: "superseded" } // a newer start of the same job took its place while it waited
  | { readonly kind: "too-late"; readonly lateMs: number } // the scheduler fell behind, or startingDeadlineSeconds
  | { readonly kind: "disabled" }
  | { readonly kind: "removed" }
  | { readonly kind: "shutting-down" };
