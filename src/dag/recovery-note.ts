import type { JsonObject } from "../store/json.ts";
import type { RunDocument } from "./run-document.ts";

/**
 * How far the preparation of a run is. Nothing of one that is "preparing" may be claimed before its artifacts are copied (15); every run that
 * no recovery made is "ready".
 */
export type Preparation = "preparing" | "ready" | "failed";

export function preparationOf({ recovery }: Pick<RunDocument, "recovery">): Preparation {
  const status = recovery?.status;
  return status === "preparing" || status === "failed" ? status : "ready";
}

/** The run once its artifacts are there, or cannot be: then it has failed, and nothing of it ever ran. Others stay as they are. */
export function prepared(
  document: RunDocument,
  outcome: { readonly kind: "ready" } | { readonly kind: "failed"; readonly reason: string },
  now: number,
): RunDocument {
  if (document.recovery === null || document.state !== "running" || preparationOf(document) !== "preparing")
    return document;
  const recovery: JsonObject = { ...document.recovery, status: outcome.kind };
  if (outcome.kind === "ready") return { ...document, recovery, updatedAt: now };
  return { ...document, recovery: { ...recovery, reason: outcome.reason }, state: "failed", updatedAt: now };
}
