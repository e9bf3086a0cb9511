/** The lease backends (cluster 2.4-2.6). */

import type { LoadFacts } from "../facts.ts";
import type { ClusterConfig } from "../model.ts";
import { type ClusterOptions, etcdDefaults, kubernetesDefaults } from "../options/cluster.ts";
import { shown } from "../options/scalars.ts";
import { httpHost, portOf, redacted, splitPort } from "./address.ts";
import type { Refuse } from "./cluster-mesh.ts";
import { absolutePath } from "./launch.ts";
import { isNamed } from "./report.ts";

type Backend<Kind extends ClusterConfig["backend"]["kind"]> = Extract<ClusterConfig["backend"], { kind: Kind }>;

/** Collects whether anything was refused. */
function refusing(refuse: Refuse): { readonly refuse: Refuse; readonly any: () => boolean } {
  let any = false;
  return {
    refuse(path, problem) {
      any = true;
      refuse(path, problem);
    },
    any: () => any,
  };
}

export function kubernetesBackend(
  options: ClusterOptions["kubernetes"] = kubernetesDefaults,
  outer: Refuse,
): Backend<"kubernetes"> | null {
  const { refuse, any } = refusing(outer);
  const section = "cluster.kubernetes";
  const at = (key: string): readonly string[] => ["kubernetes", key];
  const { leaseDurationSeconds: duration, renewDeadlineSeconds: renew, retryPeriodSeconds: retry } = options;
  if (options.leaseName.length > 253 || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(options.leaseName))
    refuse(
      at("leaseName"),
      `${section}.leaseName must be an RFC 1123 subdomain of at most 253 characters, got ${shown(options.leaseName)}`,
    );
  const namespace = options.leaseNamespace;
  if (namespace !== null && (namespace.length > 63 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)))
    refuse(
      at("leaseNamespace"),
      `${section}.leaseNamespace must be an RFC 1123 label of at most 63 characters, got ${shown(namespace)}`,
    );
  if (renew <= 0) refuse(at("renewDeadlineSeconds"), `${section}.renewDeadlineSeconds must be > 0`);
  else if (duration <= renew)
    refuse(at("leaseDurationSeconds"), `${section}.leaseDurationSeconds must be > renewDeadlineSeconds`);
  if (retry <= 0) refuse(at("retryPeriodSeconds"), `${section}.retryPeriodSeconds must be > 0`);
  else if (renew > 0 && retry >= renew)
    refuse(at("retryPeriodSeconds"), `${section}.retryPeriodSeconds must be < renewDeadlineSeconds`);
  else if (renew > 0 && duration > renew && renew + retry >= duration)
    refuse(
      at("retryPeriodSeconds"),
      `${section}: renewDeadlineSeconds + retryPeriodSeconds must be < leaseDurationSeconds, or a lease can lapse between two rounds`,
    );
  const { apiServer } = options;
  if (apiServer !== null && !(apiServer.startsWith("https://") && httpHost(apiServer) !== null))
    refuse(at("apiServer"), `${section}.apiServer must be an https:// URL, got ${shown(redacted(apiServer))}`);
  if (any()) return null;
  return { kind: "kubernetes", ...options };
}

export function etcdBackend(
  options: ClusterOptions["etcd"] = etcdDefaults,
  facts: LoadFacts,
  readSecret: (path: string) => string | null,
  advisories: string[],
  outer: Refuse,
): Backend<"etcd"> | null {
  const { refuse, any } = refusing(outer);
  const section = "cluster.etcd";
  const at = (key: string): readonly string[] => ["etcd", key];
  const { endpoints, ttl, username } = options;
  for (const endpoint of endpoints) {
    const problem = endpointProblem(endpoint);
    if (problem !== null) refuse(at("endpoints"), `${section}.endpoints ${problem}`);
  }
  if (!(ttl >= 3 && Number.isFinite(ttl)))
    refuse(
      at("ttl"),
      `${section}.ttl must be >= 3 seconds and finite (a shorter lease lapses between renewals); got ${ttl}`,
    );
  else if ((ttl - Math.max(1, ttl / 3) - 1) / 5 < 1)
    advisories.push(
      `${section}.ttl ${ttl} leaves less than a second for each request of a renewal; 9 or more is safer`,
    );
  const password = isNamed(options.password) ? passwordOf(options.password, facts, readSecret) : null;
  if (isNamed(options.password) && password === null)
    refuse(at("password"), `${section}.password is configured but resolved to an empty secret`);
  if (username !== null && !isNamed(options.password))
    refuse(at("username"), `${section}.username needs ${section}.password`);
  if (
    (username !== null || isNamed(options.password)) &&
    !endpoints.every((endpoint) => endpoint.startsWith("https://"))
  )
    refuse(at("endpoints"), `${section}.username and ${section}.password need every endpoint to be https://`);
  const tls =
    options.tls !== undefined && Object.values(options.tls).some((file) => file !== null) ? options.tls : null;
  if (tls !== null && (tls.cert === null) !== (tls.key === null))
    refuse(at("tls"), `${section}.tls.cert and ${section}.tls.key must be set together`);
  if (tls !== null && !endpoints.some((endpoint) => endpoint.startsWith("https://")))
    refuse(at("tls"), `${section}.tls is configured but no endpoint uses https://`);
  if (any()) return null;
  const { electionName } = options;
  return { kind: "etcd", endpoints, electionName, ttlSeconds: ttl, username, password, tls };
}

/** Userinfo is looked for first: what a mistaken address carries must not be quoted. */
function endpointProblem(endpoint: string): string | null {
  if (endpoint.includes("@"))
    return `must not carry a login, got ${shown(redacted(endpoint))}; use cluster.etcd.username and password`;
  const { port } = splitPort(endpoint.replace(/^[a-z]+:\/\//, "").replace(/\/.*$/, ""));
  if (httpHost(endpoint) !== null && (port === null || portOf(port, 1) !== null)) return null;
  return `must be http(s)://host[:port], got ${shown(endpoint)}`;
}

/** The first of the three sources that is not empty. */
function passwordOf(
  { value, fromFile, fromEnvVar }: NonNullable<ClusterOptions["etcd"]>["password"],
  facts: LoadFacts,
  readSecret: (path: string) => string | null,
): string | null {
  if (value) return value;
  if (fromFile) return readSecret(fromFile)?.trim() || null;
  return (fromEnvVar && facts.environment[fromEnvVar]) || null;
}

export function filesystemBackend(
  options: ClusterOptions["filesystem"],
  facts: LoadFacts,
  outer: Refuse,
): Backend<"filesystem"> | null {
  const { refuse, any } = refusing(outer);
  const section = "cluster.filesystem";
  const path = options === undefined || options.path.trim() === "" ? null : absolutePath(options.path, facts);
  if (path === null)
    refuse(["filesystem"], `${section}.path is required and must be non-empty (it is the directory the nodes share)`);
  if (options === undefined) return null;
  const { electionName, ttl, deploymentId, topology } = options;
  if (electionName.trim() === "") refuse(["filesystem", "electionName"], `${section}.electionName must be non-blank`);
  if (!(ttl >= 3 && Number.isFinite(ttl)))
    refuse(
      ["filesystem", "ttl"],
      `${section}.ttl must be >= 3 seconds and finite (a shorter lease lapses between renewals); got ${ttl}`,
    );
  if (path === null || any()) return null;
  return { kind: "filesystem", path, electionName, ttlSeconds: ttl, deploymentId, topology };
}
