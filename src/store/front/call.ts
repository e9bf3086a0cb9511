import type { ArgumentsOf, Operation, ResultOf } from "../engine.ts";
import type { Executor } from "../executor.ts";
import type { Encoded } from "../json-text.ts";
import { OPERATION_DEADLINE_MS } from "../limits.ts";
import type { Outcome, Patience } from "../store.ts";

/** Calls one operation of the engine with the caller's patience or the usual one. */
export type Call = <K extends Operation>(
  operation: K,
  args: ArgumentsOf<K>,
  patience: Patience | undefined,
) => Promise<Outcome<ResultOf<K>>>;

export function callOn(executor: Executor): Call {
  return (operation, args, patience) => executor.call(operation, args, patience?.deadlineMs ?? OPERATION_DEADLINE_MS);
}

export function done<T>(value: T): Outcome<T> {
  return { kind: "done", value };
}

/** The outcome with its value seen differently; anything but "done" stays as it is. */
export function whenDone<A, B>(outcome: Outcome<A>, view: (value: A) => B): Outcome<B> {
  return outcome.kind === "done" ? done(view(outcome.value)) : outcome;
}

/** A value that may not be written (FMT-5); nothing was. */
export function notPortable(encoded: Encoded & { readonly kind: "not portable" }): Outcome<never> {
  return { kind: "failed", failure: { reason: "not portable", message: encoded.problem } };
}
