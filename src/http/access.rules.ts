import type { Scope } from "../config/model.ts";

/**
 * Who may do what (http 4). Facts in, a verdict out:
 *   A1. The gate against other sites comes first, for every path, known or not (4.6).
 *   A2. A public path looks at no credential, right or wrong (4.4).
 *   A3. A credential that is wrong is 401 everywhere; it never falls back to what strangers may do (4.5).
 *   A4. The scope asked for goes by the route; for what is no route, by the method (4.4).
 */

/** Who asks. `open`: no token is configured, so everybody may do everything. */
export type Caller =
  | { readonly kind: "open" }
  | { readonly kind: "anonymous" }
  | { readonly kind: "token"; readonly label: string; readonly scopes: ReadonlySet<Scope> };

export interface AccessPolicy {
  /** Whether any token is configured. */
  readonly hasTokens: boolean;
  readonly anonymousMayView: boolean;
  readonly publicPaths: ReadonlySet<string>;
  /** Exact values of `Origin` that may change things; "any" when the gate is off. */
  readonly allowedOrigins: ReadonlySet<string> | "any";
  /** The caller whose token this is, null for none. Takes the same time whatever is presented. */
  recognize(token: Buffer): Caller | null;
}

export interface AccessRequest {
  readonly method: string;
  /** As it came, without the query. */
  readonly path: string;
  /** What the matched route asks for; null without one. */
  readonly routeScope: Scope | null;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** More than one such header is no credential. */
  readonly authorization: string | undefined | "ambiguous";
  /** `Access-Control-Request-Method` is there. */
  readonly isPreflight: boolean;
  /** The query parameter `token`, asked for only where it matters. */
  queryToken(): string | null;
}

export type Access =
  | { readonly kind: "granted"; readonly caller: Caller }
  | { readonly kind: "refused"; readonly status: 401 | 403; readonly error: string };

const everyScope: readonly Scope[] = ["approve", "control", "view"];
const unauthorized: Access = { kind: "refused", status: 401, error: "401: Unauthorized" };
const stranger: Caller = { kind: "open" };
const anonymous: Caller = { kind: "anonymous" };

export function judgeAccess(policy: AccessPolicy, request: AccessRequest): Access {
  if (!originMayAsk(policy, request)) return forbidden(ORIGIN_REFUSED); // A1
  if (!policy.hasTokens || policy.publicPaths.has(request.path)) return granted(stranger); // A2
  if (request.method === "OPTIONS" && request.isPreflight) return granted(stranger);
  const token = presentedToken(request);
  const scope = scopeAsked(request);
  if (token !== null) {
    const caller = token.length === 0 ? null : policy.recognize(token);
    if (caller === null) return unauthorized; // A3
    if (caller.kind === "token" && !caller.scopes.has(scope))
      return forbidden(`token '${caller.label}' lacks the '${scope}' scope required for this endpoint`);
    return granted(caller);
  }
  if (!policy.anonymousMayView || !hasNoCredential(request)) return unauthorized;
  if (request.path === "/push/devices")
    return forbidden(`the device registry is not served anonymously; present a bearer token with the '${scope}' scope`);
  if (scope === "view") return granted(anonymous);
  return forbidden(
    `anonymous access to this daemon grants only the 'view' scope; this endpoint requires '${scope}'; present a bearer token`,
  );
}

/** All that a set of scopes amounts to: `control` and `approve` each imply `view`. */
export function expandedScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set<Scope>(scopes.length === 0 ? [] : [...scopes, "view"]);
}

/** What the caller may do, sorted. */
export function scopesOf(caller: Caller): readonly Scope[] {
  switch (caller.kind) {
    case "open":
      return everyScope;
    case "anonymous":
      return ["view"];
    case "token":
      return everyScope.filter((scope) => caller.scopes.has(scope));
  }
}

const ORIGIN_REFUSED =
  "Origin not allowed: cross-site requests to the cronstable control API are refused; add the origin to web.allowedOrigins if it is trusted";

/** Browsers say who made them ask; scripts do not (4.6). */
function originMayAsk({ allowedOrigins }: AccessPolicy, request: AccessRequest): boolean {
  const { method, origin, path } = request;
  if (origin === undefined || method === "GET" || method === "HEAD" || method === "OPTIONS") return true;
  if (path === "/mcp") return true; // it has a list of its own
  if (allowedOrigins === "any" || allowedOrigins.has(origin)) return true;
  return request.host !== undefined && isSameHost(origin, request.host);
}

const ORIGIN_FORM = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(?::(\d{1,5}))?$/i;
const HOST_FORM = /^(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(?::(\d{1,5}))?$/i;

/** Ports left out are those of the origin's scheme; the scheme itself does not matter, a proxy may have ended TLS. */
function isSameHost(origin: string, host: string): boolean {
  const [, scheme, originHost, originPort] = ORIGIN_FORM.exec(origin) ?? [];
  const [, ownHost, ownPort] = HOST_FORM.exec(host) ?? [];
  if (scheme === undefined || originHost === undefined || ownHost === undefined) return false;
  const usual = scheme.toLowerCase() === "https" ? 443 : 80;
  return originHost.toLowerCase() === ownHost.toLowerCase() && Number(originPort ?? usual) === Number(ownPort ?? usual);
}

function scopeAsked({ method, path, routeScope }: AccessRequest): Scope {
  if (path === "/mcp") return "control";
  if (routeScope !== null) return routeScope;
  return method === "GET" || method === "HEAD" || method === "OPTIONS" ? "view" : "control"; // A4
}

/** The bytes that were presented; null when nothing was that could be a token (4.3). */
function presentedToken({ authorization, path, queryToken }: AccessRequest): Buffer | null {
  if (authorization === "ambiguous") return Buffer.alloc(0);
  const header = authorization ?? "";
  const space = header.indexOf(" ");
  const scheme = space === -1 ? header : header.slice(0, space);
  // A header's text is bytes as they came, one to a character.
  if (scheme.toLowerCase() === "bearer") return Buffer.from(space === -1 ? "" : header.slice(space + 1), "latin1");
  const inQuery = path.endsWith("/calendar.ics") ? queryToken() : null;
  return inQuery === null || inQuery === "" ? null : Buffer.from(inQuery, "utf8");
}

function hasNoCredential({ authorization, queryToken }: AccessRequest): boolean {
  return (authorization === undefined || authorization === "") && (queryToken() ?? "") === "";
}

function granted(caller: Caller): Access {
  return { kind: "granted", caller };
}

function forbidden(error: string): Access {
  return { kind: "refused", status: 403, error };
}
