import { z } from "zod";
import { anyObject, epochSeconds, instant, named, openEnum, type Wire } from "./shape.ts";

const group = z.object({
  count: z.int(),
  streams: z.int(),
  scopes: z.array(z.object({ scope: z.string(), count: z.int() })),
});

export const stateOverview = named(
  "StateOverview",
  z.object({
    records: z.record(z.string(), group),
    documents: z.record(z.string(), group),
    leases: z.array(
      z.object({
        name: z.string(),
        holder: z.string(),
        fence: z.int(),
        expiresAt: epochSeconds,
        expired: z.boolean(),
      }),
    ),
    quarantine: z.int(),
    view: z.object({
      backend: openEnum(["filesystem", "memory"]),
      path: z.string(),
      namespace: z.string(),
      topology: openEnum(["single-node", "shared"]),
      shared_locking: z.boolean(),
      job_set_id: z.string(),
    }),
    stats: z.object({
      ops: z.record(z.string(), z.object({ count: z.int(), errors: z.int(), seconds: z.number() })),
      lock: z.object({ acquisitions: z.int(), wait_seconds: z.number() }),
      throttle: z.object({ count: z.int(), wait_seconds: z.number() }),
      workers: z.object({
        bulk_inflight: z.int(),
        bulk_peak: z.int(),
        bulk_capacity: z.int(),
        lease_inflight: z.int(),
        lease_peak: z.int(),
        lease_capacity: z.int(),
      }),
    }),
    /** False when the store could not be listed in time; the maps are empty then. */
    enumerable: z.boolean(),
    enabled: z.boolean(),
    node: z.object({
      host: z.string(),
      retries: z.array(z.object({ job: z.string(), attempt: z.int(), nextRetryAt: instant, delaySeconds: z.number() })),
      slots: z.array(
        z.object({
          slot: z.string(),
          holder: z.string(),
          fence: z.int(),
          expiresAt: epochSeconds,
          refs: z.int(),
        }),
      ),
    }),
  }),
);
export type StateOverview = Wire<typeof stateOverview>;

/** Without a store, or while it did not start. */
export const stateOff = named("StateOff", z.object({ enabled: z.boolean() }));

export const stateDocuments = named(
  "StateDocuments",
  z.object({ namespace: z.string(), documents: z.array(anyObject) }),
);

export const stateRecords = named("StateRecords", z.object({ stream: z.string(), records: z.array(anyObject) }));
