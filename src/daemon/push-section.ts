import type { Config, PushConfig } from "../config/model.ts";
import { deviceFile } from "../report/push/device-file.ts";
import { type Push, type PushParts, push } from "../report/push/push.ts";
import { deviceRegistry } from "../report/push/registry.ts";

/** The `push` section in force, made once for each content it has. Null without a section, or without a place for its devices. */
export function pushOf(config: () => Config, parts: Omit<PushParts, "config" | "registry">): () => Push | null {
  const { clock, randomHex } = parts;
  let made: { readonly section: PushConfig; readonly push: Push } | null = null;
  return () => {
    const section = config().push;
    if (section === null || section.devicesFile === null) return null;
    if (made === null || JSON.stringify(made.section) !== JSON.stringify(section)) {
      const registry = deviceRegistry(deviceFile(section.devicesFile), clock, randomHex);
      made = { section, push: push({ ...parts, config: section, registry }) };
    }
    return made.push;
  };
}
