import { expect, test } from "vitest";
import { type AccessPolicy, judgeAccess } from "../../src/http/access.rules.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode } from "../support/web-node.ts";

const policy: AccessPolicy = {
  hasTokens: false,
  anonymousMayView: false,
  publicPaths: new Set(),
  allowedOrigins: new Set(["https://ops.example"]),
  recognize: () => null,
};

function passes(
  origin: string | undefined,
  host: string | undefined,
  method = "POST",
  path = "/jobs/a/start",
): boolean {
  const access = judgeAccess(policy, {
    method,
    path,
    routeScope: "control",
    origin,
    host,
    authorization: undefined,
    isPreflight: false,
    queryToken: () => null,
  });
  return access.kind === "granted";
}

test.each([
  [undefined, "h:8080", true],
  ["http://h:8080", "h:8080", true],
  ["https://h:8080", "h:8080", true], // a proxy ended TLS
  ["http://H:8080", "h:8080", true],
  ["http://h", "h", true],
  ["http://h", "h:80", true],
  ["https://h", "h:443", true],
  ["https://h", "h", true],
  ["http://h", "h:443", false],
  ["http://[::1]:8080", "[::1]:8080", true],
  ["https://ops.example", "h:8080", true],
  ["https://ops.example:443", "h:8080", false], // listed exactly, or not at all
  ["https://OPS.example", "h:8080", false],
  ["http://h:8081", "h:8080", false],
  ["http://h.evil.example:8080", "h:8080", false],
  ["http://user@h:8080", "h:8080", false],
  ["http://h:8080/path", "h:8080", false],
  ["null", "h:8080", false],
  ["garbage", "h:8080", false],
  ["", "h:8080", false],
  ["http://h:8080", undefined, false],
  ["http://h:8080", "", false],
  ["http://h:8080", "h:8080, evil", false],
])("Origin %s at Host %s: %s", (origin, host, may) => {
  expect(passes(origin, host)).toBe(may);
  expect(passes(origin, host, "DELETE", "/no/such/path")).toBe(may);
  for (const method of ["GET", "HEAD", "OPTIONS"]) expect(passes(origin, host, method)).toBe(true);
  expect(passes(origin, host, "POST", "/mcp")).toBe(true);
});

test("a page of another site starts nothing", async () => {
  const node = await startWebNode({ jobs: [jobConfig({ name: "a" })] });
  try {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const answer = await node.post("/jobs/a/start", undefined, {
        origin: "http://evil.example",
        "content-type": type,
      });
      expect(answer.status).toBe(403);
    }
    expect(node.runs).toEqual([]);
    expect((await node.post("/jobs/a/start")).status).toBe(200);
    expect((await node.post("/jobs/a/start", undefined, { origin: `http://127.0.0.1:${node.port()}` })).status).toBe(
      200,
    );
    expect(node.runs).toHaveLength(2);
  } finally {
    await node.stop();
  }
});

test("an origin that configured headers let read may change things; letting all read turns the gate off, and says so (acceptance 20)", async () => {
  for (const [allowed, origin, status] of [
    ["https://ops.example", "https://ops.example", 409],
    ["https://ops.example", "https://evil.example", 403],
    ["*", "https://evil.example", 409],
  ] as const) {
    const node = await startWebNode({
      jobs: [jobConfig({ name: "a" })],
      web: { headers: { "access-control-allow-origin": allowed } },
    });
    expect((await node.post("/jobs/a/cancel", undefined, { origin })).status).toBe(status);
    expect(
      node.logged.lines.some((line) => line.startsWith("WARNING web.headers sets Access-Control-Allow-Origin")),
    ).toBe(allowed === "*");
    await node.stop();
  }
});
