import sodium from "libsodium-wrappers";
import { beforeAll, expect, test } from "vitest";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";
import { deviceDocuments } from "../../../src/report/push/device-documents.ts";
import { memoryMedium } from "../../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../../src/store/memory/open.ts";
import { paired, phone, startPush } from "./phones.ts";

beforeAll(() => sodium.ready);

const nowhere = "http://127.0.0.1:1";

/** Two daemons on one store, and the store itself. */
function shared() {
  const medium = memoryMedium();
  const open = (writer: string) => openMemoryStore({ medium, clock: simulatedClock(0), writer });
  const store = open("000000000001");
  const other = open("000000000002");
  return {
    store,
    registry: startPush(
      nowhere,
      deviceDocuments(() => store),
    ).registry,
    elsewhere: startPush(
      nowhere,
      deviceDocuments(() => other),
    ).registry,
  };
}

test("http 7.9: devices in the store are known to all its daemons, each as a document of its own", async () => {
  const { store, registry, elsewhere } = shared();
  const made = await registry.pair({ ...paired, publicKey: phone().publicKey }, "ci");
  const device = made.kind === "paired" ? made.device : null;
  expect(await elsewhere.list()).toEqual([device]);
  expect(await store.documents.read("pushdevice", device?.id ?? "")).toMatchObject({ value: { body: { ...device } } });
  expect(await elsewhere.revoke(device?.id ?? "")).toBe(true);
  expect(await registry.revoke(device?.id ?? "")).toBe(false);
  expect(await registry.list()).toEqual([]);
});

test("acceptance 38: daemons that share a registry have one salt, whoever asks first", async () => {
  const { registry, elsewhere } = shared();
  const [one, two] = await Promise.all([registry.salt(), elsewhere.salt()]);
  expect(one).toMatch(/^[0-9a-f]{32}$/);
  expect(two).toBe(one);
});

test("a device that this build cannot read is left out and stays", async () => {
  const { store, registry } = shared();
  await store.documents.swap("pushdevice", "0123456789abcdef", null, { id: "0123456789abcdef", from: "later" });
  expect(await registry.list()).toEqual([]);
  expect(await store.documents.read("pushdevice", "0123456789abcdef")).toMatchObject({
    value: { body: { from: "later" } },
  });
});

test("without a store that runs the registry says that it is unavailable", async () => {
  const { registry } = startPush(
    nowhere,
    deviceDocuments(() => null),
  );
  await expect(registry.list()).rejects.toThrow("the device registry's store is unavailable");
});
