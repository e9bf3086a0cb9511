import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fields } from "../../src/contract/control-plane.ts";
import type { McpCaller } from "../../src/contract/mcp-endpoint.ts";
import { startWebNode, token, type WebNode } from "../support/web-node.ts";

const heard: (readonly [Fields, McpCaller])[] = [];
let node: WebNode;
beforeAll(async () => {
  node = await startWebNode({
    web: { authTokens: [token("s3cret", ["control", "approve"], "agent")], headers: { "X-Demo": "1" } },
    mcp: {
      allowedOrigins: ["https://ide.example"],
      bodyBytesMax: 200,
      async answer(message, caller) {
        heard.push([message, caller]);
        return message.id === undefined ? null : '{"jsonrpc":"2.0","id":1,"result":{}}';
      },
    },
  });
});
afterAll(() => node.stop());

const auth = { authorization: "Bearer s3cret" };
const post = (body: string, headers = {}) => node.ask("POST", "/mcp", { body, headers: { ...auth, ...headers } });

test("a request is answered, a notification taken; the server knows who asks", async () => {
  const answer = await post('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
    200,
    "application/json",
    '{"jsonrpc":"2.0","id":1,"result":{}}',
  ]);
  const taken = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect([taken.status, taken.text]).toEqual([202, ""]);
  expect(heard[0]).toEqual([
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { label: "agent", scopes: ["approve", "control", "view"] },
  ]);
  expect([
    answer.headers["mcp-protocol-version"],
    answer.headers["x-demo"],
    answer.headers["access-control-allow-origin"],
  ]).toEqual(["2025-11-25", undefined, undefined]);
});

test.each([
  ["{}", { origin: "https://evil.example" }, 403, "Origin not allowed"],
  ["{}", { "mcp-protocol-version": "2024-01-01" }, 400, "unsupported MCP-Protocol-Version"],
  ["{}", { accept: "text/html" }, 406, "Accept application/json"],
  [`{"x":"${"y".repeat(200)}"}`, {}, 413, "request body too large"],
  ["", {}, 400, "empty request body"],
  ["{", {}, 400, "malformed JSON"],
  ["5", {}, 400, "malformed JSON"],
  ["[{}]", {}, 400, "batching unsupported"],
])("%s with %o: %d %s", async (body, headers, status, error) => {
  const answer = await post(body, headers);
  expect([answer.status, answer.json(), answer.headers["mcp-protocol-version"]]).toEqual([
    status,
    { error },
    "2025-11-25",
  ]);
});

test("versions and media types that are spoken pass", async () => {
  for (const headers of [
    { "mcp-protocol-version": "2025-03-26" },
    { accept: "application/json, text/event-stream" },
    { accept: "*/*" },
    { origin: "https://ide.example" },
  ])
    expect((await post('{"id":1}', headers)).status).toBe(200);
});

test("browsers of listed origins may ask, others may not", async () => {
  const preflight = { "access-control-request-method": "POST" };
  const listed = await node.ask("OPTIONS", "/mcp", { headers: { ...preflight, origin: "https://ide.example" } });
  expect([
    listed.status,
    listed.headers["access-control-allow-origin"],
    listed.headers["access-control-allow-methods"],
    listed.headers.vary,
  ]).toEqual([204, "https://ide.example", "POST, OPTIONS", "Origin"]);
  expect(
    (await node.ask("OPTIONS", "/mcp", { headers: { ...preflight, origin: "https://evil.example" } })).json(),
  ).toEqual({ error: "preflight" });
  expect((await node.ask("OPTIONS", "/mcp", { headers: preflight })).status).toBe(405);
  expect((await node.ask("OPTIONS", "/jobs", { headers: preflight })).status).toBe(405);
  expect((await post('{"id":1}', { origin: "https://ide.example" })).headers["access-control-expose-headers"]).toBe(
    "MCP-Protocol-Version",
  );
});

test("there is no stream to open", async () => {
  const { status, headers, json } = await node.get("/mcp", auth);
  expect([status, headers.allow, json()]).toEqual([405, "POST, OPTIONS", { error: "method not allowed" }]);
});
