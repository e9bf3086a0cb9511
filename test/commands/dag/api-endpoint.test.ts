import { join } from "node:path";
import { expect, test } from "vitest";
import { type AskedApi, apiEndpoint } from "../../../src/commands/dag/api-endpoint.ts";
import { configOf, filesIn } from "../../config/loading.ts";

/** Where a command goes that was asked so, with this `web:` section; null: without a configuration. */
async function endpoint(asked: AskedApi, web: object | null = null, environment: NodeJS.ProcessEnv = {}) {
  const config = web === null ? null : configOf(JSON.stringify({ jobs: [], web }));
  return apiEndpoint(asked, config, environment, (message) => {
    throw new Error(`usage: ${message}`);
  });
}
const listening = async (...listen: string[]) => (await endpoint({}, { listen })).url;

test("without a word it is the local daemon's usual address, without a token", async () => {
  expect(await endpoint({})).toEqual({ url: "http://127.0.0.1:8080", token: null });
});

test("a configuration names the address it listens on first, as one that can be connected to", async () => {
  expect(await listening("http://10.0.0.7:80", "http://127.0.0.1:8080")).toBe("http://10.0.0.7:80");
  expect(await listening("http://0.0.0.0:8080")).toBe("http://127.0.0.1:8080");
  const tls = { cert: "/c.pem", key: "/k.pem" };
  expect(await endpoint({}, { listen: ["https://[::]:8443"], tls })).toMatchObject({ url: "https://[::1]:8443" });
  expect(await listening("unix:///run/a b#c.sock")).toBe("unix:///run/a%20b%23c.sock");
});

test("what cannot be known from the configuration has to be said", async () => {
  await expect(listening("http://127.0.0.1:0")).rejects.toThrow(
    "web.listen: http://127.0.0.1:0 takes a port of its own at each start; name the address with --url",
  );
  const without = apiEndpoint({}, configOf("jobs: []"), {}, () => {
    throw new Error("usage");
  });
  await expect(without).rejects.toThrow("the configuration has no `web.listen`; name the API's address with --url");
});

test("an address that is none is a command line that cannot be understood", async () => {
  for (const url of ["ftp://x", "127.0.0.1:8080", "http://", "unix:relative"])
    await expect(endpoint({ url })).rejects.toThrow(`usage: ${url} is no address of the API`);
});

test("the token: as given, else its file, else the environment, else the configuration's own", async () => {
  const folder = filesIn({ given: "from-file\n", own: " own \n" });
  const web = { listen: ["http://127.0.0.1:1"], authToken: { fromFile: join(folder, "own") } };
  const tokenFile = join(folder, "given");
  const environment = { CRONSTABLE_TOKEN: "from-environment" };
  const token = async (asked: AskedApi, variables: NodeJS.ProcessEnv) => (await endpoint(asked, web, variables)).token;
  expect(await token({ token: "given", tokenFile }, environment)).toBe("given");
  expect(await token({ tokenFile }, environment)).toBe("from-file");
  expect(await token({}, environment)).toBe("from-environment");
  expect(await token({}, {})).toBe("own");
});

test("a token that cannot be had or sent is told of, without showing it", async () => {
  await expect(endpoint({ tokenFile: "/nowhere/token" })).rejects.toThrow(/^--token-file could not be read: ENOENT/);
  const web = { listen: ["http://127.0.0.1:1"], authToken: { fromFile: "/nowhere/own" } };
  await expect(endpoint({}, web)).rejects.toThrow(
    /^web.authToken.fromFile could not be read: ENOENT.*give a token with --token/,
  );
  await expect(endpoint({ token: "a\nb" })).rejects.toThrow(
    "the token has control characters in it, as no token of the API has",
  );
});
