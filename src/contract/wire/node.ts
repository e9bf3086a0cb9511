import { z } from "zod";
import { named, type Wire } from "./shape.ts";

export const nodeResources = named(
  "NodeResources",
  z.object({
    cpu_percent: z.number(),
    cpu_count: z.int(),
    mem_percent: z.number(),
    mem_used_bytes: z.number(),
    mem_total_bytes: z.number(),
    proc_rss_bytes: z.number().optional(),
    proc_cpu_percent: z.number().optional(),
  }),
);
export type NodeResources = Wire<typeof nodeResources>;

export const nodeView = named("NodeView", z.object({ node_name: z.string(), resources: nodeResources.nullable() }));

export const nodeHistory = named(
  "NodeHistory",
  z.object({
    node_name: z.string(),
    enabled: z.boolean(),
    interval: z.number().nullable(),
    /** `[epoch seconds, cpu percent, memory percent]`, oldest first. */
    points: z.array(z.tuple([z.number(), z.number(), z.number()])),
  }),
);
