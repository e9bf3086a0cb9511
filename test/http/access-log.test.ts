import { expect, test } from "vitest";
import { withoutTokens } from "../../src/http/access-log.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, token } from "../support/web-node.ts";

test("one line per answer, without tokens (acceptance 16)", async () => {
  const node = await startWebNode({
    jobs: [jobConfig({ name: "job" })],
    at: "2026-11-30T08:52:44Z",
    web: { authTokens: [token("s3cret", ["view"])] },
  });
  const headers = { referer: "http://x/?token=s3cret", "user-agent": 'cu"rl\\1' };
  await node.get("/calendar.ics?token=s3cret&limit=1", headers);
  await node.get("/jobs?a=1&%74oken=s3cret&TOKEN=x", {});
  await node.get("/version", { authorization: "Bearer s3cret" });
  await expect.poll(() => node.accessLogged.lines.length).toBe(3);
  const lines = node.accessLogged.lines.map((line) => line.replace(/(" \d+) \d+ /, "$1 N "));
  expect(lines).toEqual([
    `INFO 127.0.0.1 [30/Nov/2026:08:52:44 +0000] "GET /calendar.ics?token=***&limit=1 HTTP/1.1" 200 N "http://x/?token=***" "cu\\"rl\\\\1"`,
    'INFO 127.0.0.1 [30/Nov/2026:08:52:44 +0000] "GET /jobs?a=1&token=***&TOKEN=x HTTP/1.1" 401 N "-" "-"',
    'INFO 127.0.0.1 [30/Nov/2026:08:52:44 +0000] "GET /version HTTP/1.1" 200 N "-" "-"',
  ]);
  expect(node.accessLogged.everything() + node.logged.everything()).not.toContain("s3cret");
  await node.stop();
});

test("the size is what went over the wire", async () => {
  const node = await startWebNode({});
  const { bytes, rawHeaders } = await node.get("/version");
  const head = "HTTP/1.1 200 OK\r\n".length + rawHeaders.reduce((sum, text) => sum + text.length + 2, 0) + 2;
  await expect.poll(() => node.accessLogged.lines).toHaveLength(1);
  expect(node.accessLogged.lines[0]).toContain(`" 200 ${head + bytes.length} "`);
  await node.stop();
});

test.each([
  ["/a", "/a"],
  ["/a?token=x", "/a?token=***"],
  ["/a?x=1&token=&y", "/a?x=1&token=***&y"],
  ["/a?token", "/a?token"],
  ["/a?tok%65n=x#f", "/a?token=***"],
  ["/a?t%zzoken=x", "/a?t%zzoken=x"],
])("%s is logged as %s", (url, logged) => {
  expect(withoutTokens(url)).toBe(logged);
});
