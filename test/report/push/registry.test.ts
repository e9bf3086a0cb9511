import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sodium from "libsodium-wrappers";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { shownDevice } from "../../../src/report/push/device.ts";
import { deviceFile } from "../../../src/report/push/device-file.ts";
import type { DeviceStore } from "../../../src/report/push/device-store.ts";
import { block, failedRun } from "../support/facts.ts";
import { paired, phone, startPush } from "./phones.ts";

beforeAll(() => sodium.ready);

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cronstable-devices-"));
  path = join(folder, "devices.json");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const nowhere = "http://127.0.0.1:1";
const start = (store: DeviceStore = deviceFile(path)) => startPush(nowhere, store);

test("devices are kept in a file that only its owner reads, and known by their key", async () => {
  const { registry } = start();
  const { publicKey } = phone();
  const first = await registry.pair({ name: " phone ", platform: "ios", pushToken: "t1", publicKey }, "ci");
  expect(first).toMatchObject({ kind: "paired", created: true, device: { name: "phone", createdBy: "ci" } });
  const again = await registry.pair({ name: "phone 2", platform: "ios", pushToken: "t2", publicKey }, "other");
  const kept = first.kind === "paired" ? first.device : {};
  const device = { ...kept, name: "phone 2", pushToken: "t2" };
  expect(again).toEqual({ kind: "paired", created: false, device });
  expect(await registry.list()).toEqual([device]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 1, devices: [device] });
});

test("a revoked device is gone", async () => {
  const { registry } = start();
  await registry.pair({ ...paired, publicKey: phone().publicKey }, null);
  const [device] = await registry.list();
  expect(await registry.revoke(device?.id ?? "")).toBe(true);
  expect(await registry.revoke(device?.id ?? "")).toBe(false);
  expect(await registry.list()).toEqual([]);
  expect(await registry.receivers()).toEqual([]);
});

test("pairings that come together are all kept", async () => {
  const { registry } = start();
  await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      registry.pair({ ...paired, name: `p${i}`, publicKey: phone().publicKey }, null),
    ),
  );
  expect((await registry.list()).map(({ name }) => name).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `p${i}`));
});

test.each([
  [{ ...paired, name: "" }, "name is required"],
  [{ ...paired, name: 7 }, "name is required"],
  [{ ...paired, name: "x".repeat(65) }, "name is longer than 64 characters"],
  [{ ...paired, platform: " " }, "platform is required"],
  [{ ...paired, platform: "x".repeat(33) }, "platform is longer than 32 characters"],
  [{ ...paired, pushToken: undefined }, "pushToken is required"],
  [{ ...paired, pushToken: "x".repeat(513) }, "pushToken is longer than 512 characters"],
  [{ ...paired }, "publicKey is required (base64 X25519 key)"],
  [{ ...paired, publicKey: "a*b=" }, "publicKey is not valid base64"],
  [{ ...paired, publicKey: "AQID" }, "publicKey must decode to exactly 32 bytes, got 3"],
  [{ ...paired, publicKey: Buffer.alloc(32).toString("base64") }, "publicKey is not a usable X25519 public key"],
])("pairing refuses %j", async (request, problem) => {
  expect(await start().registry.pair(request, null)).toEqual({ kind: "refused", problem });
});

test.each([
  ["is damaged", "{"],
  ["is of another version", '{"version":2,"devices":[]}'],
  ["is something else", "[]"],
])("a file that %s is never written over, and alerts say why they are dropped", async (_what, content) => {
  writeFileSync(path, content);
  const { registry, reporting, lines } = start();
  const fixed = "the device registry's store is unavailable; the reason is in the cronstable log";
  await expect(registry.pair({ ...paired, publicKey: phone().publicKey }, null)).rejects.toThrow(fixed);
  await expect(registry.salt()).rejects.toThrow(fixed);
  await reporting.report(block({ push: { enabled: true } }), failedRun());
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^ERROR push: the device registry cannot be read \(.* is not a device registry: /);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("the store is asked once a minute; when it fails, what was known serves, and it is asked again soon", async () => {
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  let reads = 0;
  let broken = false;
  const file = deviceFile(path);
  const store: DeviceStore = {
    ...file,
    read: () => {
      reads++;
      return broken ? Promise.reject(new Error("no such luck")) : file.read();
    },
  };
  const { registry } = startPush(nowhere, store, clock);
  await registry.pair({ ...paired, publicKey: phone().publicKey }, null);
  reads = 0;
  const asked = async (): Promise<number> => {
    expect(await registry.receivers()).toHaveLength(1);
    return reads;
  };
  expect([await asked(), await asked()]).toEqual([1, 1]);
  broken = true;
  clock.runUntil(clock.wallNow() + 60_000);
  expect([await asked(), await asked()]).toEqual([2, 2]);
  clock.runUntil(clock.wallNow() + 5_000);
  expect(await asked()).toBe(3);
});

test("a silent store is not waited for beyond ten seconds", async () => {
  const clock = simulatedClock(Date.parse("2026-03-01T12:00:00Z"));
  const silent: DeviceStore = { ...deviceFile(path), read: () => new Promise(() => {}) };
  const { registry } = startPush(nowhere, silent, clock);
  const asked = expect(registry.receivers()).rejects.toMatchObject({ why: "no answer within 10 seconds" });
  clock.runUntil(clock.wallNow() + 10_000);
  await asked;
});

test("a file that cannot be written fails the pairing", async () => {
  const { registry } = start(deviceFile(join(folder, "no-folder", "devices.json")));
  await expect(registry.pair({ ...paired, publicKey: phone().publicKey }, null)).rejects.toMatchObject({
    why: expect.stringContaining("ENOENT"),
  });
});

test("a device is shown without its token, with a fingerprint to compare", () => {
  const device = {
    id: "3faee3a8d6dfc209",
    name: "alice-phone",
    platform: "ios",
    pushToken: "8f3a1bc2d94af1c9",
    publicKey: "dhsHVd61oCI2esWeug0wpM6lHbw88/GXDNie6b/W4Qw=",
    createdAt: "2026-11-30T08:59:47+00:00",
    createdBy: "ci",
  };
  expect(shownDevice(device)).toEqual({ ...device, pushToken: "…4af1c9", fingerprint: "b291-7655-df70" });
});
