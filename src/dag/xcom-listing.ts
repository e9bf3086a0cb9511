import type { DagXcom } from "../contract/wire/dags.ts";
import { type Backend, onBackend } from "../journal/backend.ts";
import { inParallel } from "../journal/parallel.ts";
import { compareCodePoints, type JsonObject, plainJson } from "../store/json.ts";
import { PARALLEL_READS, XCOM_ENTRIES_MAX, XCOM_INLINE_BYTES_MAX } from "./cadence.ts";
import { xcomStream } from "./run-key.rules.ts";

type Entry = DagXcom["entries"][number];

/** What the tasks of a run have published, the newest version per name; nothing while the store does not answer (16). */
export async function xcomEntries(
  backend: Backend,
  dag: string,
  runId: string,
): Promise<Pick<DagXcom, "entries" | "truncated">> {
  const newest = await onBackend(backend, ({ records }) =>
    records.newestByKey(xcomStream(dag, runId), "name", { reading: "tolerant" }),
  );
  if (newest.kind !== "done") return { entries: [], truncated: false };
  const found = newest.value.flatMap(({ data }) => recordOf(data)).sort((a, b) => compareCodePoints(a.name, b.name));
  const entries: Entry[] = [];
  await inParallel(found.slice(0, XCOM_ENTRIES_MAX).entries(), PARALLEL_READS, async ([at, { name, ...record }]) => {
    const slash = name.indexOf("/"); // a key may hold one too (D-XCM-7)
    const named =
      slash < 0 ? { taskkey: name, key: "" } : { taskkey: name.slice(0, slash), key: name.slice(slash + 1) };
    entries[at] = { ...named, ...record, ...(await inlined(backend, record)) };
    return "go on";
  });
  return { entries, truncated: found.length > XCOM_ENTRIES_MAX };
}

/** UTF-8 as it is, a byte order mark included. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function inlined(
  backend: Backend,
  { sha256, size }: Pick<Entry, "sha256" | "size">,
): Promise<Pick<Entry, "value" | "binary" | "oversize">> {
  if (size > XCOM_INLINE_BYTES_MAX) return { oversize: true };
  const payload = await onBackend(backend, ({ blobs }) => blobs.get(sha256));
  if (payload.kind !== "done" || payload.value === null) return {};
  if (payload.value.length > XCOM_INLINE_BYTES_MAX) return { oversize: true };
  try {
    return { value: decoder.decode(payload.value) };
  } catch {
    return { binary: true }; // not UTF-8
  }
}

function recordOf(data: JsonObject): { name: string; sha256: string; size: number; at: number }[] {
  const { name, sha256 } = data;
  const [size, at] = [plainJson(data.size ?? null), plainJson(data.at ?? null)];
  if (typeof name !== "string" || typeof sha256 !== "string") return [];
  return [{ name, sha256, size: typeof size === "number" ? size : 0, at: typeof at === "number" ? at : 0 }];
}
