import type { LaunchRequest } from "../contract/launcher.ts";
import { foreseenFailure } from "../platform/spawn/spawn-failure.ts";
import type { ChildEnvironment } from "../platform/spawn/spawner.ts";
import { argvOf } from "./command.ts";
import type { Cage, LimitsEnforcer } from "./companions.ts";
import { runEnvironment, type Variables } from "./environment.ts";
import { identityPrefix } from "./identity.ts";

/** How a run's command is started. */
export type StartPlan =
  | {
      readonly kind: "plan";
      /** The command as configured, without what goes before it. */
      readonly command: readonly string[];
      /** What joins the cage, changes user and group, sets the umask; `verify` goes through the same. */
      readonly prefix: readonly string[];
      readonly environment: ChildEnvironment;
      readonly cage: Cage | null;
    }
  | {
      readonly kind: "impossible";
      readonly command: readonly string[];
      readonly why: string;
      /** Set when it is for want of limits that the job requires. */
      readonly limitsRefused: string | null;
    };

/** Puts together what starting a run takes, and finds what is known to fail before anything is started. A plan's cage stands already. */
export function planStart(
  { runId, job: { name, command, launch }, injectedEnvironment }: LaunchRequest,
  base: Variables,
  limits: LimitsEnforcer | null,
): StartPlan {
  const argv = argvOf(command, launch.shell);
  const impossible = (why: string, limitsRefused: string | null = null): StartPlan => ({
    kind: "impossible",
    command: argv,
    why,
    limitsRefused,
  });

  const environment = runEnvironment(base, launch.environment, injectedEnvironment);
  const identity = identityPrefix(launch, base.PATH);
  if (identity.kind === "impossible") return impossible(identity.why);
  if (identity.argv.length > 0 || launch.resourceLimits !== null) {
    // Behind a chain of programs a missing command would look like one that exited with 127 itself.
    const path = environment.added.PATH ?? environment.base.PATH;
    const problem = foreseenFailure({ program: argv[0] ?? "", workingDirectory: launch.workingDirectory }, path);
    if (problem !== null) return impossible(problem);
  }
  const cage = launch.resourceLimits === null ? null : (limits?.prepare(runId, name, launch.resourceLimits) ?? null);
  if (cage?.kind === "refused") return impossible(`resource limits could not be enforced: ${cage.why}`, cage.why);
  return { kind: "plan", command: argv, prefix: [...(cage?.argvPrefix ?? []), ...identity.argv], environment, cage };
}
