import type { Outcome, Store } from "../store/store.ts";

/**
 * The store as the journal finds it: null while the `state` section is there and its backend is not, because it could not be started
 * or is being rebuilt (GEN-6). Asked at each operation, so a backend that comes back is used without anyone being told.
 */
export type Backend = () => Store | null;

/** One operation on the store of the moment; without one it failed. */
export async function onBackend<T>(
  backend: Backend,
  operation: (store: Store) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const store = backend();
  if (store === null)
    return { kind: "failed", failure: { reason: "closed", message: "the state backend is not running" } };
  return operation(store);
}
