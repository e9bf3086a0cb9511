/** What a load needs to know of the world around it. */
import { getPriority, homedir, hostname } from "node:os";
import { type UserDatabase, userDatabase } from "../platform/users.ts";
import type { Variables } from "./expand.ts";

export interface LoadFacts {
  /** For `${VAR}` and for secrets that are read at load. */
  readonly environment: Variables;
  readonly hostName: string;
  readonly platform: "posix" | "windows";
  /** The daemon's own, for paths that are not absolute. */
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** Whether the daemon may run jobs as other users, and raise their priority. */
  readonly superuser: boolean;
  /** The daemon's own nice value. */
  readonly nice: number;
  /** IANA name of the host's zone. */
  readonly hostZone: string;
  readonly nowMs: number;
  readonly users: UserDatabase;
}

/** The facts of this process. */
export function hostFacts(nowMs: number): LoadFacts {
  return {
    environment: process.env,
    hostName: hostname(),
    platform: process.platform === "win32" ? "windows" : "posix",
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    superuser: process.geteuid?.() === 0,
    nice: getPriority(),
    // Asked for only where a job is in the host's zone: the answer takes longer than a whole small load.
    get hostZone() {
      return Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    nowMs,
    users: userDatabase(),
  };
}
