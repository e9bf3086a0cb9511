import type { PushConfig } from "../config/model.ts";
import type { DeviceStore } from "../report/push/device-store.ts";
import type { Push, PushParts } from "../report/push/push.ts";
import type { Store } from "../store/store.ts";

/** The `push` section in force: what sends its alerts, once it has been loaded. */
export interface PushSection {
  /** Takes a section, or none. Nothing of push is loaded before the first one, and a section with the same content stays. */
  apply(section: PushConfig | null): void;
  /** Null without a section, and until it is loaded. */
  current(): Push | null;
}

export function pushSection(
  parts: Omit<PushParts, "config" | "registry"> & {
    /** The store of the moment; null while there is none. */
    store(): Store | null;
  },
): PushSection {
  const { clock, log, randomHex } = parts;
  let asked = "null";
  let push: Push | null = null;
  return {
    apply(section) {
      const content = JSON.stringify(section);
      if (content === asked) return;
      asked = content;
      push = null;
      if (section === null) return;
      makePush(section).then(
        (made) => {
          if (content === asked) push = made;
        },
        (error: unknown) => log.error(`push: could not be loaded, so nothing is pushed: ${String(error)}`),
      );
    },
    current: () => push,
  };

  async function makePush(section: PushConfig): Promise<Push> {
    const [devices, { push: create }, { deviceRegistry }] = await Promise.all([
      placeOf(section),
      import("../report/push/push.ts"),
      import("../report/push/registry.ts"),
    ]);
    return create({ ...parts, config: section, registry: deviceRegistry(devices, clock, randomHex) });
  }

  /** A file wins over the store (running 12.5); one of them there is, or the configuration is not valid. */
  async function placeOf({ devicesFile }: PushConfig): Promise<DeviceStore> {
    if (devicesFile === null) return (await import("../report/push/device-documents.ts")).deviceDocuments(parts.store);
    return (await import("../report/push/device-file.ts")).deviceFile(devicesFile);
  }
}
