import type { ResourceUsage } from "../contract/run.ts";

/** What a run's end tells statsd. */
export interface StopFacts {
  readonly success: boolean;
  readonly durationMs: number;
  readonly resources: ResourceUsage | null;
}

/** The datagrams of a run (running 14), to the byte: receivers count on lines that end in a newline and carry no sample rate. */
export function startDatagram(prefix: string): string {
  return `${plain(prefix)}.start:1|g\n`;
}

export function stopDatagram(prefix: string, { success, durationMs, resources }: StopFacts): string {
  const name = plain(prefix);
  const base = `${name}.stop:1|g\n${name}.success:${success ? 1 : 0}|g\n${name}.duration:${Math.round(durationMs)}|ms\n`;
  if (resources === null) return base;
  const cpuMs = Math.round((resources.cpuUserSeconds + resources.cpuSystemSeconds) * 1000);
  return `${base}${name}.cpu:${cpuMs}|ms\n${name}.max_rss:${Math.round(resources.maxRssBytes)}|g\n`;
}

/** The characters that structure a datagram cannot be part of a name. */
function plain(prefix: string): string {
  return prefix.replace(/[\r\n:|]/g, "");
}
