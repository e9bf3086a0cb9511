import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { McpEndpoint } from "../../src/contract/mcp-endpoint.ts";
import { productOf } from "../../src/http/product.ts";
import { jobConfig } from "../support/job-config.ts";
import { type AskOptions, startWebNode, token, type WebNode } from "../support/web-node.ts";

/** Every route, and the scope it asks for (http 6). `null`: none. */
const routes: readonly (readonly [method: string, path: string, scope: "view" | "control" | "approve" | null])[] = [
  ["GET", "/version", "view"],
  ["GET", "/job-set-id", "view"],
  ["GET", "/status", "view"],
  ["GET", "/summary", "view"],
  ["GET", "/whoami", "view"],
  ["GET", "/jobs", "view"],
  ["GET", "/jobs/a", "view"],
  ["GET", "/jobs/a/runs", "view"],
  ["GET", "/jobs/a/runs/0123", "view"],
  ["GET", "/jobs/a/runs/0123/logs", "view"],
  ["GET", "/runs", "view"],
  ["GET", "/activity", "view"],
  ["GET", "/jobs/a/trends", "view"],
  ["GET", "/jobs/a/resources", "view"],
  ["GET", "/jobs/a/logs", "view"],
  ["POST", "/jobs/a/start", "control"],
  ["POST", "/jobs/a/cancel", "control"],
  ["POST", "/jobs/a/pause", "control"],
  ["POST", "/jobs/a/resume", "control"],
  ["GET", "/schedule/preview", "view"],
  ["GET", "/schedule/pressure", "view"],
  ["GET", "/schedule/duplicates", "view"],
  ["GET", "/schedule/suggest", "view"],
  ["GET", "/schedule/why", "view"],
  ["GET", "/calendar.ics", "view"],
  ["GET", "/jobs/a/calendar.ics", "view"],
  ["GET", "/cluster", "view"],
  ["GET", "/fleet", "view"],
  ["GET", "/node", "view"],
  ["GET", "/node/history", "view"],
  ["GET", "/dags", "view"],
  ["GET", "/dags/d/runs", "view"],
  ["GET", "/dags/d/runs/k", "view"],
  ["GET", "/dags/d/runs/k/xcom", "view"],
  ["GET", "/dags/d/runs/k/tasks/t/logs", "view"],
  ["POST", "/dags/d/trigger", "control"],
  ["POST", "/dags/d/backfill", "control"],
  ["POST", "/dags/d/runs/k/tasks/t/decision", "approve"],
  ["POST", "/dags/d/runs/k/recover", "control"],
  ["POST", "/dags/d/recover", "control"],
  ["GET", "/pools", "view"],
  ["POST", "/pools/a/queue/k/cancel", "control"],
  ["GET", "/state", "view"],
  ["GET", "/state/documents", "view"],
  ["GET", "/state/records", "view"],
  ["GET", "/push/devices", "view"],
  ["POST", "/push/devices", "control"],
  ["DELETE", "/push/devices/x", "control"],
  ["POST", "/push/devices/x/test", "control"],
  ["POST", "/shutdown", "control"],
  ["POST", "/mcp", "control"],
  ["GET", "/mcp", "control"],
  ["OPTIONS", "/mcp", "control"],
  ["GET", "/metrics", "view"],
  ["GET", "/openapi.json", "view"],
  ["GET", "/", null],
  ["GET", "/no/such/path", "view"],
  ["POST", "/no/such/path", "control"],
  ["PUT", "/jobs", "control"],
];

const mcp: McpEndpoint = { allowedOrigins: [], bodyBytesMax: 1024, answer: async () => "{}" };
const page = productOf({
  contentType: "text/html; charset=utf-8",
  body: Buffer.from("<p>"),
  etag: '"e"',
  vary: "Accept-Encoding",
});
const tokens = [
  token("view-secret", ["view"], "viewer"),
  token("control-secret", ["control"], "ci"),
  token("approve-secret", ["approve"], "boss"),
];
const jobs = [jobConfig({ name: "a", enabled: false })];
const folder = mkdtempSync(join(tmpdir(), "cronstable-web-"));
const socketPath = join(folder, "web.sock");

let node: WebNode;
let open: WebNode;
let strangers: WebNode;

beforeAll(async () => {
  const authToken = { value: "all-secret", fromFile: null, fromEnvVar: null };
  const web = { authToken, authTokens: tokens, listen: ["http://127.0.0.1:0", `unix://${socketPath}`] };
  node = await startWebNode({ jobs, web, mcp, webParts: { ui: { page } } });
  open = await startWebNode({ jobs, mcp, webParts: { ui: { page } } });
  strangers = await startWebNode({
    jobs,
    mcp,
    web: { authTokens: tokens, anonymousScopes: ["view"] },
    webParts: { ui: { page } },
  });
});
afterAll(async () => {
  await Promise.all([node.stop(), open.stop(), strangers.stop()]);
  rmSync(folder, { recursive: true });
});

const bearer = (value: string): AskOptions => ({ headers: { authorization: `Bearer ${value}` } });
const UNAUTHORIZED = '{"error":"401: Unauthorized"}';
/** What a request comes to that was let through; anything but a refusal of the caller. */
const letThrough = (status: number): boolean => status !== 401 && status !== 403;

const allows = {
  view: ["view"],
  control: ["view", "control"],
  approve: ["view", "approve"],
  all: ["view", "control", "approve"],
} as const;
const labels = { view: "viewer", control: "ci", approve: "boss" } as const;

describe.each(routes)("%s %s", (method, path, scope) => {
  test("no token and wrong ones: 401, byte for byte the same (acceptance 16, F48)", async () => {
    const wrong: AskOptions[] = [
      {},
      bearer("wrong"),
      bearer(""),
      bearer("all-secre"),
      bearer("all-secret2"),
      bearer(" all-secret"),
      bearer("äll-secret"),
      { headers: { authorization: "Basic YWxsLXNlY3JldA==" } },
      { headers: { authorization: "Bearer" } },
      { headers: { authorization: ["Bearer all-secret", "Bearer all-secret"] } },
    ];
    for (const options of wrong) {
      const answer = await node.ask(method, path, options);
      if (scope === null) expect(answer.status).toBe(200);
      else
        expect({ status: answer.status, text: answer.text, ask: answer.headers["www-authenticate"] }).toEqual({
          status: 401,
          text: UNAUTHORIZED,
          ask: undefined,
        });
    }
    expect((await node.ask(method, `${path}?token=all-secret`)).status === 401).toBe(
      scope !== null && !path.endsWith("/calendar.ics"),
    );
  });

  test.each(["view", "control", "approve", "all"] as const)("token with scope %s (acceptance 17)", async (held) => {
    const answer = await node.ask(method, path, bearer(`${held}-secret`));
    const may = scope === null || allows[held].some((own) => own === scope);
    if (may) expect(letThrough(answer.status) || path === "/mcp").toBe(true);
    else
      expect({ status: answer.status, body: answer.json() }).toEqual({
        status: 403,
        body: {
          error: `token '${labels[held as keyof typeof labels]}' lacks the '${scope}' scope required for this endpoint`,
        },
      });
  });

  test("another site's page: 403 before anything else, unless it only reads (acceptance 20, F49)", async () => {
    for (const origin of ["http://evil.example", "null", "garbage", "http://127.0.0.1:1"])
      for (const credential of [{}, bearer("all-secret").headers]) {
        const answer = await node.ask(method, path, { headers: { ...credential, origin } });
        const gated = !["GET", "HEAD", "OPTIONS"].includes(method) && path !== "/mcp";
        if (gated)
          expect({ status: answer.status, text: answer.text }).toEqual({
            status: 403,
            text: expect.stringMatching(/^\{"error":"Origin not allowed: cross-site/),
          });
        else expect(answer.text).not.toMatch(/cross-site/);
      }
  });

  test("over the socket file: the same tokens count", async () => {
    const to = { socketPath };
    const without = await node.ask(method, path, { to });
    expect(without.status).toBe(scope === null ? 200 : 401);
    expect((await node.ask(method, path, { to, ...bearer("all-secret") })).status).not.toBe(401);
  });

  test("no tokens configured: everybody may, but nobody may stop the daemon", async () => {
    const answer = await open.ask(method, path);
    if (path === "/shutdown")
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: 403,
        text: expect.stringMatching(/requires bearer-token authentication/),
      });
    else expect(letThrough(answer.status) || (path === "/mcp" && method === "OPTIONS")).toBe(true);
    expect(open.shutdowns).toEqual([]);
  });

  test("strangers may look, but not at devices, and a wrong token is never taken for none (acceptance 18)", async () => {
    const answer = await strangers.ask(method, path);
    if (path === "/push/devices")
      expect(answer.json().error).toMatch(
        /^the device registry is not served anonymously; present a bearer token with the '(view|control)' scope$/,
      );
    else if (scope === null || scope === "view") expect(letThrough(answer.status)).toBe(true);
    else
      expect({ status: answer.status, body: answer.json() }).toEqual({
        status: 403,
        body: {
          error: `anonymous access to this daemon grants only the 'view' scope; this endpoint requires '${scope}'; present a bearer token`,
        },
      });
    if (scope === null) return;
    expect((await strangers.ask(method, path, bearer("wrong"))).text).toBe(UNAUTHORIZED);
    expect((await strangers.ask(method, `${path}?token=wrong`)).text).toBe(UNAUTHORIZED);
  });
});

test("the table above knows every route there is", async () => {
  const { paths } = (await open.get("/openapi.json")).json();
  const served = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{[^}]+\}/g, "*")}`),
  );
  const listed = routes.map(([method, path]) => {
    const segments = path
      .split("/")
      .map((segment) => (["a", "0123", "d", "k", "t", "x"].includes(segment) ? "*" : segment));
    return `${method} ${segments.join("/")}`;
  });
  expect(served.filter((route) => !listed.includes(route))).toEqual([]);
});

test("a bearer scheme in any case counts, and of a token every byte", async () => {
  for (const scheme of ["Bearer", "bearer", "BEARER"])
    expect((await node.get("/version", { authorization: `${scheme} all-secret` })).status).toBe(200);
});

test("whoami says what the credential is worth", async () => {
  const shown = async (by: WebNode, headers = {}) => (await by.get("/whoami", headers)).json();
  const pairLinkBase = "https://relay.cronstable.com/pair";
  const all = ["approve", "control", "view"];
  expect(await shown(open)).toEqual({ authenticated: false, label: null, scopes: all, allScopes: true, pairLinkBase });
  expect(await shown(strangers)).toEqual({
    authenticated: false,
    label: "anonymous",
    scopes: ["view"],
    allScopes: false,
    pairLinkBase,
  });
  expect(await shown(node, { authorization: "Bearer all-secret" })).toEqual({
    authenticated: true,
    label: "authToken",
    scopes: all,
    allScopes: true,
    pairLinkBase,
  });
  expect(await shown(node, { authorization: "Bearer control-secret" })).toEqual({
    authenticated: true,
    label: "ci",
    scopes: ["control", "view"],
    allScopes: false,
    pairLinkBase,
  });
});

test("a control token stops the daemon, an anonymous caller does not (acceptance 19)", async () => {
  expect((await strangers.ask("POST", "/shutdown")).status).toBe(403);
  expect((await node.ask("POST", "/shutdown", bearer("control-secret"))).json()).toEqual({ shuttingDown: true });
  expect(node.shutdowns.at(-1)).toBe("ci");
});

test("public metrics open nothing else (acceptance 34, F47)", async () => {
  const open = await startWebNode({
    jobs,
    web: { authTokens: tokens, metrics: { public: true, durationBuckets: null } },
  });
  try {
    expect((await open.get("/metrics", { authorization: "Bearer wrong" })).status).toBe(200);
    const spelled = [
      "/%6aobs",
      "//jobs",
      "/./jobs",
      "/JOBS",
      "/jobs/",
      "/metrics/..%2fjobs",
      "/metrics/../jobs",
      "/metrics/",
      "/Metrics",
      "http://127.0.0.1/jobs",
      "/jobs?x=/metrics",
      "/metrics%2f..%2fjobs",
      "/jobs;/metrics",
    ];
    for (const path of spelled)
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
        const { status, text } = await open.ask(method, path, { headers: { "x-http-method-override": "GET" } });
        expect({ path, method, status, text }).toEqual({
          path,
          method,
          status: 401,
          text: method === "HEAD" ? "" : UNAUTHORIZED,
        });
      }
  } finally {
    await open.stop();
  }
});

test("without a section for them, pages and metrics are unknown paths (acceptance 34)", async () => {
  const bare = await startWebNode({ jobs, web: { metrics: null, ui: false }, webParts: { ui: { page } } });
  try {
    for (const path of ["/metrics", "/", "/mcp"]) expect((await bare.get(path)).status).toBe(404);
  } finally {
    await bare.stop();
  }
});
