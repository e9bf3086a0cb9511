/** The `cluster` section (config 7.6). */
import type { z } from "zod";
import { listOf, mapOf, within } from "./collections.ts";
import { bool, float, integer, oneOf, text, textOrNone } from "./scalars.ts";
import { noSecret } from "./secret.ts";
import { topology } from "./state.ts";

const meshTls = mapOf({
  ca: text.describe("Authority that all members' certificates come from (PEM)."),
  cert: text.describe("This node's certificate, as server and as client (PEM)."),
  key: text.describe("Its private key (PEM)."),
});

const peers = listOf(mapOf({ host: text.describe("`host:port` of another member.") }));

/** Keys of a gossip mesh: of the section itself, and of the overlay beside a lease backend. */
function meshKeys(section: string) {
  const positive = (key: string) => within(integer, (seconds) => seconds > 0, `${section}.${key} must be > 0`);
  return {
    listen: text.optional().describe("`host:port` on which this node meets its peers."),
    tls: meshTls.optional().describe("Certificates with which members know each other."),
    peers: peers.optional().describe("The other members."),
    nodeName: text.optional().describe("Name of this node, unique and stable; without it the host name."),
    interval: positive("interval").optional().describe("Seconds between rounds; without it 30."),
    driftAfter: within(integer, (rounds) => rounds >= 1, `${section}.driftAfter must be >= 1`)
      .optional()
      .describe("Rounds with a different job set before a peer counts as drifted; without it 3."),
    connectTimeout: positive("connectTimeout").optional().describe("Seconds for one request to a peer; without it 10."),
  };
}

const observability = mapOf({
  shareNodeStats: bool.default(true).describe("Tell the others this node's processor and memory use."),
  ...meshKeys("cluster.observability"),
});

const kubernetes = mapOf({
  leaseName: text.default("cronstable-leader").describe("Name of the Lease object."),
  leaseNamespace: textOrNone.default(null).describe("Its namespace; without it the pod's own."),
  leaseDurationSeconds: integer.default(15).describe("How long a renewal is valid."),
  renewDeadlineSeconds: integer.default(10).describe("Longest time one renewal may take."),
  retryPeriodSeconds: integer.default(2).describe("Wait between rounds."),
  identity: textOrNone.default(null).describe("Name of this node as holder; without it `nodeName`."),
  kubeconfig: textOrNone.default(null).describe("Credentials outside a cluster."),
  apiServer: textOrNone.default(null).describe("Address of the API server, `https://`."),
  clientLibrary: oneOf("auto", "http", "library").default("auto").describe("Which client talks to it."),
});

const etcd = mapOf({
  endpoints: within(
    listOf(text),
    (endpoints) => endpoints.length > 0,
    "cluster.etcd.endpoints must name at least one endpoint",
  )
    .default(["http://127.0.0.1:2379"])
    .describe("Members of the etcd cluster. A list of yours replaces this one."),
  electionName: text.default("cronstable/leader").describe("Key under which the election is held."),
  ttl: integer.default(15).describe("Seconds a leader's lease is valid."),
  username: textOrNone.default(null).describe("Login name."),
  password: noSecret.describe("Login password; read at load."),
  tls: mapOf({
    ca: textOrNone.default(null).describe("Authority of the server's certificate (PEM)."),
    cert: textOrNone.default(null).describe("Client certificate (PEM)."),
    key: textOrNone.default(null).describe("Its private key (PEM)."),
  })
    .optional()
    .describe("TLS towards etcd."),
});

const filesystem = mapOf({
  path: text.describe("Directory that all nodes share."),
  electionName: text.default("cluster/leader").describe("Name of the lease in the directory."),
  ttl: float.default(15).describe("Seconds a leader's lease is valid."),
  deploymentId: textOrNone
    .default(null)
    .describe("Name of this deployment within the directory; without it `default`."),
  topology: topology.default("auto").describe("As in `state`."),
});

export const cluster = mapOf({
  backend: oneOf("gossip", "kubernetes", "etcd", "filesystem").default("gossip").describe("What elects the leader."),
  ...meshKeys("cluster"),
  electLeader: bool.optional().describe("gossip: elect a leader, not only watch. The other backends always do."),
  distribution: oneOf("single-leader", "spread")
    .default("single-leader")
    .describe("gossip: one leader runs all `Leader` jobs, or each job has an owner of its own."),
  kubernetes: kubernetes.optional().describe("For `backend: kubernetes`."),
  etcd: etcd.optional().describe("For `backend: etcd`."),
  filesystem: filesystem.optional().describe("For `backend: filesystem`."),
  observability: observability.optional().describe("What this node tells the others about itself."),
});

export type ClusterOptions = z.output<typeof cluster>;
export type MeshOptions = Pick<ClusterOptions, keyof ReturnType<typeof meshKeys>>;

/** What the optional blocks of the chosen backend are when they are absent. */
export const kubernetesDefaults = kubernetes.parse({});
export const etcdDefaults = etcd.parse({});
