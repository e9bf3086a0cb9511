import type { Outcome } from "../store/store.ts";
import { type Backend, onBackend } from "./backend.ts";

/**
 * Who has a stream of a family, so that a pass over many jobs reads only those. Names without the family's prefix. When the store could
 * not name everything it holds, everybody may have one (ENC-6).
 */
export interface PresentStreams {
  readonly names: readonly string[];
  readonly complete: boolean;
  has(name: string): boolean;
}

/** @param prefix ends in `/` */
export async function presentStreams(backend: Backend, prefix: string): Promise<Outcome<PresentStreams>> {
  const found = await onBackend(backend, ({ records }) => records.streams(prefix));
  if (found.kind !== "done") return found;
  const names = found.value.names.map((name) => name.slice(prefix.length));
  const known = new Set(names);
  const { complete } = found.value;
  const has = complete ? (name: string) => known.has(name) : () => true;
  return { kind: "done", value: { names, complete, has } };
}
