import type { ResourceLimits } from "../../config/model.ts";
import { NAMED_JOBS_MAX } from "./limits.ts";

export interface LimitedJob {
  readonly name: string;
  readonly limits: ResourceLimits;
}

export interface AffectedJob extends LimitedJob {
  readonly obstacles: readonly { readonly cap: string; readonly reason: string }[];
}

/** One line for all jobs whose caps this host cannot hold: which caps and why, and what becomes of the jobs. */
export function notEnforcedWarning(jobs: readonly AffectedJob[]): string {
  const reasons = new Map<string, Set<string>>();
  for (const { cap, reason } of jobs.flatMap((job) => job.obstacles)) {
    reasons.set(reason, (reasons.get(reason) ?? new Set()).add(cap));
  }
  const why = [...reasons].map(([reason, caps]) => `${[...caps].join(", ")} (${reason})`).join("; ");
  const uncapped = jobs.filter((job) => !job.limits.required);
  const refused = jobs.filter((job) => job.limits.required);
  return [
    `resourceLimits this host cannot enforce: ${why}.`,
    ...(uncapped.length > 0 ? [`Run without: ${names(uncapped)}.`] : []),
    ...(refused.length > 0 ? [`Not started, since required: ${names(refused)}.`] : []),
  ].join(" ");
}

function names(jobs: readonly AffectedJob[]): string {
  const shown = jobs.slice(0, NAMED_JOBS_MAX).map((job) => job.name);
  const more = jobs.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
