import type { Lease } from "../store.ts";

/** A stream in memory: texts by identity, and the identities in order. */
interface MemoryStream {
  readonly ids: string[];
  readonly texts: Map<string, string>;
}

/** What a simulated store keeps. Stores opened on one medium share it, as nodes share a directory. */
export interface MemoryMedium {
  readonly streams: Map<string, MemoryStream>;
  readonly documents: Map<string, Map<string, string>>;
  readonly blobs: Map<string, { readonly bytes: Uint8Array; readonly storedAtSeconds: number }>;
  readonly leases: Map<string, { readonly lease: Lease; readonly writtenAtSeconds: number }>;
}

export function memoryMedium(): MemoryMedium {
  return { streams: new Map(), documents: new Map(), blobs: new Map(), leases: new Map() };
}

/** Puts a record at its place in the order. */
export function insertRecord(medium: MemoryMedium, stream: string, id: string, text: string): void {
  const known = medium.streams.get(stream) ?? { ids: [], texts: new Map() };
  medium.streams.set(stream, known);
  let at = known.ids.length;
  while (at > 0 && (known.ids[at - 1] ?? "") > id) at--;
  known.ids.splice(at, 0, id);
  known.texts.set(id, text);
}

/** Deletes the `count` oldest records; a stream without records is no more. */
export function removeOldest(medium: MemoryMedium, stream: string, count: number): number {
  const known = medium.streams.get(stream);
  if (known === undefined || count <= 0) return 0;
  const gone = known.ids.splice(0, count);
  for (const id of gone) known.texts.delete(id);
  if (known.ids.length === 0) medium.streams.delete(stream);
  return gone.length;
}
