import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { SecretSource, WebConfig } from "../../src/config/model.ts";
import { loadTokens } from "../../src/http/tokens.ts";
import { jobConfig } from "../support/job-config.ts";
import { startWebNode, token } from "../support/web-node.ts";

const folder = mkdtempSync(join(tmpdir(), "cronstable-web-"));
afterAll(() => rmSync(folder, { recursive: true }));

const put = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const source = (over: Partial<SecretSource>): SecretSource => ({
  value: null,
  fromFile: null,
  fromEnvVar: null,
  ...over,
});
const table = (authToken: SecretSource | null, authTokens: WebConfig["authTokens"] = [], environment = {}) =>
  loadTokens({ authToken, authTokens }, environment);
const accepts = (by: ReturnType<typeof table>, text: string): boolean => by.recognize(Buffer.from(text)) !== null;

test("the first source that is filled in counts; files are trimmed, values are not", () => {
  const file = put("token", "\ufefftok\n\n");
  expect(accepts(table(source({ fromFile: file })), "tok")).toBe(true);
  expect(
    accepts(table(source({ value: "", fromFile: file, fromEnvVar: "TOKEN" }), [], { TOKEN: "other" }), "tok"),
  ).toBe(true);
  expect(accepts(table(source({ fromEnvVar: "TOKEN" }), [], { TOKEN: " spaced " }), " spaced ")).toBe(true);
  expect(accepts(table(source({ value: " spaced ", fromFile: file })), "spaced")).toBe(false);
});

test.each([
  [
    source({}),
    "web.authToken is configured but resolved to an empty token; refusing to start the web API without authentication",
  ],
  [
    source({ fromFile: put("blank", " \n") }),
    "web.authToken is configured but resolved to an empty token; refusing to start the web API without authentication",
  ],
  [
    source({ fromEnvVar: "NOT_THERE" }),
    "web.authToken is configured but resolved to an empty token; refusing to start the web API without authentication",
  ],
  [source({ fromFile: join(folder, "missing") }), /^web\.authToken\.fromFile could not be read: ENOENT/],
  [source({ fromFile: put("binary", Buffer.from([0xff, 0xfe])) }), /^web\.authToken\.fromFile could not be read: /],
])("a source that gives nothing keeps the API down", (given, message) => {
  expect(() => table(given)).toThrow(message);
});

test("two entries with one secret are refused, without telling it (acceptance 22)", () => {
  const same = [token("s3cret", ["view"]), token("s3cret", ["control"], "ci")];
  expect(() => table(source({ value: "other" }), same)).toThrow(
    "web token 'ci' resolves to the same secret as 'web.authTokens[0]'; give each token a secret of its own",
  );
  expect(() => table(source({ value: "s3cret" }), same)).toThrow(/^(?!.*s3cret).*'authToken'/);
});

test("an entry that lists every scope holds them all; control and approve each let look", () => {
  const by = table(null, [
    token("a", ["approve"]),
    token("c", ["control"], "ci"),
    token("e", ["view", "control", "approve"]),
    token("n", []),
  ]);
  const scopes = (text: string) => {
    const caller = by.recognize(Buffer.from(text));
    return caller?.kind === "token" ? [caller.label, [...caller.scopes].sort()] : null;
  };
  expect(scopes("a")).toEqual(["web.authTokens[0]", ["approve", "view"]]);
  expect(scopes("c")).toEqual(["ci", ["control", "view"]]);
  expect(scopes("e")?.[1]).toEqual(["approve", "control", "view"]);
  expect(scopes("n")?.[1]).toEqual([]);
  expect(scopes("x")).toBeNull();
});

test("a token file is empty at the start, then filled, changed, emptied (acceptance 21)", async () => {
  const file = put("rotated", "");
  const web = { authToken: source({ fromFile: file }) };
  const node = await startWebNode({ jobs: [jobConfig({ name: "job" })], web });
  const status = async (text: string): Promise<number> =>
    (await node.get("/version", { authorization: `Bearer ${text}` })).status;
  try {
    expect(node.web.addresses()).toEqual([]);
    expect(node.logged.lines).toContain(
      "ERROR Error in the web configuration, so not starting the web API: web.authToken is configured but resolved to an empty token; refusing to start the web API without authentication",
    );
    await node.scheduler.startJob("job", null);
    expect(node.runs).toHaveLength(1);

    put("rotated", "first");
    await node.web.check();
    expect(await status("first")).toBe(200);
    expect(node.logged.lines).toContain("INFO web: requiring bearer-token authentication (1 token)");

    put("rotated", "second\n");
    const timers = node.clock.pending;
    const tail = node.get("/jobs/job/logs", { authorization: "Bearer first" });
    await expect.poll(() => node.clock.pending).toBeGreaterThan(timers); // the tail waits for lines
    await node.web.check();
    expect((await tail).text).toBe("event: end\ndata: {}\n\n"); // what an old token had opened ends too
    expect([await status("first"), await status("second")]).toEqual([401, 200]);

    put("rotated", "");
    await node.web.check();
    await node.web.check();
    expect(await status("second")).toBe(200);
    expect(
      node.logged.lines.filter((line) => line.startsWith("WARNING web: a bearer token source is not resolvable (")),
    ).toHaveLength(2);
    expect(node.logged.everything()).not.toMatch(/first|second/);
  } finally {
    await node.stop();
  }
});

test("who may look without a token is said at the start", async () => {
  const node = await startWebNode({
    web: { authTokens: [token("a", ["view"]), token("b", ["control"])], anonymousScopes: ["view"] },
  });
  expect(node.logged.lines).toContain(
    "INFO web: requiring bearer-token authentication (2 tokens; anonymous requests granted scopes: view)",
  );
  await node.stop();
});
