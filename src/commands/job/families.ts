import { artifactFamily } from "./artifact.ts";
import { cursorFamily } from "./cursor.ts";
import { idempotentFamily } from "./idempotent.ts";
import type { JobFamily } from "./job-command.ts";
import { kvFamily } from "./kv.ts";
import { lockFamily } from "./lock.ts";
import { secretFamily } from "./secret.ts";
import { xcomFamily } from "./xcom.ts";

/** All that a job can ask its daemon for on the command line (state 20). */
export const jobFamilies: readonly JobFamily[] = [
  kvFamily,
  cursorFamily,
  idempotentFamily,
  lockFamily,
  artifactFamily,
  secretFamily,
  xcomFamily,
];
