import {
  type ArgumentsOf,
  type Engine,
  LockBusy,
  type Operation,
  type ResultOf,
  StoreFault,
  Unconfirmed,
} from "./engine.ts";
import type { Outcome } from "./store.ts";

/** An outcome, or that the operation had no effect because somebody else holds its lock. */
export type Attempt<T> = Outcome<T> | { readonly kind: "busy" };

/** Calls an engine and turns whatever it throws into what the store answers. */
export function attempt<K extends Operation>(engine: Engine, operation: K, args: ArgumentsOf<K>): Attempt<ResultOf<K>> {
  // TypeScript does not see that argument and result belong to the same operation.
  const run = engine[operation] as (args: ArgumentsOf<K>) => ResultOf<K>;
  try {
    return { kind: "done", value: run(args) };
  } catch (error) {
    if (error instanceof LockBusy) return { kind: "busy" };
    if (error instanceof Unconfirmed) return { kind: "unknown", because: error.message };
    if (error instanceof StoreFault)
      return { kind: "failed", failure: { reason: error.reason, message: error.message } };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: "failed", failure: { reason: "io", message } };
  }
}
