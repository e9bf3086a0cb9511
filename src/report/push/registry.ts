import type { Clock } from "../../platform/clock.ts";
import { secondText } from "../instant-text.ts";
import { DEVICES_FRESH_MS, DEVICES_MAX, DEVICES_RETRY_MS, REGISTRY_LIMIT_MS } from "../limits.ts";
import { within } from "../within.ts";
import { type Device, type PairingRequest, pairing } from "./device.ts";
import type { DeviceStore } from "./device-store.ts";
import { sealer } from "./seal.ts";

/** The registry's store failed or was silent. `why` is for the log only: it can name paths. */
export class RegistryUnavailable extends Error {
  constructor(readonly why: string) {
    super("the device registry's store is unavailable; the reason is in the cronstable log");
  }
}

export type Paired =
  | { readonly kind: "paired"; readonly device: Device; readonly created: boolean }
  | { readonly kind: "refused"; readonly problem: string };

/** Paired devices (running 12.5, http 7.9). */
export interface DeviceRegistry {
  /** Asks the store. Oldest first. @throws RegistryUnavailable */
  list(): Promise<readonly Device[]>;
  /** A known public key keeps its id and gets the new name, platform and token. @throws RegistryUnavailable */
  pair(request: PairingRequest, by: string | null): Promise<Paired>;
  /** @returns whether there was such a device. @throws RegistryUnavailable */
  revoke(id: string): Promise<boolean>;
  /**
   * Devices for a delivery: at most a minute old, or older when the store fails.
   *
   * @throws RegistryUnavailable when it has never answered
   */
  receivers(): Promise<readonly Device[]>;
  /** What collapse ids are salted with, made at its first use. @throws RegistryUnavailable */
  salt(): Promise<string>;
}

/** @param randomHex that many random bytes as hex */
export function deviceRegistry(store: DeviceStore, clock: Clock, randomHex: (bytes: number) => string): DeviceRegistry {
  let known: readonly Device[] | null = null;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<readonly Device[]> | null = null;
  let salt: Promise<string> | null = null;

  const bounded = async <T>(work: () => Promise<T>): Promise<T> => {
    const outcome = await within(clock, REGISTRY_LIMIT_MS, NEVER, work).catch((error: unknown) => {
      throw new RegistryUnavailable(error instanceof Error ? error.message : String(error));
    });
    if (outcome.kind === "done") return outcome.value;
    throw new RegistryUnavailable(`no answer within ${REGISTRY_LIMIT_MS / 1_000} seconds`);
  };

  const list = async (): Promise<readonly Device[]> => {
    const { devices } = await bounded(() => store.read());
    known = [...devices].sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
    freshUntil = clock.elapsedNow() + DEVICES_FRESH_MS;
    return known;
  };

  const changed = (): void => {
    freshUntil = Number.NEGATIVE_INFINITY;
  };

  return {
    list,
    async pair(request, by) {
      const { usable } = await sealer();
      const judged = pairing(request, usable);
      if ("problem" in judged) return { kind: "refused", problem: judged.problem };
      const devices = await list();
      const same = devices.find(({ publicKey }) => publicKey === judged.publicKey);
      if (same === undefined && devices.length >= DEVICES_MAX)
        return { kind: "refused", problem: `${DEVICES_MAX} devices are paired already; revoke one first` };
      const device: Device =
        same === undefined
          ? { ...judged, id: randomHex(8), createdAt: secondText(clock.wallNow()), createdBy: by }
          : { ...same, ...judged };
      await bounded(() => store.put(device));
      changed();
      return { kind: "paired", device, created: same === undefined };
    },
    async revoke(id) {
      const removed = await bounded(() => store.remove(id));
      changed();
      return removed;
    },
    async receivers() {
      if (known !== null && clock.elapsedNow() < freshUntil) return known;
      reading ??= list().finally(() => {
        reading = null;
      });
      try {
        return await reading;
      } catch (error) {
        if (known === null) throw error;
        freshUntil = clock.elapsedNow() + DEVICES_RETRY_MS;
        return known;
      }
    },
    salt() {
      salt ??= bounded(() => store.createSalt(randomHex(16))).catch((error: unknown) => {
        salt = null;
        throw error;
      });
      return salt;
    },
  };
}

const NEVER = new AbortController().signal;
