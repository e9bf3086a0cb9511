import { z } from "zod";
import { nodeResources } from "./node.ts";
import { instant, named, openEnum, type Wire } from "./shape.ts";

/** How a peer stands with this node, as far as this node knows. */
export const peerStatuses = [
  "unknown",
  "self",
  "agreed",
  "syncing",
  "drifted",
  "unreachable",
  "untrusted",
  "conflict",
] as const;

const peer = z.object({
  host: z.string(),
  status: openEnum(peerStatuses),
  job_set_id: z.string().nullable(),
  node_name: z.string().nullable(),
  last_seen: instant.nullable(),
  last_error: z.string().nullable(),
  mismatch_streak: z.int(),
  node_stats: nodeResources.nullable(),
});

const lease = z.object({
  name: z.string().optional(),
  namespace: z.string().optional(),
  electionName: z.string().optional(),
  path: z.string().optional(),
  identity: z.string(),
  holder: z.string().nullable(),
  leaseId: z.union([z.string(), z.number()]).nullable().optional(),
  fence: z.int().nullable().optional(),
  expiry: instant.nullable(),
});

export const clusterView = named(
  "ClusterView",
  z.object({
    backend: openEnum(["gossip", "kubernetes", "etcd", "filesystem"]).optional(),
    node_name: z.string().optional(),
    job_set_id: z.string().optional(),
    cluster_size: z.int().optional(),
    quorum: z.int().optional(),
    elect_leader: z.boolean().optional(),
    distribution: openEnum(["single-leader", "spread"]).optional(),
    conflict: z.boolean().optional(),
    conflict_names: z.array(z.string()).optional(),
    size_conflict: z.boolean().optional(),
    conflicting_sizes: z.array(z.int()).optional(),
    policy_conflict: z.boolean().optional(),
    conflicting_policies: z.array(z.string()).optional(),
    candidates_truncated: z.int().optional(),
    quorate: z.boolean().optional(),
    leader: z.string().nullable().optional(),
    is_leader: z.boolean().optional(),
    peers: z.array(peer),
    lease: lease.optional(),
    enabled: z.boolean(),
    fleet: z.boolean().optional(),
    node_stats: nodeResources.nullable().optional(),
  }),
);
export type ClusterView = Wire<typeof clusterView>;

const fleetJob = z.object({
  running: z.boolean(),
  enabled: z.boolean(),
  scheduled_in: z.number().nullable(),
  last: z
    .object({
      outcome: z.string(),
      finished_at: instant.nullable(),
      duration: z.number().nullable(),
      exit_code: z.int().nullable(),
    })
    .nullable(),
});

export const fleetView = named(
  "FleetView",
  z.object({
    enabled: z.boolean(),
    backend: z.string().optional(),
    node_name: z.string().optional(),
    distribution: z.string().optional(),
    elect_leader: z.boolean().optional(),
    interval: z.number().optional(),
    nodes: z.array(
      z.object({
        node_name: z.string().nullable(),
        host: z.string().nullable(),
        self: z.boolean(),
        status: openEnum(peerStatuses),
        as_of: instant.nullable(),
        jobs: z.record(z.string(), fleetJob).nullable(),
        truncated: z.boolean(),
        node_stats: nodeResources.nullable(),
      }),
    ),
  }),
);
export type FleetView = Wire<typeof fleetView>;
