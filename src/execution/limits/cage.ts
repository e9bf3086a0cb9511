import type { ResourceLimits } from "../../config/model.ts";
import type { LimitsRecord } from "../../contract/run.ts";
import { killGroup, makeGroup, readGroupFile, writeGroupFile } from "../../platform/cgroup.ts";
import type { Cage, LimitsRefused } from "../companions.ts";
import type { BaseGroup } from "./base-group.ts";
import { runGroup } from "./base-group.ts";
import { type CapSetting, capSettings, type GroupFacts, limitsRecord, wasEntered } from "./caps.rules.ts";

/**
 * Joins the group named by $0, then becomes the command: the command's first instruction is already under the caps. "0" is the
 * process that writes.
 */
const JOIN = '{ echo 0 > "$0/cgroup.procs"; } 2>/dev/null; exec "$@"';
const JOIN_OR_FAIL = '{ echo 0 > "$0/cgroup.procs"; } 2>/dev/null || exit 127; exec "$@"';

type NotEnforced = LimitsRecord["notEnforced"];

/**
 * The place for one run under its limits, in a group of its own.
 *
 * @param onFinished takes the group for removal
 */
export function makeCage(
  base: BaseGroup,
  runId: string,
  limits: ResourceLimits,
  onFinished: (group: string) => void,
): Cage | LimitsRefused {
  const settings = capSettings(limits);
  if (base.kind === "none") return withoutGroup(limits, allOf(settings, base.why));
  const group = runGroup(base.directory, runId);
  const refusal = makeGroup(group);
  if (refusal !== null)
    return withoutGroup(limits, allOf(settings, `no control group could be made in ${base.directory}: ${refusal}`));

  const notEnforced = settings.flatMap((setting) => {
    const why = base.refused.get(setting.controller) ?? applyCap(group, setting);
    return why === null ? [] : [{ cap: setting.cap, reason: why }];
  });
  if (limits.required && notEnforced.length > 0) {
    onFinished(group);
    return refused(notEnforced);
  }
  const enforced = settings.map((it) => it.cap).filter((cap) => notEnforced.every((it) => it.cap !== cap));
  return {
    kind: "cage",
    argvPrefix: ["/bin/sh", "-c", limits.required ? JOIN_OR_FAIL : JOIN, group],
    kill: () => killGroup(group),
    entered: () => wasEntered(factsOf(group)),
    finish() {
      const facts = factsOf(group);
      onFinished(group);
      if (wasEntered(facts)) return limitsRecord(limits, enforced, notEnforced, facts);
      return limitsRecord(limits, [], allOf(settings, "the process did not come to join its control group"), null);
    },
  };
}

function withoutGroup(limits: ResourceLimits, notEnforced: NotEnforced): Cage | LimitsRefused {
  if (limits.required) return refused(notEnforced);
  return {
    kind: "cage",
    argvPrefix: [],
    kill: () => undefined,
    entered: () => true,
    finish: () => limitsRecord(limits, [], notEnforced, null),
  };
}

function refused(notEnforced: NotEnforced): LimitsRefused {
  return { kind: "refused", why: [...new Set(notEnforced.map((it) => it.reason))].join("; ") };
}

function allOf(settings: readonly CapSetting[], reason: string): NotEnforced {
  return settings.map(({ cap }) => ({ cap, reason }));
}

/** @returns why it does not hold, null when it does */
function applyCap(group: string, { writes }: CapSetting): string | null {
  for (const { file, text, optional } of writes) {
    const refusal = writeGroupFile(group, file, text);
    if (refusal !== null && !(optional && refusal === "ENOENT"))
      return `the kernel refused ${text} for ${file}: ${refusal}`;
  }
  return null;
}

function factsOf(group: string): GroupFacts {
  return {
    memoryEvents: readGroupFile(group, "memory.events"),
    memoryPeak: readGroupFile(group, "memory.peak"),
    cpuStat: readGroupFile(group, "cpu.stat"),
    pidsPeak: readGroupFile(group, "pids.peak"),
  };
}
