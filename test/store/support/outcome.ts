import { expect } from "vitest";
import type { FailureReason, Outcome } from "../../../src/store/store.ts";

/** The value of an operation that must have been done. */
export async function done<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const found = await outcome;
  if (found.kind !== "done") throw new Error(`not done but ${JSON.stringify(found)}`);
  return found.value;
}

/** The message of an operation that must have failed for this reason. */
export async function failure(outcome: Promise<Outcome<unknown>>, reason: FailureReason): Promise<string> {
  const found = await outcome;
  expect(found).toMatchObject({ kind: "failed", failure: { reason } });
  return found.kind === "failed" ? found.failure.message : "";
}
