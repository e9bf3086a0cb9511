import { LIST_LIMIT_MAX } from "../../store/limits.ts";
import { type Backend, onBackend } from "../backend.ts";
import { failureText } from "../drops.ts";
import { presentStreams } from "../present-streams.ts";

export type SweptBlobs =
  | { readonly kind: "swept"; readonly count: number }
  /** Nobody knows all references, so no payload is proven unused (GC-4). */
  | { readonly kind: "stood down"; readonly because: string };

/**
 * Deletes payloads that no artifact record refers to and that are older than the grace (GC-3).
 *
 * @param deleted streams that are gone, or in a dry run would be
 */
export async function sweepBlobs(
  backend: Backend,
  deleted: ReadonlySet<string>,
  beforeSeconds: number,
  dryRun: boolean,
): Promise<SweptBlobs> {
  const referenced = new Set<string>();
  const streams = await presentStreams(backend, "artifacts/");
  if (streams.kind !== "done") return stoodDown(failureText(streams));
  if (!streams.value.complete) return stoodDown("an artifact stream cannot be named");
  for (const scope of streams.value.names) {
    if (deleted.has(`artifacts/${scope}`)) continue;
    const listed = await onBackend(backend, ({ records }) =>
      records.list(`artifacts/${scope}`, { order: "newest first", limit: LIST_LIMIT_MAX, reading: "strict" }),
    );
    if (listed.kind !== "done") return stoodDown(`artifacts of scope ${scope} cannot be read: ${failureText(listed)}`);
    if (listed.value.length >= LIST_LIMIT_MAX) return stoodDown(`scope ${scope} has too many artifact records to read`);
    for (const { data } of listed.value) {
      if (typeof data.sha256 !== "string") return stoodDown(`an artifact of scope ${scope} does not name its payload`);
      referenced.add(data.sha256);
    }
  }
  const swept = await onBackend(backend, ({ upkeep }) => upkeep.collectBlobs(referenced, beforeSeconds, dryRun));
  return swept.kind === "done" ? { kind: "swept", count: swept.value } : stoodDown(failureText(swept));
}

function stoodDown(because: string): SweptBlobs {
  return { kind: "stood down", because };
}
