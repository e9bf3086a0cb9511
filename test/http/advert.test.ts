import { expect, test } from "vitest";
import { type Advert, advertOf } from "../../src/http/advert.rules.ts";
import type { BoundAddress } from "../../src/http/listeners.ts";
import { startWebNode, webConfig } from "../support/web-node.ts";

const at = (hosts: readonly string[], port: number | null, secure = false): BoundAddress => ({
  address: "x",
  secure,
  port,
  hosts,
});
const facts = { name: null, hostName: "node.example.org", version: "1.2.3", primaryAddress: "192.0.2.7" };

test.each([
  ["loopback and sockets are not for others", [at(["127.0.0.1"], 1), at(["::1"], 2), at([], null)], null],
  ["nor is one specific IPv6 address", [at(["2001:db8::1"], 1)], null],
  ["the first plain one", [at(["127.0.0.1"], 1), at(["0.0.0.0"], 2), at(["10.0.0.1"], 3)], ["http", "192.0.2.7", 2]],
  ["a secure one before it", [at(["0.0.0.0"], 2), at(["10.0.0.1"], 3, true)], ["https", "10.0.0.1", 3]],
  ["a name that stands for several", [at(["::1", "127.0.0.1", "10.0.0.9"], 4)], ["http", "10.0.0.9", 4]],
])("%s", (_what, bound, chosen) => {
  const advert = advertOf({ ...facts, bound });
  expect(advert === null ? null : [advert.txt.scheme, advert.address, advert.port]).toEqual(chosen);
});

test("names are cut to what fits a label", () => {
  const advert = advertOf({ ...facts, bound: [at(["0.0.0.0"], 2)] });
  expect(advert).toMatchObject({
    name: "node-example-org",
    target: "node-example-org-cronstable.local",
    txt: { v: "1.2.3", scheme: "http" },
  });
  const long = advertOf({ ...facts, bound: [at(["0.0.0.0"], 2)], name: `Küche ${"ü".repeat(60)}` });
  expect(Buffer.byteLength(long?.name ?? "")).toBeLessThanOrEqual(63);
  expect(long?.target).toBe("K-che--cronstable.local");
  expect(advertOf({ ...facts, bound: [at(["0.0.0.0"], 2)], primaryAddress: null })).toBeNull();
});

test("what is bound is announced, changes are, and it is withdrawn before the listeners close", async () => {
  const told: string[] = [];
  const announce = async ({ name, txt }: Advert) => {
    told.push(`announce ${name} ${txt.scheme}`);
    return async () => {
      told.push(`withdraw ${name} while ${node.web.addresses().length} bound`);
    };
  };
  const bonjour = { name: "cron-a" };
  const node = await startWebNode({ web: { listen: ["http://0.0.0.0:0"], bonjour }, webParts: { announce } });
  await node.web.check();
  expect(told).toEqual(["announce cron-a http"]);
  await node.web.apply({ config: webConfig({ listen: ["http://0.0.0.0:0"], bonjour: { name: "cron-b" } }), mcp: null });
  await node.stop();
  expect(told).toEqual([
    "announce cron-a http",
    "withdraw cron-a while 1 bound",
    "announce cron-b http",
    "withdraw cron-b while 1 bound",
  ]);
});

test("trouble with it harms nothing", async () => {
  const announce = async () => {
    throw new Error("no multicast here");
  };
  const node = await startWebNode({
    web: { listen: ["http://0.0.0.0:0"], bonjour: { name: null } },
    webParts: { announce },
  });
  expect(node.logged.lines).toContain("WARNING web: bonjour: could not announce: no multicast here");
  expect((await node.get("/version")).status).toBe(200);
  await node.stop();
});
