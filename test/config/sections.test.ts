import { expect, test } from "vitest";
import type { StateConfig, WebConfig } from "../../src/config/model.ts";
import { configOf, problemsOf } from "./loading.ts";

/** What is wrong with a file of this line, without places and paths. */
function problems(text: string): string[] {
  return problemsOf(text).map((problem) => problem.replace(/^cron\.yaml:\d+:\d+: [^ ]+: /, ""));
}

function web(keys: string): WebConfig | null {
  return configOf(`web: {listen: ["http://127.0.0.1:8080"], ${keys}}`).web;
}

const webProblems = (keys: string): string[] => problems(`web: {listen: ["http://127.0.0.1:8080"], ${keys}}`);

test("a web section that says only where to listen has the documented defaults", () => {
  expect(web("")).toEqual({
    listen: ["http://127.0.0.1:8080"],
    headers: {},
    allowedOrigins: [],
    authToken: null,
    authTokens: [],
    anonymousScopes: [],
    socketMode: null,
    tls: null,
    ui: true,
    metrics: { public: false, durationBuckets: null },
    nodeHistory: { intervalSeconds: 5, points: 720 },
    bonjour: null,
  });
});

test("parts of the web API are switched by a word or by a mapping", () => {
  expect(web("metrics: no, nodeHistory: no, bonjour: yes")).toMatchObject({
    metrics: null,
    nodeHistory: null,
    bonjour: { name: null },
  });
  expect(
    web("metrics: {public: yes, durationBuckets: [0.5, 1]}, nodeHistory: {enabled: no}, bonjour: {name: n}"),
  ).toMatchObject({
    metrics: { public: true, durationBuckets: [0.5, 1] },
    nodeHistory: null,
    bonjour: { name: "n" },
  });
});

test("tokens keep their sources, scopes and labels", () => {
  expect(
    web(
      "authToken: {fromFile: /t}, authTokens: [{value: v, scopes: [view, approve], label: ci}], anonymousScopes: [view]",
    ),
  ).toMatchObject({
    authToken: { value: null, fromFile: "/t", fromEnvVar: null },
    authTokens: [
      { source: { value: "v", fromFile: null, fromEnvVar: null }, scopes: ["view", "approve"], label: "ci" },
    ],
    anonymousScopes: ["view"],
  });
});

test.each([
  ["metrics: {durationBuckets: []}", "web.metrics.durationBuckets must not be empty"],
  [
    "metrics: {durationBuckets: [2, 1]}",
    "web.metrics.durationBuckets must be finite, positive and strictly increasing (got [2.0, 1.0])",
  ],
  [
    "metrics: {durationBuckets: [0, nan, inf, 0.25]}",
    "web.metrics.durationBuckets must be finite, positive and strictly increasing (got [0.0, nan, inf, 0.25])",
  ],
  ["nodeHistory: {interval: 0.9}", "web.nodeHistory.interval must be >= 1 second"],
  ["nodeHistory: {interval: nan}", "web.nodeHistory.interval must be >= 1 second"],
  ["nodeHistory: {points: 9}", "web.nodeHistory.points must be between 10 and 50000"],
  ["nodeHistory: {points: 50001}", "web.nodeHistory.points must be between 10 and 50000"],
  [
    "authTokens: [{value: v, scopes: [view], label: anonymous}]",
    "web.authTokens label 'anonymous' is reserved: it stands for requests without a token; choose another label",
  ],
  ["authTokens: [{value: v}]", "required key(s) 'scopes' not found"],
  ["authTokens: [{value: v, scopes: [admin]}]", "when expecting one of: view, control, approve; found 'admin'"],
  ["authToken: {value: v}, anonymousScopes: [control]", "when expecting one of: view; found 'control'"],
  [
    "anonymousScopes: [view]",
    "web.anonymousScopes is set but no web.authToken or web.authTokens entry is configured; " +
      "without tokens every request may do everything, so set one or drop anonymousScopes",
  ],
  [
    "tls: {cert: c}",
    "web.tls.cert and web.tls.key must be set together (a server certificate needs its private key); got cert=True, key=False",
  ],
  [
    "tls: {clientCa: c}",
    "web.tls.clientCa is set but web.tls.cert and web.tls.key are not; client certificates are asked for over https only",
  ],
  [
    "tls: {cert: c, key: k}",
    "web.tls is configured but no web.listen address uses https:// , so the TLS material would be ignored and the API " +
      "served in cleartext; write https:// in web.listen, or drop web.tls",
  ],
])("web: {%s} is refused", (keys, problem) => {
  expect(webProblems(keys)).toEqual([problem]);
});

test("just inside the ranges is accepted", () => {
  expect(webProblems("nodeHistory: {interval: 1, points: 10}")).toEqual([]);
  expect(webProblems("nodeHistory: {points: 50000}")).toEqual([]);
  expect(webProblems("tls: {cert: , key: , clientCa: }")).toEqual([]);
});

test("https needs a certificate, mDNS a TCP listener", () => {
  expect(problems('web: {listen: ["https://h:1", "http://h:2"], authToken: {value: v}}')).toEqual([
    "web.listen has https:// address(es) https://h:1 but no web.tls.cert / web.tls.key, which they need",
  ]);
  expect(problems('web: {listen: ["unix:///s"], bonjour: yes}')).toEqual([
    "web.bonjour needs a TCP web listener to advertise, but every web.listen entry is a unix socket",
  ]);
  expect(problems('web: {listen: ["unix:///s", "http://127.0.0.1:1"], bonjour: yes}')).toEqual([]);
});

test("the mode of sockets is octal; another text is a warning", () => {
  expect(web('socketMode: "0660"')?.socketMode).toBe(0o660);
  const odd = configOf("web: {listen: [], socketMode: rw}");
  expect(odd.web?.socketMode).toBeNull();
  expect(odd.warnings.map(({ message }) => message)).toEqual([
    "web.socketMode 'rw' is not an octal mode such as 0660; the sockets keep the mode they get",
  ]);
});

test("a blank mcp section has its defaults; other sections must say something", () => {
  expect(configOf("mcp:\n").mcp).toEqual({
    enabled: false,
    readOnly: true,
    toolsets: ["observe"],
    allowedOrigins: [],
    allowUnauthenticated: false,
    resources: true,
    prompts: true,
    instructions: null,
    maxRows: 200,
    maxBodyBytes: 1048576,
  });
  expect(problems("mcp: on\n")).toEqual(["when expecting a mapping, found arbitrary text 'on'"]);
  expect(problems("web:\n")).toEqual(["when expecting a mapping, found a blank string"]);
});

test("mcp tool sets replace the default, and read-only wins with a warning", () => {
  const config = configOf("mcp: {toolsets: [act, state, act]}");
  expect(config.mcp?.toolsets).toEqual(["act", "state"]);
  expect(configOf("mcp: {enabled: yes, toolsets: [act]}\nweb: {listen: ['unix:///s']}").warnings).toEqual([
    {
      level: "warning",
      message:
        "mcp.toolsets lists 'act' but mcp.readOnly is true, which wins: no tool that changes anything is offered",
    },
  ]);
  expect(problems("mcp: {maxRows: 0, maxBodyBytes: 0}")).toEqual([
    "mcp.maxRows must be >= 1",
    "mcp.maxBodyBytes must be >= 1",
  ]);
});

test("mcp is served by the web API", () => {
  const expected = [
    "mcp.enabled requires a `web` section with at least one `listen` address: MCP is served by the web API at /mcp",
  ];
  expect(problems("mcp: {enabled: yes}")).toEqual(expected);
  expect(problems("mcp: {enabled: yes}\nweb: {listen: []}")).toEqual(expected);
  expect(problems("mcp: {enabled: no}")).toEqual([]);
});

const open = 'listen: ["http://0.0.0.0:80", "http://127.0.0.1:81"]';

test.each([
  [`web: {${open}}`, "http://0.0.0.0:80"],
  ['web: {listen: ["http://example.org:80"]}', "http://example.org:80"],
  ['web: {listen: ["0.0.0.0:8080"]}', "0.0.0.0:8080"],
  ['web: {listen: ["http://[::]:80"]}', "http://[::]:80"],
  ['web: {listen: ["https://0.0.0.0:80"], tls: {cert: c, key: k}}', "https://0.0.0.0:80"],
])("with %s anybody could use mcp and pairing", (section, addresses) => {
  expect(problems(`mcp: {enabled: yes}\n${section}`)).toEqual([
    `mcp.enabled is set but no web.authToken/authTokens is set, and the web API listens on non-loopback address(es) ${addresses}; set a ` +
      "token, listen on loopback or a unix socket, ask for client certificates (web.tls.clientCa), or set mcp.allowUnauthenticated: true",
  ]);
  expect(problems(`push: {relay: {url: "http://r"}, devicesFile: /d}\n${section}`)).toEqual([
    `push is configured but no web.authToken/authTokens is set, and the web API listens on non-loopback address(es) ${addresses}; set a ` +
      "token, listen on loopback or a unix socket, ask for client certificates (web.tls.clientCa), or set push.allowUnauthenticated: true",
  ]);
});

test.each([
  `web: {${open}, authToken: {fromEnvVar: T}}`,
  `web: {${open}, authToken: {}}`,
  `web: {${open}, authTokens: [{value: v, scopes: [view]}]}`,
  'web: {listen: ["http://localhost:1", "http://127.8.9.10:1", "http://[::1]:1", "unix:///s"]}',
  'web: {listen: ["https://0.0.0.0:1"], tls: {cert: c, key: k, clientCa: a}}',
])("with %s they are guarded", (section) => {
  expect(problems(`mcp: {enabled: yes}\npush: {relay: {url: "http://r"}, devicesFile: /d}\n${section}`)).toEqual([]);
});

test("the gate can be left open on purpose", () => {
  expect(
    problems(
      `mcp: {enabled: yes, allowUnauthenticated: yes}\npush: {relay: {url: "http://r"}, devicesFile: /d, allowUnauthenticated: yes}\nweb: {${open}}`,
    ),
  ).toEqual([]);
});

test("push has a relay and a place for its devices", () => {
  expect(configOf('push: {relay: {url: "https://r/x"}, devicesFile: /d}').push).toEqual({
    relay: { url: "https://r/x", timeoutSeconds: 10 },
    devicesFile: "/d",
    allowUnauthenticated: false,
  });
  expect(problems('push: {relay: {url: "ftp://me:secret@r"}, devicesFile: /d}')).toEqual([
    "push.relay.url must be an http(s) URL, got 'ftp://***@r'",
  ]);
  expect(problems('push: {relay: {url: "http://r", timeout: 0}, devicesFile: /d}')).toEqual([
    "push.relay.timeout must be > 0 seconds",
  ]);
  expect(problems('push: {relay: {url: "http://r"}}')).toEqual([
    "push: needs durable storage for its paired-device registry: add a `state` section, or set push.devicesFile",
  ]);
});

function state(keys: string): StateConfig | null {
  return configOf(`state: {path: /s, ${keys}}`).state;
}

test("a store has the documented defaults", () => {
  expect(configOf("state: {path: store}").state).toEqual({
    path: "/work-dir/store",
    topology: "auto",
    deploymentId: null,
    maxRunsPerJob: 1000,
    onStoreUnavailable: "degrade",
    gcGraceSeconds: 604800,
    maxOpsPerSecond: 0,
    slotTtlSeconds: 30,
    jobApi: {
      enabled: true,
      listen: null,
      maxValueBytes: 1048576,
      maxArtifactBytes: 67108864,
      lockTtlSeconds: 30,
      allowNonLoopbackBind: false,
      tls: null,
    },
  });
  expect(configOf("state: {path: ~/store}").state?.path).toBe("/home/daemon/store");
  expect(state("maxRunsPerJob: 1")?.maxRunsPerJob).toBe(2);
});

test.each([
  ["path: ''", "state.path is required and must be non-empty"],
  ["path: /s, gcGraceSeconds: 1", "state.gcGraceSeconds must be <= 0 (GC disabled) or >= 86400"],
  ["path: /s, gcGraceSeconds: 86399", "state.gcGraceSeconds must be <= 0 (GC disabled) or >= 86400"],
  ["path: /s, maxOpsPerSecond: -1", "state.maxOpsPerSecond must be >= 0 and finite"],
  ["path: /s, maxOpsPerSecond: nan", "state.maxOpsPerSecond must be >= 0 and finite"],
  ["path: /s, maxOpsPerSecond: inf", "state.maxOpsPerSecond must be >= 0 and finite"],
  ["path: /s, slotTtlSeconds: 4.9", "state.slotTtlSeconds must be >= 5 and finite"],
  ["path: /s, slotTtlSeconds: inf", "state.slotTtlSeconds must be >= 5 and finite"],
  ["path: /s, jobApi: {lockTtlSeconds: 4}", "state.jobApi.lockTtlSeconds must be >= 5 and finite"],
  ["path: /s, jobApi: {maxValueBytes: -1}", "state.jobApi.maxValueBytes must be >= 0"],
  ["path: /s, jobApi: {maxArtifactBytes: -1}", "state.jobApi.maxArtifactBytes must be >= 0"],
  [
    'path: /s, jobApi: {listen: "unix:///x"}',
    "state.jobApi.listen must be an http:// or https:// URL or a bare host:port (the job CLI reaches the endpoint over TCP only)",
  ],
  [
    'path: /s, jobApi: {listen: "127.0.0.1:65536"}',
    "state.jobApi.listen has an invalid port in '127.0.0.1:65536': it must be 0 to 65535, 0 for a free one",
  ],
  [
    "path: /s, jobApi: {listen: localhost}",
    "state.jobApi.listen has an invalid port in 'localhost': it must be 0 to 65535, 0 for a free one",
  ],
  [
    'path: /s, jobApi: {listen: "http://0.0.0.0:1"}',
    "state.jobApi.listen host '0.0.0.0' is not loopback; serving the store to other hosts needs state.jobApi.allowNonLoopbackBind: true",
  ],
  [
    "path: /s, jobApi: {tls: {cert: c}}",
    "state.jobApi.tls.cert and state.jobApi.tls.key must be set together; got cert=True, key=False",
  ],
  [
    "path: /s, jobApi: {tls: {ca: c}}",
    "state.jobApi.tls is configured but state.jobApi.listen does not use https://; write https:// there, or drop tls",
  ],
  [
    'path: /s, jobApi: {listen: "https://127.0.0.1:0"}',
    "state.jobApi.listen uses https://, which needs state.jobApi.tls.cert and state.jobApi.tls.key",
  ],
  [
    'path: /s, jobApi: {listen: "https://[::]:0", tls: {cert: c, key: k}}',
    "state.jobApi.listen uses https:// with the wildcard host '[::]'; name the host that the certificate is for",
  ],
])("state: {%s} is refused", (keys, problem) => {
  expect(problems(`state: {${keys}}`)).toEqual([problem]);
});

test.each([
  "gcGraceSeconds: 0",
  "gcGraceSeconds: 86400",
  "slotTtlSeconds: 5",
  "maxOpsPerSecond: 0.5",
  "jobApi: {maxValueBytes: 0, maxArtifactBytes: 0, lockTtlSeconds: 5}",
  'jobApi: {listen: "http://localhost:0"}',
  'jobApi: {listen: "[::1]:65535"}',
  'jobApi: {listen: "https://h:1", tls: {cert: c, key: k}, allowNonLoopbackBind: yes}',
])("state: {path: /s, %s} is accepted", (keys) => {
  expect(configOf(`state: {path: /s, ${keys}}`).warnings).toEqual([]);
});

test("an endpoint that crosses the network in the clear is a warning", () => {
  const config = configOf('state: {path: /s, jobApi: {listen: "10.0.0.1:80", allowNonLoopbackBind: yes}}');
  expect(config.warnings.map(({ message }) => message)).toEqual([
    "state.jobApi.listen '10.0.0.1:80' serves other hosts without TLS: tokens and values cross the network in the clear",
  ]);
});

test("pools are named, bounded and durable", () => {
  const pools = (text: string): string[] => problems(`state: {path: /s}\npools: ${text}`);
  expect(pools("{p: {slots: 1, maxQueued: 10000}, q: {slots: 10000, maxQueued: 1}}")).toEqual([]);
  expect(pools("{p: {slots: 0}}")).toEqual(["pool slots must be between 1 and 10000"]);
  expect(pools("{p: {slots: 10001}}")).toEqual(["pool slots must be between 1 and 10000"]);
  expect(pools("{p: {slots: 1, maxQueued: 0}}")).toEqual(["pool maxQueued must be between 1 and 10000"]);
  expect(pools("{'': {slots: 1}}")).toEqual(["pool names must be non-empty and printable"]);
  expect(pools('{"a\\tb": {slots: 1}}')).toEqual(["pool names must be non-empty and printable"]);
  expect(pools("{p: {}}")).toEqual(["required key(s) 'slots' not found"]);
  expect(problems("pools: {p: {slots: 1}}")).toEqual(["pools require durable state"]);
});

test("of logging only the top level is looked at, and its scalars stay text", () => {
  expect(configOf("logging: {version: 1, root: {level: 10, handlers: [a]}}").logging).toEqual({
    version: 1,
    root: { level: "10", handlers: ["a"] },
  });
  expect(problems("logging: {root: {}}")).toEqual(["required key(s) 'version' not found"]);
  expect(problems("logging: {version: 1, handler: {}}")).toEqual([
    "unexpected key not in schema 'handler'; did you mean 'handlers'?",
  ]);
});
