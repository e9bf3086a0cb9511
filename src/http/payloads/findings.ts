import type { JobConfig } from "../../config/model.ts";
import { type Finding, lint } from "../../schedule/lint.ts";

const known = new WeakMap<JobConfig, readonly Finding[]>();

/** What the linter says of a job's schedule; looked at once per load, as its dates are those of the load (http 7.2). */
export function findingsOf(job: JobConfig, now: number): readonly Finding[] {
  let findings = known.get(job);
  if (findings === undefined) {
    findings = job.timing.kind === "timetable" ? lint(job.timing.schedule, job.timing.zone, now) : [];
    known.set(job, findings);
  }
  return findings;
}
