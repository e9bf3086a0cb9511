/** The `web` and `mcp` sections (config 7.1, 7.2), and which listeners others can reach. */

import type { McpConfig, WebConfig } from "../model.ts";
import { shown } from "../options/scalars.ts";
import { type McpOptions, metricsWhenOn, nodeHistoryWhenOn, type WebOptions } from "../options/web.ts";
import type { Findings } from "../problem.ts";
import type { Subject } from "../subject.ts";
import { isLoopback, splitPort } from "./address.ts";

/** Null, and problems of `subject`, when the section contradicts itself. Neither files nor secrets are opened. */
export function webConfig(options: WebOptions, findings: Findings, subject: Subject): WebConfig | null {
  const tls =
    options.tls !== undefined && Object.values(options.tls).some((path) => path !== null) ? options.tls : null;
  const metrics = options.metrics === true ? metricsWhenOn : options.metrics || null;
  const nodeHistory = options.nodeHistory === true ? nodeHistoryWhenOn : options.nodeHistory || null;
  const bonjour = options.bonjour === true ? { enabled: true } : options.bonjour || null;
  const authToken = options.authToken ?? null;
  const problems: (readonly [path: readonly string[], problem: string])[] = [];

  if (options.authTokens.some(({ label }) => label === "anonymous"))
    problems.push([
      ["authTokens"],
      "web.authTokens label 'anonymous' is reserved: it stands for requests without a token; choose another label",
    ]);
  if (options.anonymousScopes.length > 0 && authToken === null && options.authTokens.length === 0)
    problems.push([
      ["anonymousScopes"],
      "web.anonymousScopes is set but no web.authToken or web.authTokens entry is configured; " +
        "without tokens every request may do everything, so set one or drop anonymousScopes",
    ]);
  const buckets = metrics?.durationBuckets ?? null;
  if (buckets !== null && !isStrictlyIncreasing(buckets)) {
    const got = `[${buckets.map(pythonFloat).join(", ")}]`;
    const problem = `web.metrics.durationBuckets must be finite, positive and strictly increasing (got ${got})`;
    problems.push([["metrics", "durationBuckets"], problem]);
  }
  if (bonjour?.enabled === true && !options.listen.some((address) => !isUnix(address)))
    problems.push([
      ["bonjour"],
      "web.bonjour needs a TCP web listener to advertise, but every web.listen entry is a unix socket",
    ]);
  const tlsIssue = tlsProblem(tls, options.listen);
  if (tlsIssue !== null) problems.push([["tls"], tlsIssue]);

  for (const [path, problem] of problems) subject.problem(path, problem);
  if (problems.length > 0) return null;
  return {
    listen: options.listen,
    headers: options.headers,
    allowedOrigins: options.allowedOrigins,
    authToken,
    authTokens: options.authTokens.map(({ scopes, label, ...source }) => ({ source, scopes, label: label ?? null })),
    anonymousScopes: options.anonymousScopes,
    socketMode: socketMode(options.socketMode, findings),
    tls,
    ui: options.ui,
    metrics: metrics?.enabled === true ? { public: metrics.public, durationBuckets: buckets } : null,
    nodeHistory:
      nodeHistory?.enabled === true ? { intervalSeconds: nodeHistory.interval, points: nodeHistory.points } : null,
    bonjour: bonjour?.enabled === true ? { name: bonjour.name ?? null } : null,
  };
}

function isUnix(address: string): boolean {
  return address.startsWith("unix://");
}

function isHttps(address: string): boolean {
  return address.toLowerCase().startsWith("https://");
}

function tlsProblem(tls: WebConfig["tls"], listen: readonly string[]): string | null {
  const { cert, key, clientCa } = tls ?? { cert: null, key: null, clientCa: null };
  if ((cert === null) !== (key === null))
    return `web.tls.cert and web.tls.key must be set together (a server certificate needs its private key); got ${gotBoth(cert, key)}`;
  if (clientCa !== null && cert === null)
    return "web.tls.clientCa is set but web.tls.cert and web.tls.key are not; client certificates are asked for over https only";
  const secure = listen.filter(isHttps);
  if (tls !== null && secure.length === 0)
    return (
      "web.tls is configured but no web.listen address uses https:// , so the TLS material would be ignored and the API " +
      "served in cleartext; write https:// in web.listen, or drop web.tls"
    );
  if (secure.length > 0 && cert === null)
    return `web.listen has https:// address(es) ${secure.join(", ")} but no web.tls.cert / web.tls.key, which they need`;
  return null;
}

/** Which of a pair is set, in the words existing log parsers know. */
export function gotBoth(cert: string | null, key: string | null): string {
  const word = (value: string | null): string => (value === null ? "False" : "True");
  return `cert=${word(cert)}, key=${word(key)}`;
}

function isStrictlyIncreasing(buckets: readonly number[]): boolean {
  return buckets.every((bucket, index) => Number.isFinite(bucket) && bucket > (buckets[index - 1] ?? 0));
}

function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value);
}

function socketMode(mode: string | undefined, findings: Findings): number | null {
  if (mode === undefined) return null;
  const digits = mode.replace(/^0o/i, "");
  if (/^[0-7]{1,4}$/.test(digits)) return Number.parseInt(digits, 8);
  findings.warning(
    `web.socketMode ${shown(mode)} is not an octal mode such as 0660; the sockets keep the mode they get`,
  );
  return null;
}

/**
 * Listeners that anyone who can reach this host may use (7.2): not loopback, no unix socket, no client certificate asked for, while no
 * token is configured. A token block counts even if it will resolve to nothing.
 */
export function openListeners({ listen, tls, authToken, authTokens }: WebConfig): readonly string[] {
  if (authToken !== null || authTokens.length > 0) return [];
  const asksForCertificate = tls !== null && tls.clientCa !== null;
  return listen.filter(
    (address) => !isUnix(address) && !(isHttps(address) && asksForCertificate) && !isLoopback(listenHost(address)),
  );
}

/** The host of a listen entry, also of one that will not bind: the gate errs on the safe side. */
function listenHost(address: string): string {
  if (URL.canParse(address) && /^https?:\/\//i.test(address)) return new URL(address).hostname;
  return splitPort(address.replace(/^[^:/]*:\/\//, "").replace(/\/.*$/, "")).host;
}

export function mcpConfig(options: McpOptions, findings: Findings): McpConfig {
  if (options.enabled && options.readOnly && options.toolsets.includes("act"))
    findings.warning(
      "mcp.toolsets lists 'act' but mcp.readOnly is true, which wins: no tool that changes anything is offered",
    );
  return { ...options, toolsets: [...new Set(options.toolsets)] };
}
