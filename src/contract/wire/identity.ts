import { z } from "zod";
import { instant, named, openEnum, type Wire } from "./shape.ts";

export const jobSetId = named("JobSetId", z.object({ job_set_id: z.string(), jobs: z.int() }));

export const whoAmI = named(
  "WhoAmI",
  z.object({
    authenticated: z.boolean(),
    label: z.string().nullable(),
    scopes: z.array(openEnum(["approve", "control", "view"])),
    allScopes: z.boolean(),
    pairLinkBase: z.string(),
  }),
);
export type WhoAmI = Wire<typeof whoAmI>;

export const summary = named(
  "Summary",
  z.object({
    version: z.string(),
    node_name: z.string(),
    generated_at: instant,
    jobs: z.object({
      total: z.int(),
      enabled: z.int(),
      disabled: z.int(),
      running: z.int(),
      paused: z.int(),
      failing: z.int(),
      never_fires: z.int(),
    }),
    next_fire: z.object({ job: z.string(), in: z.number(), at: instant }).nullable(),
    dags: z.object({ total: z.int() }).optional(),
    cluster: z.object({
      enabled: z.boolean(),
      distribution: z.string().optional(),
      quorate: z.boolean().optional(),
      is_leader: z.boolean().optional(),
      leader: z.string().nullable().optional(),
    }),
    /** The daemon is on its way down and starts nothing more. */
    draining: z.boolean().optional(),
  }),
);
export type Summary = Wire<typeof summary>;

export const shuttingDown = named("ShuttingDown", z.object({ shuttingDown: z.boolean() }));
