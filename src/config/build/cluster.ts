/** The `cluster` section (config 7.6, cluster 2). */
import type { LoadFacts } from "../facts.ts";
import type { ClusterConfig } from "../model.ts";
import type { ClusterOptions } from "../options/cluster.ts";
import type { Subject } from "../subject.ts";
import { gossipMesh, meshKeyNames, overlayMesh } from "./cluster-mesh.ts";
import { etcdBackend, filesystemBackend, kubernetesBackend } from "./cluster-stores.ts";

/** Null, and problems of `subject`, when the section will not do. Certificates are not opened; etcd's password is read. */
export function clusterConfig(
  options: ClusterOptions,
  facts: LoadFacts,
  readSecret: (path: string) => string | null,
  subject: Subject,
): ClusterConfig | null {
  const { backend } = options;
  let whole = true;
  const refuse = (path: readonly string[], problem: string): void => {
    whole = false;
    subject.problem(path, problem);
  };
  for (const other of ["kubernetes", "etcd", "filesystem"] as const)
    if (other !== backend && options[other] !== undefined)
      refuse(
        [other],
        `cluster.${other} is configured but cluster.backend is '${backend}'; that store block would be silently ignored. ` +
          `Set cluster.backend: ${other}, or drop the block`,
      );
  const advisories: string[] = [];
  const nodeName = options.nodeName === undefined || options.nodeName === "" ? facts.hostName : options.nodeName;
  const common = {
    nodeName,
    connectTimeoutSeconds: options.connectTimeout ?? 10,
    shareNodeStats: options.observability?.shareNodeStats ?? false,
  };
  const isGossip = backend === "gossip";
  if (isGossip) {
    const mesh = gossipMesh(options, nodeName, advisories, refuse);
    overlayMesh(options, facts, refuse);
    const electLeader = options.electLeader ?? false;
    if (!electLeader && options.distribution === "spread")
      advisories.push("cluster.distribution: spread has no effect without cluster.electLeader: true");
    if (mesh === null || !whole) return null;
    const { distribution } = options;
    return { ...common, electLeader, distribution, backend: { kind: "gossip", mesh }, observability: null, advisories };
  }
  if (options.distribution === "spread")
    refuse(
      ["distribution"],
      `cluster.distribution: spread is not supported with the '${backend}' backend (a lease has one holder); use backend: gossip`,
    );
  if (options.electLeader === false)
    advisories.push(
      `cluster.electLeader: false is ignored by the '${backend}' backend; a lease backend always enables leader election`,
    );
  const unused = meshKeyNames.filter((key) => options[key] !== undefined);
  if (unused.length > 0) {
    const lease = unused.includes("tls") ? "; cluster.tls does not protect the lease store" : "";
    advisories.push(`cluster.${unused.join(", cluster.")}: ignored by the '${backend}' backend${lease}`);
  }
  const store =
    backend === "kubernetes"
      ? kubernetesBackend(options.kubernetes, refuse)
      : backend === "etcd"
        ? etcdBackend(options.etcd, facts, readSecret, advisories, refuse)
        : filesystemBackend(options.filesystem, facts, refuse);
  const observability = overlayMesh(options, facts, refuse);
  if (store === null || !whole) return null;
  return { ...common, electLeader: true, distribution: "single-leader", backend: store, observability, advisories };
}
