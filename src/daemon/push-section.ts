import type { PushConfig } from "../config/model.ts";
import type { Push, PushParts } from "../report/push/push.ts";

/** The `push` section in force: what sends its alerts, once it has been loaded. */
export interface PushSection {
  /** Takes a section, or none. Nothing of push is loaded before the first one, and a section with the same content stays. */
  apply(section: PushConfig | null): void;
  /** Null without a section, or without a place for its devices. */
  current(): Push | null;
}

export function pushSection(parts: Omit<PushParts, "config" | "registry">): PushSection {
  const { clock, log, randomHex } = parts;
  let asked = "null";
  let push: Push | null = null;
  return {
    apply(section) {
      const content = JSON.stringify(section);
      if (content === asked) return;
      asked = content;
      push = null;
      const devicesFile = section?.devicesFile ?? null;
      if (section === null || devicesFile === null) return;
      makePush(section, devicesFile).then(
        (made) => {
          if (content === asked) push = made;
        },
        (error: unknown) => log.error(`push: could not be loaded, so nothing is pushed: ${String(error)}`),
      );
    },
    current: () => push,
  };

  async function makePush(section: PushConfig, devicesFile: string): Promise<Push> {
    const [{ deviceFile }, { push: create }, { deviceRegistry }] = await Promise.all([
      import("../report/push/device-file.ts"),
      import("../report/push/push.ts"),
      import("../report/push/registry.ts"),
    ]);
    const registry = deviceRegistry(deviceFile(devicesFile), clock, randomHex);
    return create({ ...parts, config: section, registry });
  }
}
