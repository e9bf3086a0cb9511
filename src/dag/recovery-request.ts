import type { Fields } from "../contract/control-plane.ts";
import { type InstantRange, readRange } from "./instant-range.ts";
import type { RecoveryRequest } from "./recovery-selection.rules.ts";

/** What both kinds of recovery are asked with. */
export interface RecoveryTerms {
  /** Null for a preview. */
  readonly planToken: string | null;
  readonly allowConfigChange: boolean;
}

type Judged<T> = { readonly kind: "request"; readonly value: T } | { readonly kind: "invalid"; readonly error: string };

/** Fields as somebody sent them, judged; absent and null ones have their defaults (15). */
export function readRecoveryRequest(fields: Fields): Judged<RecoveryTerms & RecoveryRequest> {
  const terms = readTerms(fields);
  if (terms.kind === "invalid") return terms;
  const mode = fields.mode ?? "failed";
  const tasks = fields.tasks ?? [];
  if (typeof mode !== "string") return invalid("mode must be a string");
  if (!Array.isArray(tasks) || !tasks.every((task) => typeof task === "string"))
    return invalid("tasks must be a list of strings");
  return { kind: "request", value: { ...terms.value, mode, tasks } };
}

export function readRangeRequest(fields: Fields): Judged<RecoveryTerms & { readonly range: InstantRange }> {
  const terms = readTerms(fields);
  if (terms.kind === "invalid") return terms;
  const { from, to } = fields;
  if (typeof from !== "string" || typeof to !== "string")
    return invalid("recovery needs string `from` and `to` ISO dates");
  const range = readRange(from, to);
  return range === null ? invalid("bad date range") : { kind: "request", value: { ...terms.value, range } };
}

function readTerms(fields: Fields): Judged<RecoveryTerms> {
  const { dryRun, planToken, allowConfigChange } = {
    dryRun: fields.dryRun ?? true,
    planToken: fields.planToken ?? null,
    allowConfigChange: fields.allowConfigChange ?? false,
  };
  if (typeof dryRun !== "boolean") return invalid("dryRun must be true or false");
  if (typeof allowConfigChange !== "boolean") return invalid("allowConfigChange must be true or false");
  if (planToken !== null && typeof planToken !== "string") return invalid("planToken must be a string");
  if (dryRun) return { kind: "request", value: { planToken: null, allowConfigChange } };
  if (planToken === null || planToken === "") return invalid("dryRun: false needs the planToken of a preview");
  return { kind: "request", value: { planToken, allowConfigChange } };
}

function invalid(error: string): { readonly kind: "invalid"; readonly error: string } {
  return { kind: "invalid", error };
}
