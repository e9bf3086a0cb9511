/** The `web` section (config 7.1). */
import type { z } from "zod";
import { listOf, mapOf, orAbsent, tableOf, within } from "./collections.ts";
import { bool, float, integer, oneOf, text, textOrNone } from "./scalars.ts";
import { secretKeys, secretSource } from "./secret.ts";

const metrics = mapOf({
  enabled: bool.default(true).describe("Whether `/metrics` answers."),
  public: bool.default(false).describe("Answer without a token."),
  durationBuckets: within(
    listOf(float),
    (buckets) => buckets.length > 0,
    "web.metrics.durationBuckets must not be empty",
  )
    .optional()
    .describe("Upper bounds of the run duration histogram, in seconds."),
});

const nodeHistory = mapOf({
  enabled: bool.default(true).describe("Whether the node's own load is sampled."),
  interval: within(float, (seconds) => seconds >= 1, "web.nodeHistory.interval must be >= 1 second")
    .default(5)
    .describe("Seconds between samples."),
  points: within(
    integer,
    (points) => points >= 10 && points <= 50_000,
    "web.nodeHistory.points must be between 10 and 50000",
  )
    .default(720)
    .describe("Samples kept."),
});

const bonjour = mapOf({
  enabled: bool.default(true).describe("Whether to announce the web API on the local network."),
  name: text.optional().describe("Name it is announced under."),
});

const authTokens = listOf(
  mapOf({
    ...secretKeys,
    scopes: listOf(oneOf("view", "control", "approve")).describe("What the token may do."),
    label: text.optional().describe("Name shown for actions done with it."),
  }),
);

export const web = mapOf({
  listen: listOf(text).describe("Addresses: `http://host:port`, `https://host:port` or `unix:///path`."),
  headers: tableOf(text).default({}).describe("Headers added to every response; a `Content-Type` is ignored."),
  allowedOrigins: listOf(text).default([]).describe("Browser origins that may change anything, exactly as sent."),
  authToken: secretSource.optional().describe("A token that may do everything."),
  authTokens: authTokens.default([]).describe("Tokens with scopes of their own."),
  anonymousScopes: listOf(oneOf("view")).default([]).describe("What a request without a token may do; needs a token."),
  socketMode: text.optional().describe("Octal mode of the unix sockets."),
  tls: mapOf({
    cert: textOrNone.default(null).describe("Certificate chain (PEM)."),
    key: textOrNone.default(null).describe("Its private key (PEM)."),
    clientCa: textOrNone.default(null).describe("Clients must show a certificate of this authority."),
  })
    .optional()
    .describe("What `https://` addresses are served with."),
  ui: bool.default(true).describe("Serve the dashboard."),
  metrics: bool.or(metrics).default(true).describe("Prometheus metrics."),
  nodeHistory: bool.or(nodeHistory).default(true).describe("Curves of the node's own load."),
  bonjour: bool.or(bonjour).default(false).describe("Announce the web API on the local network (mDNS)."),
});

export type WebOptions = z.output<typeof web>;

export const mcp = mapOf({
  enabled: bool.default(false).describe("Serve the Model Context Protocol at `/mcp`; needs `web`."),
  readOnly: bool.default(true).describe("Offer no tool that changes anything, whatever `toolsets` lists."),
  toolsets: listOf(oneOf("observe", "act", "dags", "state"))
    .default(["observe"])
    .describe("Groups of tools offered."),
  allowedOrigins: listOf(text).default([]).describe("Browser origins that may connect."),
  allowUnauthenticated: bool.default(false).describe("Serve without a token on an address others can reach."),
  resources: bool.default(true).describe("Offer resources."),
  prompts: bool.default(true).describe("Offer prompts."),
  instructions: textOrNone.default(null).describe("Text given to the client's model."),
  maxRows: within(integer, (rows) => rows >= 1, "mcp.maxRows must be >= 1")
    .default(200)
    .describe("Rows in one answer."),
  maxBodyBytes: within(integer, (bytes) => bytes >= 1, "mcp.maxBodyBytes must be >= 1")
    .default(1_048_576)
    .describe("Size of one request."),
});

export type McpOptions = z.output<typeof mcp>;

/** A blank `mcp:` is the section with its defaults. */
export const noMcp = orAbsent(mcp).def.defaultValue;

/** What `metrics: true` and `nodeHistory: true` stand for. */
export const metricsWhenOn = metrics.parse({});
export const nodeHistoryWhenOn = nodeHistory.parse({});
