import { z } from "zod";

/*
 * A pool's queue as the store keeps it (running 19.3). Instants are epoch milliseconds: the document is
 * ours alone and is compared by number. Nodes of one store share it, so a field is only ever added.
 */

const instant = z.number();

const work = {
  id: z.string(),
  kind: z.enum(["job", "task"]),
  /** Job name; for a task `<dag>.<task>`. */
  name: z.string(),
  source: z.enum(["schedule", "reboot", "retry", "manual", "catchup", "dag"]),
  slots: z.int().min(1),
  priority: z.int(),
  enqueuedAt: instant,
  /** Waiting longer than until here, it expires. */
  deadline: instant,
  jobDigest: z.string(),
  /** The one node that may run it: it was queued there by hand, or the job runs on every node. */
  pinnedTo: z.string().nullable(),
  attempt: z.int(),
  /** The retry sequence it belongs to; another epoch of its scope means that this one has ended. */
  retryEpoch: z.int(),
  /** Which start of which task it is of, with `attempt`. `poke`: how many pokes were before it, null for what is no sensor. */
  dag: z
    .object({
      name: z.string(),
      runKey: z.string(),
      runId: z.string(),
      taskkey: z.string(),
      poke: z.int().nullable(),
    })
    .readonly()
    .nullable(),
};

const poolEntry = z.discriminatedUnion("state", [
  z
    .object({
      ...work,
      state: z.literal("waiting"),
      holder: z.null(),
      leaseUntil: z.null(),
      startedAt: z.null(),
      finishedAt: z.null(),
      reason: z.null(),
    })
    .readonly(),
  z
    .object({
      ...work,
      state: z.literal("running"),
      holder: z.string(),
      leaseUntil: instant,
      startedAt: instant,
      finishedAt: z.null(),
      reason: z.null(),
    })
    .readonly(),
  z
    .object({
      ...work,
      state: z.enum(["done", "expired", "cancelled"]),
      holder: z.string().nullable(),
      leaseUntil: z.null(),
      startedAt: instant.nullable(),
      finishedAt: instant,
      /** Why it never ran, null when it did. */
      reason: z.string().nullable(),
    })
    .readonly(),
]);

export const poolDocument = z
  .object({
    pool: z.string(),
    /** Capacity in force; a new one from the configuration waits until nothing is queued or running. */
    slots: z.int().min(1),
    /** All that waits or runs, and ended task entries that the workflow engine has not taken note of. */
    entries: z.array(poolEntry).readonly(),
    /** By job name, or `job@host` for a job that runs on every node. */
    retryScopes: z.record(z.string(), z.object({ epoch: z.int() }).readonly()).readonly(),
    /** Ended entries, oldest first. */
    recent: z.array(poolEntry).readonly(),
  })
  .readonly();

export type PoolDocument = z.infer<typeof poolDocument>;
export type PoolEntry = z.infer<typeof poolEntry>;
export type WaitingEntry = Extract<PoolEntry, { state: "waiting" }>;
export type RunningEntry = Extract<PoolEntry, { state: "running" }>;
export type EndedEntry = Extract<PoolEntry, { state: "done" | "expired" | "cancelled" }>;

/** One pool as it stands now, with what is configured of it. */
export interface PoolView {
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  readonly queued: number;
  readonly maxQueued: number;
  readonly entries: readonly PoolEntry[];
  readonly recent: readonly PoolEntry[];
}
