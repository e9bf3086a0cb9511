import type { ResourceLimits } from "../config/model.ts";
import type { LiveResources } from "../contract/launcher.ts";
import type { LimitsRecord, ResourceUsage, RunId } from "../contract/run.ts";

/** Watches what a run's whole process tree uses (running 17). One walk of the process table serves all watched runs. */
export interface ResourceMonitor {
  /** Starts watching; the first sample is taken soon after. Never throws, never changes a verdict. */
  watch(pid: number, options: { readonly intervalSeconds: number; readonly historyPoints: number }): ResourceWatch;
}

export interface ResourceWatch {
  now(): LiveResources | null;
  /**
   * Takes a last sample and stops. Resolves within 2 s, with null when nothing was ever sampled.
   *
   * @param exitTimes what waiting for the direct child told (`wait4`), where the caller has it: then also what the run used after
   *   the last sample is counted
   */
  end(exitTimes?: ExitTimes | null): Promise<ResourceUsage | null>;
}

/** CPU time of an ended process and of all the children it had waited for. */
export interface ExitTimes {
  readonly userSeconds: number;
  readonly systemSeconds: number;
}

/** Puts a run under the caps of its `resourceLimits` (running 18). */
export interface LimitsEnforcer {
  /** Makes the place the run will live in. Quick and synchronous: the control group file system lives in memory. */
  prepare(runId: RunId, job: string, limits: ResourceLimits): Cage | LimitsRefused;
}

/** `required: true` and a cap that this host cannot enforce. */
export interface LimitsRefused {
  readonly kind: "refused";
  readonly why: string;
}

export interface Cage {
  readonly kind: "cage";
  /**
   * A command that joins the cage and then execs the argv that follows it; empty when the host gives no control group to live in.
   * It comes before any change of identity. It fails to join only if the host takes the group away meanwhile: then it goes on
   * without caps, or exits 127 where they are required, and `entered` tells.
   */
  readonly argvPrefix: readonly string[];
  /** Kills all that lives in the cage, also what left the process group. Goes with every forced kill of the group. */
  kill(): void;
  /**
   * Whether a process came to live in the cage; asked when the direct child has ended. False: the command did not run under its
   * caps, and where they are required it did not run at all, which makes the run a launch failure.
   */
  entered(): boolean;
  /** What held, asked once when the run's process and output have ended; the cage is removed then or as soon as it empties. */
  finish(): LimitsRecord;
}
