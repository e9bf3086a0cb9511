import { readFileSync } from "node:fs";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { readGroupFile } from "./cgroup.ts";
import type { Clock } from "./clock.ts";

/** How busy this node is: the machine, or the container's limits where it has some (http 7.6). */
export interface NodeUsage {
  /** Since the reading before, 0 at the first; 100 is all of `cpuCount`. */
  readonly cpuPercent: number;
  readonly cpuCount: number;
  readonly memoryPercent: number;
  readonly memoryUsedBytes: number;
  readonly memoryTotalBytes: number;
  /** The daemon itself; null where the system does not tell. 100 is one processor. */
  readonly processRssBytes: number | null;
  readonly processCpuPercent: number | null;
}

/** Where the kernel tells of itself, for tests. */
export interface KernelFiles {
  readonly proc: string;
  readonly cgroups: string;
}

const kernelFiles: KernelFiles = { proc: "/proc", cgroups: "/sys/fs/cgroup" };

/** A reading is shared by all who ask within this time: processor time needs a while to measure. */
const SHARED_MS = 1_000;

/** Busy and available processor time so far, in seconds. */
interface CpuReading {
  readonly busySeconds: number;
  readonly availableSeconds: number;
  readonly count: number;
}

interface MemoryReading {
  readonly usedBytes: number;
  readonly totalBytes: number;
}

/** Readings of the node's load. Each takes some ten microseconds: a few small files of the kernel. */
export function nodeUsage(clock: Clock, files: KernelFiles = kernelFiles): () => NodeUsage | null {
  let shared: { readonly at: number; readonly usage: NodeUsage } | null = null;
  let before: { readonly at: number; readonly cpu: CpuReading; readonly ownSeconds: number } | null = null;

  return () => {
    const at = clock.elapsedNow();
    if (shared !== null && at - shared.at < SHARED_MS) return shared.usage;
    const groups = ownGroups(files);
    const cpu = cappedCpu(groups, at) ?? machineCpu(files);
    const memory = cappedMemory(groups, machineMemory(files));
    const { user, system } = process.cpuUsage();
    const ownSeconds = (user + system) / 1e6;
    const elapsedSeconds = before === null ? 0 : (at - before.at) / 1000;
    const usage: NodeUsage = {
      cpuPercent: before === null ? 0 : sharePercent(before.cpu, cpu),
      cpuCount: cpu.count,
      memoryPercent: (memory.usedBytes / memory.totalBytes) * 100,
      memoryUsedBytes: memory.usedBytes,
      memoryTotalBytes: memory.totalBytes,
      processRssBytes: process.memoryUsage.rss(),
      processCpuPercent:
        before === null || elapsedSeconds === 0 ? 0 : ((ownSeconds - before.ownSeconds) / elapsedSeconds) * 100,
    };
    before = { at, cpu, ownSeconds };
    shared = { at, usage };
    return usage;
  };
}

function sharePercent(before: CpuReading, now: CpuReading): number {
  const available = now.availableSeconds - before.availableSeconds;
  if (available <= 0) return 0;
  return Math.min(100, Math.max(0, ((now.busySeconds - before.busySeconds) / available) * 100));
}

/** Linux counts hundredths of a second whatever its timer. */
const TICKS_PER_SECOND = 100;

function machineCpu({ proc }: KernelFiles): CpuReading {
  const count = availableParallelism();
  const line = /^cpu +(.*)$/m.exec(readText(join(proc, "stat")) ?? "")?.[1];
  if (line === undefined) return machineCpuByNode(count);
  const ticks = line.trim().split(/\s+/).map(Number);
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft = 0, stolen = 0] = ticks;
  const busy = user + nice + system + interrupts + soft + stolen;
  return {
    busySeconds: busy / TICKS_PER_SECOND,
    availableSeconds: (busy + idle + wait) / TICKS_PER_SECOND,
    count,
  };
}

function machineCpuByNode(count: number): CpuReading {
  let busy = 0;
  let idle = 0;
  for (const { times } of cpus()) {
    busy += times.user + times.nice + times.sys + times.irq;
    idle += times.idle;
  }
  return { busySeconds: busy / 1000, availableSeconds: (busy + idle) / 1000, count };
}

function machineMemory({ proc }: KernelFiles): MemoryReading {
  const text = readText(join(proc, "meminfo")) ?? "";
  const kilobytes = (name: string): number | null => {
    const found = new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  const [total, available] = [kilobytes("MemTotal"), kilobytes("MemAvailable")];
  if (total === null || available === null) return { totalBytes: totalmem(), usedBytes: totalmem() - freemem() };
  return { totalBytes: total * 1024, usedBytes: (total - available) * 1024 };
}

/** Own control group and those above it, nearest first; none without cgroup v2. */
function ownGroups({ proc, cgroups }: KernelFiles): readonly string[] {
  const path = /^0::(\/.*)$/m.exec(readText(join(proc, "self/cgroup")) ?? "")?.[1];
  if (path === undefined) return [];
  const groups: string[] = [];
  for (let at = join(cgroups, path); at.startsWith(cgroups); at = dirname(at)) groups.push(at);
  return groups;
}

/** Against the tightest quota; null without one. */
function cappedCpu(groups: readonly string[], elapsedMs: number): CpuReading | null {
  let tightest: { readonly group: string; readonly processors: number } | null = null;
  for (const group of groups) {
    const [quota, period] = (readGroup(group, "cpu.max") ?? "max").trim().split(" ").map(Number);
    if (quota === undefined || period === undefined || Number.isNaN(quota) || period === 0) continue;
    const processors = quota / period;
    if (tightest === null || processors < tightest.processors) tightest = { group, processors };
  }
  if (tightest === null) return null;
  const used = /^usage_usec (\d+)$/m.exec(readGroup(tightest.group, "cpu.stat") ?? "")?.[1];
  if (used === undefined) return null;
  return {
    busySeconds: Number(used) / 1e6,
    availableSeconds: (elapsedMs / 1000) * tightest.processors,
    count: Math.ceil(tightest.processors),
  };
}

/** Against the tightest limit below what the machine has. What the kernel could drop at once is not used. */
function cappedMemory(groups: readonly string[], machine: MemoryReading): MemoryReading {
  let capped = machine;
  for (const group of groups) {
    const limit = Number((readGroup(group, "memory.max") ?? "max").trim());
    if (Number.isNaN(limit) || limit <= 0 || limit >= capped.totalBytes) continue;
    const current = Number(readGroup(group, "memory.current") ?? Number.NaN);
    if (Number.isNaN(current)) continue;
    const droppable = Number(/^inactive_file (\d+)$/m.exec(readGroup(group, "memory.stat") ?? "")?.[1] ?? 0);
    capped = { totalBytes: limit, usedBytes: Math.max(0, current - droppable) };
  }
  return capped;
}

/** A group that cannot be read tells nothing. */
function readGroup(group: string, file: string): string | null {
  try {
    return readGroupFile(group, file);
  } catch {
    return null;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null; // not Linux, or hidden: the caller has another way
  }
}
