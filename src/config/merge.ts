/** How what a file writes lies over what it inherits (config 4). */
import { type JobDefaults, type WrittenDefaults, whenWritten } from "./options/job.ts";

/**
 * A job's options: what is written wins over `base`, mappings key by key, `environment` and `secrets` by name; other lists are added
 * to the base's, but for those that are one thing as a whole. Parts nobody overrides are the base's own objects.
 */
export function mergeOver(base: JobDefaults, written: WrittenDefaults): JobDefaults {
  return mergeMaps(base as Table, written as Table, whenWritten) as unknown as JobDefaults;
}

/** The same for two `defaults` blocks: the result is what both wrote and nothing else. */
export function foldDefaults(below: WrittenDefaults, above: WrittenDefaults): WrittenDefaults {
  return mergeMaps(below as Table, above as Table, {}) as WrittenDefaults;
}

type Table = Readonly<Record<string, unknown>>;

/** Blocks that a blank key takes away; under any other key it leaves the base's block as it is. */
const clearable = new Set(["verify", "resourceLimits"]);

/** Lists that replace the base's: an argv, a grouping, none of which means anything when added to another. */
const wholeLists = new Set(["fingerprint", "command"]);

/** Lists of named entries, with the key that holds the name. */
const namedBy: ReadonlyMap<string, string> = new Map([
  ["environment", "key"],
  ["secrets", "name"],
]);

/** @param whenWritten what a mapping has whose base has none */
function mergeMaps(base: Table, written: Table, whenWritten: Table): Table {
  const merged: Record<string, unknown> = { ...base };
  for (const key of Object.keys(written)) merged[key] = mergeValues(key, base[key], written[key], whenWritten);
  return merged;
}

function mergeValues(key: string, base: unknown, written: unknown, whenWritten: Table): unknown {
  const below = isTable(written) && !isTable(base) ? (whenWritten[key] ?? base) : base;
  if (isTable(below)) {
    if (isTable(written)) return mergeMaps(below, written, whenWritten);
    return written === null && !clearable.has(key) ? below : written;
  }
  if (!Array.isArray(below) || !Array.isArray(written) || wholeLists.has(key)) return written;
  const name = namedBy.get(key);
  return name === undefined ? [...below, ...written] : mergeNamed(below, written, name);
}

function mergeNamed(base: readonly Table[], written: readonly Table[], name: string): readonly Table[] {
  const merged = new Map(base.map((entry) => [entry[name], entry]));
  for (const entry of written) merged.set(entry[name], entry);
  return [...merged.values()];
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
