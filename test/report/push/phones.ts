import sodium from "libsodium-wrappers";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { httpOut } from "../../../src/report/http-out.ts";
import type { DeviceStore } from "../../../src/report/push/device-store.ts";
import { push } from "../../../src/report/push/push.ts";
import { deviceRegistry } from "../../../src/report/push/registry.ts";
import { logLines } from "../../support/log-lines.ts";
import { closing, startReporting } from "../support/reporting.ts";

/** A phone's key pair. */
export function phone() {
  const { publicKey, privateKey } = sodium.crypto_box_keypair();
  return {
    publicKey: Buffer.from(publicKey).toString("base64"),
    open(ciphertext: string): Record<string, unknown> {
      const box = Buffer.from(ciphertext, "base64");
      return JSON.parse(Buffer.from(sodium.crypto_box_seal_open(box, publicKey, privateKey)).toString());
    },
  };
}

export const paired = { name: "phone", platform: "ios", pushToken: "token-8f3a1b" };

let random = 0;
/** Distinct every time. */
const randomHex = (bytes: number): string => (++random).toString(16).padStart(bytes * 2, "0");

/** Push and a reporting that uses it, with the relay at `url`. */
export function startPush(url: string, store: DeviceStore, clock: Clock = systemClock) {
  const { log, lines } = logLines();
  const registry = deviceRegistry(store, clock, randomHex);
  const config = { relay: { url, timeoutSeconds: 10 }, devicesFile: null, allowUnauthenticated: false };
  const pushing = push({ config, registry, http: closing(httpOut()), log, clock, host: "node-1", randomHex });
  return { registry, pushing, lines, reporting: startReporting({ clock, push: pushing }).reporting };
}
