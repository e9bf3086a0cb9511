import type { JobConfig } from "../config/model.ts";

/** Whose a job's scheduled work is at this moment. `owner` is null where a name is not known. */
export type Ownership =
  | { readonly kind: "here" }
  | { readonly kind: "elsewhere"; readonly owner: string | null }
  /** No leader is elected, or its election cannot be seen from here. */
  | { readonly kind: "unclear" };

/** The gate that leadership keeps. Answers from memory, at once. */
export interface Owners {
  of(job: JobConfig): Ownership;
  /** Whether retries follow their job to another node: a shared store, an election, and its manager at work (RSM-1). */
  resumesRetries(): boolean;
}

/** One node alone owns everything. */
export const standalone: Owners = { of: () => ({ kind: "here" }), resumesRetries: () => false };
