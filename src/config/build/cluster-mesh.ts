/** A gossip mesh: the `gossip` backend, or the overlay beside a lease backend (cluster 2.3, 9.2). */
import { isIPv4, isIPv6 } from "node:net";
import type { LoadFacts } from "../facts.ts";
import type { ClusterMesh } from "../model.ts";
import type { ClusterOptions, MeshOptions } from "../options/cluster.ts";
import { shown } from "../options/scalars.ts";
import { type HostPort, isLoopback, isWildcard, portOf, splitPort, unbracketed } from "./address.ts";

export type Refuse = (path: readonly string[], problem: string) => void;

/** Keys of a mesh that a lease backend does not read. */
export const meshKeyNames = ["listen", "tls", "peers", "interval", "driftAfter"] as const;

const required = ["listen", "tls", "peers"] as const;

/** Null, and problems, when the mesh of `backend: gossip` will not do. */
export function gossipMesh(
  options: ClusterOptions,
  nodeName: string,
  advisories: string[],
  refuse: Refuse,
): ClusterMesh | null {
  const missing = required.filter((key) => options[key] === undefined);
  for (const key of missing) refuse([], `cluster.backend gossip requires cluster.${key}`);
  const mesh = meshOf(options, "cluster", [], nodeName, refuse);
  if (mesh === null) return null;
  if (options.electLeader === true) checkSize(mesh, nodeName, advisories, refuse);
  return mesh;
}

/** The mesh of `cluster.observability`; null where there is none, and, with problems, where it will not do. */
export function overlayMesh(
  { backend, observability, nodeName, connectTimeout }: ClusterOptions,
  facts: LoadFacts,
  refuse: Refuse,
): ClusterMesh | null {
  if (observability === undefined) return null;
  const section = "cluster.observability";
  if (backend === "gossip") {
    if (required.some((key) => observability[key] !== undefined))
      refuse(
        ["observability"],
        `${section}.{listen,tls,peers} is redundant with backend: gossip (its own mesh already shares what nodes tell); drop them`,
      );
    for (const key of ["nodeName", "interval", "driftAfter", "connectTimeout"] as const)
      if (observability[key] !== undefined)
        refuse(
          ["observability", key],
          `${section}.${key} only applies to the overlay mesh of a lease backend; set cluster.${key} instead`,
        );
    return null;
  }
  const missing = required.filter((key) => observability[key] === undefined);
  for (const key of missing)
    refuse(
      ["observability"],
      `${section} requires ${section}.${key} when backend is '${backend}' (a lease does not carry what nodes tell each other)`,
    );
  const inherited = { connectTimeout, ...withoutUnset(observability) };
  const name = observability.nodeName || nodeName || facts.hostName;
  return meshOf(inherited, section, ["observability"], name, refuse);
}

function withoutUnset(options: MeshOptions): MeshOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function meshOf(
  options: MeshOptions,
  section: string,
  at: readonly string[],
  nodeName: string,
  refuse: Refuse,
): ClusterMesh | null {
  const { listen, tls, peers } = options;
  const own = listen === undefined ? null : addressOf(listen, `${section}.listen`, [...at, "listen"], refuse);
  const addresses = (peers ?? []).map(({ host }) => addressOf(host, "peers[].host", [...at, "peers"], refuse));
  if (listen === undefined || tls === undefined || peers === undefined || own === null) return null;
  if (addresses.includes(null)) return null;
  const others = new Set(peers.map(({ host }) => host).filter((host) => !isSelf(host, listen, own, nodeName)));
  return {
    listen,
    tls,
    peers: [...others],
    nodeName,
    intervalSeconds: options.interval ?? 30,
    driftAfter: options.driftAfter ?? 3,
    connectTimeoutSeconds: options.connectTimeout ?? 10,
  };
}

function addressOf(address: string, key: string, at: readonly string[], refuse: Refuse): HostPort | null {
  const got = `got ${shown(address)}`;
  if (address.startsWith("[") || address.includes("]")) {
    const [, host = "", port = ""] = /^\[([^\]]*)\]:([0-9]+)$/.exec(address) ?? [];
    const bracketed = portOf(port, 1);
    if (isIPv6(host) && bracketed !== null) return { host, port: bracketed };
    refuse(at, `${key} must be [ipv6]:port, ${got}`);
    return null;
  }
  const { host, port } = splitPort(address);
  if (host.includes(":")) {
    refuse(at, `${key} looks like a bare IPv6 address; write it as [ipv6]:port, ${got}`);
    return null;
  }
  const number = portOf(port, 1);
  if (host !== "" && number !== null) return { host, port: number };
  refuse(at, `${key} must be host:port, ${got}`);
  return null;
}

function portAndHost(address: string): HostPort {
  const { host, port } = splitPort(address);
  return { host: unbracketed(host), port: portOf(port, 1) ?? 0 };
}

/**
 * Whether an entry can only be this node. Dropping a real member would shrink what we take for a majority, so a name that merely
 * looks like ours, or would have to be resolved, stays.
 */
function isSelf(peer: string, listen: string, own: HostPort, nodeName: string): boolean {
  if (peer === listen) return true;
  const { host, port } = portAndHost(peer);
  if (!isWildcard(own.host) || port !== own.port) return false;
  if (host === nodeName) return true;
  const coversIPv4 = own.host === "0.0.0.0" || own.host === "*";
  if (isIPv4(host)) return coversIPv4 && isLoopback(host);
  return isIPv6(host) && !coversIPv4 && isLoopback(host);
}

/** How many members an election needs (cluster 2.3). */
function checkSize({ listen, peers }: ClusterMesh, nodeName: string, advisories: string[], refuse: Refuse): void {
  const size = peers.length + 1;
  if (size === 2)
    refuse(
      ["electLeader"],
      "cluster.electLeader needs a fault-tolerant cluster, but this config declares only 2 nodes (1 peer). " +
        "With two, the loss of either stops the election; declare three, or elect through a lease backend",
    );
  if (size > 2 && size % 2 === 0)
    advisories.push(
      `cluster: ${size} nodes tolerate the loss of no more nodes than ${size - 1} would; an odd number is better`,
    );
  const own = portAndHost(listen);
  const looksLikeSelf = peers.filter((peer) => {
    const { host, port } = portAndHost(peer);
    if (port !== own.port) return false;
    const isOurName = isWildcard(own.host) && host.split(".")[0] === nodeName && !isIPv4(host);
    return isOurName || isLoopback(host);
  });
  if (looksLikeSelf.length > 0 && size - looksLikeSelf.length <= 2)
    advisories.push(
      `cluster.peers ${looksLikeSelf.join(", ")} may be this node itself; without it ${size - looksLikeSelf.length} node(s) are left, too few for an election`,
    );
}
