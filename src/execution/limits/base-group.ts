import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  childGroups,
  groupMadeAt,
  groupProcesses,
  makeGroup,
  readGroupFile,
  removeGroup,
  writeGroupFile,
} from "../../platform/cgroup.ts";
import type { Controller } from "./caps.rules.ts";
import { locateOwnGroup, type OwnGroup } from "./host.rules.ts";
import { LEFTOVER_AGE_MIN_MS, MOVE_PASSES } from "./limits.ts";

/**
 * The group below which each limited run gets one of its own. Controllers missing from `refused` work there; for the others it says
 * why not.
 */
export type BaseGroup =
  | { readonly kind: "base"; readonly directory: string; readonly refused: ReadonlyMap<Controller, string> }
  | { readonly kind: "none"; readonly why: string };

const CONTROLLERS: readonly Controller[] = ["cpu", "memory", "pids"];

/** The leaf the daemon moves into: a group with processes of its own cannot hand controllers down. */
const DAEMON_GROUP = "cronstable-daemon";

const RUN_PREFIX = "cronstable-run-";

export function runGroup(base: string, runId: string): string {
  return join(base, RUN_PREFIX + runId);
}

/** Where this process stands, as the kernel tells. */
export function ownGroup(): OwnGroup {
  if (process.platform !== "linux") return { kind: "none", why: `${process.platform} has no control groups` };
  try {
    const membership = readFileSync("/proc/self/cgroup", "utf8");
    return locateOwnGroup(membership, readFileSync("/proc/self/mountinfo", "utf8"));
  } catch (error) {
    return { kind: "none", why: `control groups cannot be found out: ${String(error)}` };
  }
}

/** Makes the own group ready to have run groups in it. Moves the daemon, and what else is there, into a leaf beside them. */
export function prepareBase(own: OwnGroup): BaseGroup {
  if (own.kind === "none") return own;
  // Started in the leaf already: by systemd's DelegateSubgroup=, by a daemon whose job this is, or by an earlier call.
  const directory = basename(own.directory) === DAEMON_GROUP ? dirname(own.directory) : own.directory;
  const isRoot = readGroupFile(directory, "cgroup.type") === null; // only the host's root group may have both
  const obstacle = isRoot ? writeObstacle(directory) : moveIntoLeaf(directory);
  if (obstacle !== null) {
    return { kind: "none", why: `${directory} is not delegated to the daemon (systemd: Delegate=yes): ${obstacle}` };
  }
  return { kind: "base", directory, refused: enableControllers(directory, own.heldByV1) };
}

/** Whether groups can be made at all; the host's root group needs no leaf. */
function writeObstacle(base: string): string | null {
  const probe = runGroup(base, `probe-${process.pid}`);
  const refusal = makeGroup(probe);
  if (refusal === null) removeGroup(probe);
  return refusal;
}

function moveIntoLeaf(base: string): string | null {
  const leaf = join(base, DAEMON_GROUP);
  const refusal = makeGroup(leaf);
  if (refusal !== null) return refusal;
  for (let pass = 0; pass < MOVE_PASSES; pass += 1) {
    const pids = groupProcesses(base).filter((pid) => pid > 0); // 0 is one of another pid namespace
    if (pids.length === 0) break;
    // One that has just ended, or that may not be moved, is left: enabling the controllers tells whether it matters.
    for (const pid of pids) writeGroupFile(leaf, "cgroup.procs", String(pid));
  }
  return null;
}

function enableControllers(base: string, heldByV1: ReadonlySet<string>): Map<Controller, string> {
  const available = words(readGroupFile(base, "cgroup.controllers"));
  const enabled = words(readGroupFile(base, "cgroup.subtree_control"));
  const refused = new Map<Controller, string>();
  for (const controller of CONTROLLERS) {
    if (enabled.has(controller)) continue;
    if (!available.has(controller)) {
      const why = heldByV1.has(controller)
        ? `cgroup v1 holds the ${controller} controller on this host; boot it with systemd.unified_cgroup_hierarchy=1`
        : `the ${controller} controller is not delegated to ${base}`;
      refused.set(controller, why);
      continue;
    }
    const refusal = writeGroupFile(base, "cgroup.subtree_control", `+${controller}`);
    if (refusal !== null)
      refused.set(controller, `the ${controller} controller cannot be enabled in ${base}: ${refusal}`);
  }
  return refused;
}

function words(text: string | null): Set<string> {
  return new Set(text?.split(/\s+/).filter(Boolean));
}

/** Removes groups of runs that a daemon before this one left behind. @returns those that still have processes */
export function removeLeftovers(base: string, now: number): string[] {
  return childGroups(base)
    .filter((name) => name.startsWith(RUN_PREFIX))
    .map((name) => join(base, name))
    .filter((group) => (groupMadeAt(group) ?? now) < now - LEFTOVER_AGE_MIN_MS)
    .filter((group) => !removeGroup(group));
}
