import type { ResourceLimits } from "../../config/model.ts";
import type { LimitsRecord } from "../../contract/run.ts";

export type Cap = "cpu" | "memory" | "processes";
export type Controller = "cpu" | "memory" | "pids";

/** A cap as the kernel takes it: the controller it needs and what is written where. `optional` files may be missing. */
export interface CapSetting {
  readonly cap: Cap;
  readonly controller: Controller;
  readonly writes: readonly { readonly file: string; readonly text: string; readonly optional: boolean }[];
}

/** Length of the span over which CPU time is shared out. */
const CPU_PERIOD_US = 100_000;

/** The kernel refuses less than a millisecond a period. */
const CPU_QUOTA_MIN_US = 1_000;

/** What has to be written for these limits (running 18). */
export function capSettings({ cpu, memoryBytes, processes }: ResourceLimits): CapSetting[] {
  const settings: CapSetting[] = [];
  if (cpu !== null) {
    const quota = Math.max(CPU_QUOTA_MIN_US, Math.round(cpu * CPU_PERIOD_US));
    settings.push({ cap: "cpu", controller: "cpu", writes: [needed("cpu.max", `${quota} ${CPU_PERIOD_US}`)] });
  }
  if (memoryBytes !== null) {
    const writes = [
      needed("memory.max", String(Math.floor(memoryBytes))),
      { file: "memory.swap.max", text: "0", optional: true }, // a kernel without swap accounting has none to forbid
      needed("memory.oom.group", "1"),
    ];
    settings.push({ cap: "memory", controller: "memory", writes });
  }
  if (processes !== null) {
    settings.push({ cap: "processes", controller: "pids", writes: [needed("pids.max", String(processes))] });
  }
  return settings;
}

function needed(file: string, text: string) {
  return { file, text, optional: false };
}

/** What the kernel's files of a run's group say at its end; null for a file that is not there. */
export interface GroupFacts {
  readonly memoryEvents: string | null;
  readonly memoryPeak: string | null;
  readonly cpuStat: string | null;
  readonly pidsPeak: string | null;
}

/**
 * Whether the run was killed for the memory cap of its own group: it came to the cap (`oom`) and something was killed. A kill
 * alone may also come from the host running out of memory, which is not the job's cap.
 */
function memoryWasExceeded(memoryEvents: string | null): boolean {
  const kills = (numberIn(memoryEvents, "oom_kill") ?? 0) + (numberIn(memoryEvents, "oom_group_kill") ?? 0);
  return kills > 0 && (numberIn(memoryEvents, "oom") ?? 0) > 0;
}

/** Whether any process ever was in the group: its CPU time is accounted there, and its memory and number where those are counted. */
export function wasEntered({ cpuStat, memoryPeak, pidsPeak }: GroupFacts): boolean {
  return (numberIn(cpuStat, "usage_usec") ?? 0) > 0 || (plain(memoryPeak) ?? 0) > 0 || (plain(pidsPeak) ?? 0) > 0;
}

/** The record of a run (running 18). `facts` null: it had no group. */
export function limitsRecord(
  limits: ResourceLimits,
  enforced: LimitsRecord["enforced"],
  notEnforced: LimitsRecord["notEnforced"],
  facts: GroupFacts | null,
): LimitsRecord {
  const throttledUs = numberIn(facts?.cpuStat ?? null, "throttled_usec");
  return {
    requested: {
      ...(limits.cpu !== null && { cpu: limits.cpu }),
      ...(limits.memoryBytes !== null && { memoryBytes: limits.memoryBytes }),
      ...(limits.processes !== null && { processes: limits.processes }),
    },
    enforced,
    notEnforced,
    memoryExceeded: enforced.includes("memory") && memoryWasExceeded(facts?.memoryEvents ?? null),
    memoryPeakBytes: enforced.includes("memory") ? plain(facts?.memoryPeak ?? null) : null,
    cpuThrottledSeconds: enforced.includes("cpu") && throttledUs !== null ? throttledUs / 1e6 : null,
    processesPeak: enforced.includes("processes") ? plain(facts?.pidsPeak ?? null) : null,
  };
}

/** Value of a `key value` line. */
function numberIn(text: string | null, key: string): number | null {
  const line = text?.split("\n").find((it) => it.startsWith(`${key} `));
  return line === undefined ? null : Number(line.slice(key.length + 1));
}

function plain(text: string | null): number | null {
  return text === null ? null : Number(text.trim());
}
