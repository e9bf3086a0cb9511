import type { ResourceLimits } from "../../config/model.ts";
import type { Logger } from "../../contract/log.ts";
import { removeGroup } from "../../platform/cgroup.ts";
import type { Clock } from "../../platform/clock.ts";
import type { LimitsEnforcer } from "../companions.ts";
import { type BaseGroup, ownGroup, prepareBase, removeLeftovers } from "./base-group.ts";
import { makeCage } from "./cage.ts";
import { capSettings } from "./caps.rules.ts";
import type { OwnGroup } from "./host.rules.ts";
import { LEFTOVER_RETRY_MS } from "./limits.ts";
import { type LimitedJob, notEnforcedWarning } from "./warning.rules.ts";

/** Puts runs under their caps by cgroup v2 (running 18). The host is looked at when the first limits are seen, not before. */
export interface CgroupEnforcer extends LimitsEnforcer {
  /**
   * Tells once, in one WARNING, which of these jobs this host cannot keep within their limits. To be called with all limited jobs
   * after each load; a job that was not announced is warned of at its first run.
   */
  announce(jobs: readonly LimitedJob[]): void;
  /** Stops looking after groups that are not empty yet; the next start removes them. */
  close(): void;
}

/** @param own where the daemon stands; tests put it somewhere else */
export function createLimitsEnforcer(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  own: () => OwnGroup = ownGroup,
): CgroupEnforcer {
  let base: BaseGroup | null = null;
  let cancelRetry = (): void => undefined;
  const leftovers = new Set<string>();
  let warned: ReadonlySet<string> = new Set();

  const baseGroup = (): BaseGroup => {
    if (base !== null) return base;
    base = prepareBase(own());
    if (base.kind === "base") {
      for (const group of removeLeftovers(base.directory, clock.wallNow())) leftovers.add(group);
      retryLater();
    }
    return base;
  };

  const retryLater = (): void => {
    cancelRetry();
    if (leftovers.size > 0) cancelRetry = clock.after(LEFTOVER_RETRY_MS, removeNow);
  };

  const removeNow = (): void => {
    for (const group of leftovers) if (removeGroup(group)) leftovers.delete(group);
    retryLater();
  };

  const takeForRemoval = (group: string): void => {
    if (removeGroup(group)) return;
    leftovers.add(group);
    if (leftovers.size === 1) retryLater();
  };

  /** Why each cap this job asks for does not hold here. */
  const obstacles = (limits: ResourceLimits): readonly { readonly cap: string; readonly reason: string }[] => {
    const found = baseGroup();
    return capSettings(limits).flatMap(({ cap, controller }) => {
      const reason = found.kind === "none" ? found.why : found.refused.get(controller);
      return reason === undefined ? [] : [{ cap, reason }];
    });
  };

  const warn = (jobs: readonly LimitedJob[]): void => {
    const affected = jobs
      .filter((job) => !warned.has(job.name))
      .map((job) => ({ ...job, obstacles: obstacles(job.limits) }))
      .filter((job) => job.obstacles.length > 0);
    if (affected.length > 0) log.warning(notEnforcedWarning(affected));
    warned = new Set([...warned, ...affected.map((job) => job.name)]);
  };

  return {
    announce(jobs) {
      const names = new Set(jobs.map((job) => job.name));
      warned = new Set([...warned].filter((name) => names.has(name)));
      warn(jobs);
    },
    prepare(runId, job, limits) {
      warn([{ name: job, limits }]);
      return makeCage(baseGroup(), runId, limits, takeForRemoval);
    },
    close: () => cancelRetry(),
  };
}
