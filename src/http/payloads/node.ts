import type { NodeResources } from "../../contract/wire/node.ts";
import type { NodeUsage } from "../../platform/node-usage.ts";

export function usagePayload(usage: NodeUsage): NodeResources {
  return {
    cpu_percent: tenths(usage.cpuPercent),
    cpu_count: usage.cpuCount,
    mem_percent: tenths(usage.memoryPercent),
    mem_used_bytes: usage.memoryUsedBytes,
    mem_total_bytes: usage.memoryTotalBytes,
    ...(usage.processRssBytes === null ? {} : { proc_rss_bytes: usage.processRssBytes }),
    ...(usage.processCpuPercent === null ? {} : { proc_cpu_percent: tenths(usage.processCpuPercent) }),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
