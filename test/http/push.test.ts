import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { paired, pushDevices, pushTest } from "../../src/contract/wire/push.ts";
import { createPushControl } from "../../src/daemon/push-control.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import type { Device } from "../../src/report/push/device.ts";
import type { DeviceStore } from "../../src/report/push/device-store.ts";
import type { Delivery } from "../../src/report/push/push.ts";
import { deviceRegistry } from "../../src/report/push/registry.ts";
import { logLines } from "../support/log-lines.ts";
import { startWebNode, token, type WebNode } from "../support/web-node.ts";
import { missing, sample } from "./samples.ts";

const clock = simulatedClock(Date.parse("2026-11-30T08:59:47Z"));
const phone = {
  name: " alice-phone ",
  platform: "ios",
  publicKey: "dhsHVd61oCI2esWeug0wpM6lHbw88/GXDNie6b/W4Qw=",
  pushToken: "8f3a1bc2d94af1c9",
};
const ci = { authorization: "Bearer s3cret" };
let delivery: Delivery;
let failure: Error | null;
let node: WebNode;
const logged = logLines();

beforeEach(async () => {
  delivery = { status: 200, error: null };
  failure = null;
  const devices = new Map<string, Device>();
  const working = async <T>(answer: () => T): Promise<T> => {
    if (failure !== null) throw failure;
    return answer();
  };
  const store: DeviceStore = {
    read: () => working(() => ({ devices: [...devices.values()], salt: null })),
    put: (device) => working(() => void devices.set(device.id, device)),
    remove: (id) => working(() => devices.delete(id)),
    createSalt: (candidate) => working(() => candidate),
  };
  const registry = deviceRegistry(store, clock, (bytes) => randomBytes(bytes).toString("hex"));
  const test = async (id: string) => ((await registry.list()).some((device) => device.id === id) ? delivery : null);
  const push = createPushControl({ registry, test }, logged.log);
  node = await startWebNode({ parts: { push: () => push }, web: { authTokens: [token("s3cret", ["control"], "ci")] } });
});
afterEach(() => node.stop());

test("a device is paired, found, tested, and forgotten", async () => {
  const first = await node.post("/push/devices", phone, ci);
  expect([first.status, first.json().created]).toEqual([201, true]);
  expect(missing(sample("push.pair.json"), first.json())).toEqual([]);
  const { device } = paired.parse(first.json());
  expect(device).toMatchObject({
    name: "alice-phone",
    pushToken: "…4af1c9",
    createdAt: "2026-11-30T08:59:47+00:00",
    createdBy: "ci",
    fingerprint: expect.stringMatching(/^[0-9a-f]{4}(-[0-9a-f]{4}){2}$/),
  });
  const again = await node.post("/push/devices", { ...phone, name: "alice-phone-2" }, ci);
  expect([again.status, again.json().created, again.json().device.id, again.json().device.name]).toEqual([
    200,
    false,
    device.id,
    "alice-phone-2",
  ]);
  expect(pushDevices.parse((await node.get("/push/devices", ci)).json()).devices).toHaveLength(1);

  const path = `/push/devices/${device.id}`;
  expect((await node.post(`${path}/test`, undefined, ci)).json()).toEqual({
    device: device.id,
    status: 200,
    error: null,
  });
  delivery = { status: null, error: "relay unreachable: ECONNREFUSED" };
  const refused = await node.post(`${path}/test`, undefined, ci);
  expect([refused.status, pushTest.parse(refused.json())]).toEqual([502, { device: device.id, ...delivery }]);
  expect((await node.ask("DELETE", path, { headers: ci })).json()).toEqual({ revoked: device.id });
  for (const answer of [
    await node.ask("DELETE", path, { headers: ci }),
    await node.post(`${path}/test`, undefined, ci),
  ])
    expect([answer.status, answer.json()]).toEqual([404, { error: `no paired device with id '${device.id}'` }]);
});

test.each([
  [{}, "name is required"],
  [{ name: 5 }, "name is required"],
  [{ ...phone, name: "x".repeat(65) }, "name is longer than 64 characters"],
  [{ ...phone, platform: "" }, "platform is required"],
  [{ ...phone, publicKey: "" }, "publicKey is required (base64 X25519 key)"],
  [{ ...phone, publicKey: "%%" }, "publicKey is not valid base64"],
  [{ ...phone, publicKey: "AAAA" }, "publicKey must decode to exactly 32 bytes, got 3"],
  [{ ...phone, publicKey: Buffer.alloc(32).toString("base64") }, "publicKey is not a usable X25519 public key"],
])("a request %o is refused", async (body, error) => {
  const answer = await node.post("/push/devices", body, ci);
  expect([answer.status, answer.json()]).toEqual([400, { error }]);
});

test("trouble of the registry is said in the log, and its place nowhere else", async () => {
  failure = new Error("EACCES /secret/place");
  for (const [method, path] of [
    ["GET", "/push/devices"],
    ["POST", "/push/devices"],
    ["DELETE", "/push/devices/x"],
    ["POST", "/push/devices/x/test"],
  ] as const) {
    const answer = await node.ask(method, path, { headers: ci, body: JSON.stringify(phone) });
    expect([answer.status, answer.text]).toEqual([
      503,
      '{"error":"the device registry\'s store is unavailable; the reason is in the cronstable log"}',
    ]);
  }
  expect(logged.lines).toContain("ERROR push: the device registry is unavailable: EACCES /secret/place");
});

test("without a section there is no registry, whatever the body", async () => {
  const without = await startWebNode({});
  for (const [method, path, body] of [
    ["GET", "/push/devices", ""],
    ["POST", "/push/devices", "garbage"],
    ["DELETE", "/push/devices/x", ""],
    ["POST", "/push/devices/x/test", ""],
  ] as const) {
    const answer = await without.ask(method, path, { body });
    expect([answer.status, answer.json()]).toEqual([404, { error: "no `push:` section is configured on this daemon" }]);
  }
  await without.stop();
});

test("whoami tells where phones are paired", async () => {
  expect((await node.get("/whoami", ci)).json().pairLinkBase).toBe("https://relay.cronstable.com/pair");
});
