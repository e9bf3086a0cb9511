import type { JobEntry } from "../file-part.ts";
import { type Findings, pathText, type Step } from "../problem.ts";

/** Reports what is wrong with a job once it is built, at the job's place. */
export function jobProblem({ config, index }: JobEntry, key: Step, problem: string, findings: Findings): void {
  const path = index === null ? "" : pathText(["jobs", index, key]);
  findings.problem({ at: config.place, path, job: config.name, problem });
}

/** Names in a list, each once, sorted. */
export function nameList(names: Iterable<string>): string {
  return [...new Set(names)].sort().join(", ");
}
