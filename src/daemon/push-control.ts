import type { Logger } from "../contract/log.ts";
import type { PushControl } from "../contract/push-control.ts";
import { shownDevice } from "../report/push/device.ts";
import type { Push } from "../report/push/push.ts";
import { RegistryUnavailable } from "../report/push/registry.ts";

/** Paired devices as the API handles them; why the registry does not answer goes to the log alone (http 7.9). */
export function createPushControl({ registry, test }: Pick<Push, "registry" | "test">, log: Logger): PushControl {
  const answered = async <T>(work: () => Promise<T>): Promise<T | { readonly kind: "unavailable" }> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RegistryUnavailable)) throw error;
      log.error(`push: the device registry is unavailable: ${error.why}`);
      return { kind: "unavailable" };
    }
  };
  return {
    devices: () =>
      answered(async () => ({ kind: "devices", devices: (await registry.list()).map(shownDevice) }) as const),
    pair: (request, by) =>
      answered(async () => {
        const outcome = await registry.pair(request, by);
        if (outcome.kind === "refused") return { kind: "invalid", error: outcome.problem } as const;
        return { kind: "paired", device: shownDevice(outcome.device), created: outcome.created } as const;
      }),
    revoke: (id) =>
      answered(async () => {
        const isKnown = await registry.revoke(id);
        return isKnown ? ({ kind: "revoked" } as const) : ({ kind: "unknown device" } as const);
      }),
    test: (id) =>
      answered(async () => {
        const delivery = await test(id);
        return delivery === null ? ({ kind: "unknown device" } as const) : ({ kind: "tested", ...delivery } as const);
      }),
  };
}
