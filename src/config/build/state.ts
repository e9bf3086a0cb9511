/** The `state` section (config 7.3). */

import type { LoadFacts } from "../facts.ts";
import type { StateConfig } from "../model.ts";
import { shown } from "../options/scalars.ts";
import type { StateOptions } from "../options/state.ts";
import type { Findings } from "../problem.ts";
import type { Subject } from "../subject.ts";
import { isLoopback, isWildcard, portOf, splitPort } from "./address.ts";
import { absolutePath } from "./launch.ts";
import { gotBoth } from "./web.ts";

type JobApiOptions = StateOptions["jobApi"];

/** Null, and problems of `subject`, when the section contradicts itself. */
export function stateConfig(
  options: StateOptions,
  facts: LoadFacts,
  findings: Findings,
  subject: Subject,
): StateConfig | null {
  const path = options.path.trim() === "" ? null : absolutePath(options.path, facts);
  if (path === null) subject.problem(["path"], "state.path is required and must be non-empty");
  const problem = jobApiProblem(options.jobApi);
  if (problem !== null) subject.problem(["jobApi", problem.key], problem.problem);
  if (path === null || problem !== null) return null;
  warnOfPlainBind(options.jobApi, findings);
  if (options.maxRunsPerJob === 1)
    findings.warning("state.maxRunsPerJob 1 is raised to 2: the newest run has one before it");
  const { tls, listen, ...jobApi } = options.jobApi;
  const hasTls = Object.values(tls).some((file) => file !== null);
  return {
    path,
    topology: options.topology,
    deploymentId: options.deploymentId === "" ? null : (options.deploymentId ?? null),
    maxRunsPerJob: options.maxRunsPerJob === 1 ? 2 : options.maxRunsPerJob,
    onStoreUnavailable: options.onStoreUnavailable,
    gcGraceSeconds: options.gcGraceSeconds,
    maxOpsPerSecond: options.maxOpsPerSecond,
    slotTtlSeconds: options.slotTtlSeconds,
    jobApi: { ...jobApi, listen: listen ?? null, tls: hasTls ? tls : null },
  };
}

interface Listen {
  readonly secure: boolean;
  readonly host: string;
  /** Null when it is not 0 to 65535. */
  readonly port: number | null;
}

function listenOf(listen: string): Listen | "other scheme" {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(listen);
  const name = scheme?.[1]?.toLowerCase() ?? "http";
  if (name !== "http" && name !== "https") return "other scheme";
  const { host, port } = splitPort(listen.slice(scheme?.[0].length ?? 0).replace(/\/.*$/, ""));
  return { secure: name === "https", host, port: portOf(port, 0) };
}

function jobApiProblem(options: JobApiOptions): { readonly key: "listen" | "tls"; readonly problem: string } | null {
  const listen = options.listen === undefined ? null : listenOf(options.listen);
  if (listen === "other scheme")
    return inListen(
      "state.jobApi.listen must be an http:// or https:// URL or a bare host:port (the job CLI reaches the endpoint over TCP only)",
    );
  if (listen !== null && listen.port === null)
    return inListen(
      `state.jobApi.listen has an invalid port in ${shown(options.listen ?? "")}: it must be 0 to 65535, 0 for a free one`,
    );
  const tls = tlsProblem(options.tls, listen);
  if (tls !== null) return tls;
  if (listen === null || options.allowNonLoopbackBind || isLoopback(listen.host)) return null;
  return inListen(
    `state.jobApi.listen host ${shown(listen.host)} is not loopback; serving the store to other hosts needs state.jobApi.allowNonLoopbackBind: true`,
  );
}

function inListen(problem: string): { readonly key: "listen"; readonly problem: string } {
  return { key: "listen", problem };
}

function tlsProblem({ cert, key, ca }: JobApiOptions["tls"], listen: Listen | null): ReturnType<typeof jobApiProblem> {
  const inTls = (problem: string) => ({ key: "tls", problem }) as const;
  if ((cert === null) !== (key === null))
    return inTls(`state.jobApi.tls.cert and state.jobApi.tls.key must be set together; got ${gotBoth(cert, key)}`);
  if ((cert !== null || ca !== null) && listen?.secure !== true)
    return inTls(
      "state.jobApi.tls is configured but state.jobApi.listen does not use https://; write https:// there, or drop tls",
    );
  if (listen?.secure !== true) return null;
  if (cert === null)
    return inListen("state.jobApi.listen uses https://, which needs state.jobApi.tls.cert and state.jobApi.tls.key");
  if (!isWildcard(listen.host)) return null;
  return inListen(
    `state.jobApi.listen uses https:// with the wildcard host ${shown(listen.host)}; name the host that the certificate is for`,
  );
}

function warnOfPlainBind({ listen, allowNonLoopbackBind }: JobApiOptions, findings: Findings): void {
  const at = listen === undefined ? null : listenOf(listen);
  if (at === null || at === "other scheme" || at.secure || isLoopback(at.host) || !allowNonLoopbackBind) return;
  findings.warning(
    `state.jobApi.listen ${shown(listen ?? "")} serves other hosts without TLS: tokens and values cross the network in the clear`,
  );
}
