import { validateHeaderName, validateHeaderValue } from "node:http";
import type { WebConfig } from "../config/model.ts";
import type { ControlPlane } from "../contract/control-plane.ts";
import type { Logger } from "../contract/log.ts";
import type { McpEndpoint } from "../contract/mcp-endpoint.ts";
import type { MetricsText } from "../metrics/metrics.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccessPolicy } from "./access.rules.ts";
import { createAccessLog } from "./access-log.ts";
import { type Announce, announceByMdns, createAdvertiser } from "./advert.ts";
import { allRoutes } from "./all-routes.ts";
import { fileSignature } from "./file-signature.ts";
import { type BoundAddress, createListeners } from "./listeners.ts";
import { type NodeHistory, startNodeHistory } from "./node-history.ts";
import { responseHeaders } from "./response-headers.ts";
import { createRouter } from "./router.ts";
import { createService, type Service } from "./service.ts";
import { loadTls, type TlsMaterial, tlsFiles } from "./tls-material.ts";
import { loadTokens, TokenProblem, type TokenTable, tokenFiles } from "./tokens.ts";
import type { UiAssets } from "./ui-assets.ts";

/** What the API is about to serve, and with what. */
export interface WebSettings {
  /** Null without a `web` section: nothing is served. */
  readonly config: WebConfig | null;
  /** Null while `mcp` is off. Another object is another configuration: the same section must be given as the same one. */
  readonly mcp: McpEndpoint | null;
}

export interface WebParts {
  readonly control: ControlPlane;
  readonly clock: Clock;
  readonly log: Logger;
  /** One INFO line per answered request. */
  readonly accessLog: Logger;
  /** Where `fromEnvVar` tokens are found. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly metrics: MetricsText | null;
  /** Null until the dashboard is built: `/` is then an unknown path. */
  readonly ui: UiAssets | null;
  /** How `web.bonjour` announces; multicast DNS when left out. */
  readonly announce?: Announce;
}

/**
 * The control API (http 1.2). It never stops jobs: what cannot be served now is said and tried again at the next `check`.
 *
 * A change (of the section, of certificate or token files) is prepared aside and put in force at once; addresses that stay are never
 * closed for it. While new certificates or tokens cannot be used, the old ones serve on.
 */
export interface Web {
  /** Takes other settings, with a reload. Resolves when they are in force, or known not to work yet. */
  apply(settings: WebSettings): Promise<void>;
  /** The look once a minute: changed files, and addresses that are not bound yet. */
  check(): Promise<void>;
  /** What is bound now. */
  addresses(): readonly BoundAddress[];
  /** Ends log streams, then connections, at most a second later. */
  stop(): Promise<void>;
}

/** What requests are answered by, and what it was made from. */
interface InForce {
  readonly settings: WebSettings;
  readonly section: string;
  readonly files: string;
  readonly tokensSeen: string;
  readonly service: Service;
  readonly history: NodeHistory | null;
}

type Renewal = { readonly kind: "in force"; readonly tls: TlsMaterial | null } | { readonly kind: "not usable" };

/** Resolves when each address has been tried once. */
export async function startWeb(settings: WebSettings, parts: WebParts): Promise<Web> {
  const { log } = parts;
  let wanted = settings;
  let inForce: InForce | null = null;
  let stopped = false;
  let work: Promise<void> = Promise.resolve();
  const listeners = createListeners({
    log,
    clock: parts.clock,
    serve: (request, response) => inForce?.service.serve(request, response),
  });

  const advertiser = createAdvertiser(parts.announce ?? announceByMdns, log);

  const takeDown = async (): Promise<void> => {
    if (inForce === null) return;
    await advertiser.withdraw();
    inForce.service.endStreams();
    inForce.history?.stop();
    await listeners.closeAll();
    inForce = null;
  };

  const settle = async (): Promise<void> => {
    const { config } = wanted;
    if (stopped) return;
    if (config === null || config.listen.length === 0) {
      if (inForce !== null) log.info("web: configuration changed, stopping http server");
      return takeDown();
    }
    const renewal = await renewed(config);
    if (renewal.kind === "in force") await listeners.bind(config, renewal.tls);
    // What is served stays as it is, with the addresses it has.
    else if (inForce?.settings.config != null) await listeners.bind(inForce.settings.config, listeners.material());
    await advertiser.update(inForce?.settings.config?.bonjour ?? null, listeners.bound());
  };

  /** Puts the wanted settings in force if something is new and usable. */
  const renewed = async (config: WebConfig): Promise<Renewal> => {
    // Looked at before anything is read: a change meanwhile is one at the next look.
    const [files, tokensSeen] = await Promise.all([
      fileSignature(tlsFiles(config.tls)),
      fileSignature(tokenFiles(config)),
    ]);
    const section = JSON.stringify(config);
    const reason = reasonToRenew({ settings: wanted, section, files, tokensSeen }, inForce);
    let tls: TlsMaterial | null;
    try {
      tls = await loadTls(config.tls);
    } catch (error) {
      log[inForce === null ? "error" : "warning"](tlsTrouble(error, inForce !== null));
      return { kind: "not usable" };
    }
    if (reason === null) return { kind: "in force", tls };
    let tokens: TokenTable;
    try {
      tokens = loadTokens(config, parts.environment);
    } catch (error) {
      if (!(error instanceof TokenProblem)) throw error;
      if (inForce === null) log.error(`Error in the web configuration, so not starting the web API: ${error.message}`);
      else
        log.warning(
          `web: a bearer token source is not resolvable (${error.message}); keeping the running listener and retrying next reload`,
        );
      return { kind: "not usable" };
    }
    const before = inForce;
    inForce = { settings: wanted, section, files, tokensSeen, ...assemble(wanted, config, tokens, parts) };
    if (before !== null) {
      log.info(`web: ${reason}; serving by the new state without a gap`);
      before.service.endStreams();
      before.history?.stop();
      listeners.renew(tls);
    }
    announceTokens(config, tokens, log);
    return { kind: "in force", tls };
  };

  /** One settling at a time, in order. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = work.then(step);
    work = done.catch((error: unknown) => {
      log.error(`web: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    });
    return work;
  };

  await inTurn(settle);
  return {
    apply(next) {
      return inTurn(() => {
        wanted = next;
        return settle();
      });
    },
    check: () => inTurn(settle),
    addresses: () => listeners.bound(),
    stop() {
      return inTurn(async () => {
        stopped = true;
        await takeDown();
      });
    },
  };
}

/** Null when nothing is new. */
function reasonToRenew(now: Omit<InForce, "service" | "history">, before: InForce | null): string | null {
  if (before === null || now.section !== before.section) return "configuration changed";
  if (now.settings.mcp !== before.settings.mcp) return "mcp configuration changed";
  if (now.files !== before.files) return "TLS certificate files changed";
  return now.tokensSeen === before.tokensSeen ? null : "web token files changed";
}

function tlsTrouble(error: unknown, isServing: boolean): string {
  const reason = error instanceof Error ? error.message : String(error);
  return isServing
    ? `web: new TLS material is not yet loadable (${reason}); keeping the running listener and retrying next reload`
    : `web: TLS material is not loadable, so the web API is not starting (retrying on the next config reload): ${reason}`;
}

function announceTokens({ anonymousScopes }: WebConfig, { count }: TokenTable, log: Logger): void {
  if (count === 0) return;
  const strangers = anonymousScopes.length > 0 ? "; anonymous requests granted scopes: view" : "";
  log.info(`web: requiring bearer-token authentication (${count} token${count === 1 ? "" : "s"}${strangers})`);
}

/** The routes, and the rules of who may use them. */
function assemble(
  { mcp }: WebSettings,
  config: WebConfig,
  tokens: TokenTable,
  { control, clock, log, accessLog, metrics, ui }: WebParts,
): Pick<InForce, "service" | "history"> {
  const history =
    config.nodeHistory === null ? null : startNodeHistory(config.nodeHistory, () => control.nodeUsage(), clock);
  const page = config.ui ? ui : null;
  const routes = allRoutes({
    control,
    clock,
    history,
    metrics: config.metrics === null || metrics === null ? null : { text: metrics, isPublic: config.metrics.public },
    mcp,
    ui: page,
  });
  const publicPaths = new Set<string>();
  if (page !== null) publicPaths.add("/");
  if (config.metrics?.public === true) publicPaths.add("/metrics");
  const headers = usableHeaders(config.headers, log);
  const policy: AccessPolicy = {
    hasTokens: tokens.count > 0,
    anonymousMayView: config.anonymousScopes.includes("view"),
    publicPaths,
    allowedOrigins: allowedOrigins(config, headers, log),
    recognize: tokens.recognize,
  };
  const service = createService({
    router: createRouter(routes),
    policy,
    headers: responseHeaders(headers),
    accessLog: createAccessLog(accessLog, clock),
    clock,
    log,
  });
  return { service, history };
}

/** Headers that can be sent at all; one that cannot would spoil every answer. */
function usableHeaders(configured: WebConfig["headers"], log: Logger): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(configured).filter(([name, value]) => {
      try {
        validateHeaderName(name);
        validateHeaderValue(name, value);
        return true;
      } catch (error) {
        log.warning(`web.headers: '${name}' is left out: ${error instanceof Error ? error.message : String(error)}`);
        return false;
      }
    }),
  );
}

/** An origin that the configured headers let read may change things too; letting everybody read turns the gate off (http 4.6). */
function allowedOrigins(
  config: WebConfig,
  headers: Readonly<Record<string, string>>,
  log: Logger,
): AccessPolicy["allowedOrigins"] {
  const shared = Object.entries(headers).find(([name]) => name.toLowerCase() === "access-control-allow-origin")?.[1];
  if (shared?.trim() === "*") {
    log.warning(
      "web.headers sets Access-Control-Allow-Origin to *: pages of every site may use this API, the gate against cross-site requests is off",
    );
    return "any";
  }
  return new Set([...config.allowedOrigins, ...(shared === undefined ? [] : [shared.trim()])]);
}
