import { z } from "zod";
import { instant, named, openEnum, type Wire } from "./shape.ts";

export const queueEntry = named(
  "QueueEntry",
  z.object({
    id: z.string(),
    kind: openEnum(["job", "task"]),
    /** Name of the job; of a task `<dag>.<task>`. */
    name: z.string(),
    source: openEnum(["schedule", "reboot", "retry", "manual", "catchup", "dag"]),
    state: openEnum(["waiting", "running", "done", "expired", "cancelled"]),
    slots: z.int(),
    priority: z.int(),
    enqueuedAt: instant,
    /** Waiting longer than until here, it expires. */
    deadline: instant,
    /** The one host that may run it. */
    pinnedTo: z.string().nullable(),
    attempt: z.int(),
    /** Who runs or ran it, as `<host>#<process>`. */
    holder: z.string().nullable(),
    leaseUntil: instant.nullable(),
    startedAt: instant.nullable(),
    finishedAt: instant.nullable(),
    /** Why it never ran. */
    reason: z.string().nullable(),
    /** Which task of which run; `poke`: how many pokes of a sensor were before it. */
    dag: z
      .object({
        name: z.string(),
        runKey: z.string(),
        runId: z.string(),
        taskkey: z.string(),
        poke: z.int().nullable(),
      })
      .nullable(),
  }),
);

export const pools = named(
  "Pools",
  z.object({
    pools: z.array(
      z.object({
        name: z.string(),
        /** In force; a new capacity waits until nothing is queued or running. */
        slots: z.int(),
        used: z.int(),
        queued: z.int(),
        maxQueued: z.int(),
        /** What waits or runs, and ended tasks that their workflow has not taken note of. */
        entries: z.array(queueEntry),
        /** What ended last, oldest first. */
        recent: z.array(queueEntry),
      }),
    ),
  }),
);

export type QueueEntry = Wire<typeof queueEntry>;
export type Pools = Wire<typeof pools>;
