import type { Executor } from "../executor.ts";
import { UPKEEP_DEADLINE_MS } from "../limits.ts";
import type { Outcome, Upkeep } from "../store.ts";
import { type Call, done } from "./call.ts";

const patience = { deadlineMs: UPKEEP_DEADLINE_MS };

/** Garbage collection in steps short enough that ordinary writes get in between. */
export function upkeepOver(call: Call, learn: Executor["learn"]): Upkeep {
  return {
    async collectStream(stream, beforeSeconds, dryRun) {
      const outcome = await call("collectStream", { stream, beforeSeconds, dryRun }, patience);
      if (outcome.kind === "done" && outcome.value.kind === "collected" && !dryRun)
        learn("read", { kind: "emptied", stream });
      return outcome;
    },

    async collectDocuments(namespacePrefix, field, beforeSeconds, dryRun) {
      const namespaces = await call("namespaceNames", { prefix: namespacePrefix }, patience);
      if (namespaces.kind !== "done") return namespaces;
      return sum(namespaces.value.names, (namespace) =>
        call("collectDocuments", { namespace, field, beforeSeconds, dryRun }, patience),
      );
    },

    collectLeases: (prefix, beforeSeconds, dryRun) =>
      call("collectLeases", { prefix, beforeSeconds, dryRun }, patience),

    collectBlobs(referenced, beforeSeconds, dryRun) {
      const byShard = new Map<string, string[]>(SHARDS.map((shard) => [shard, []]));
      for (const sha256 of referenced) byShard.get(sha256.slice(0, 2))?.push(sha256);
      return sum([...byShard], ([shard, kept]) =>
        call("collectBlobs", { shard, referenced: kept, beforeSeconds, dryRun }, patience),
      );
    },

    tidy: (cutoffs, dryRun) => call("tidy", { cutoffs, dryRun }, patience),
    inventory: (options) => call("inventory", {}, options),
  };
}

const SHARDS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Adds up what the steps answer, one after the other; ends with the first that fails. */
async function sum<T>(steps: readonly T[], run: (step: T) => Promise<Outcome<number>>): Promise<Outcome<number>> {
  let total = 0;
  for (const step of steps) {
    const outcome = await run(step);
    if (outcome.kind !== "done") return outcome;
    total += outcome.value;
  }
  return done(total);
}
