import type { LoadFacts } from "../facts.ts";
import type { Findings } from "../problem.ts";
import type { EnvFiles } from "./env-file.ts";
import type { Timings } from "./timing.ts";

/** What every part of one load shares. */
export interface BuildContext {
  readonly facts: LoadFacts;
  readonly findings: Findings;
  readonly timings: Timings;
  readonly envFiles: EnvFiles;
  /** Content of a secret's file; null when it cannot be read. Not among the files whose change is a change of configuration. */
  readSecret(path: string): string | null;
}
