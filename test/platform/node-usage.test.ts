import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { type KernelFiles, nodeUsage } from "../../src/platform/node-usage.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";

let root: string;
let files: KernelFiles;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "cronstable-usage-"));
  files = { proc: join(root, "proc"), cgroups: join(root, "cgroup") };
  put("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
  put("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  100 kB\nMemAvailable:    400 kB\n");
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test("of a whole machine: processor time since the last look, memory that is not available", () => {
  const clock = simulatedClock(0);
  const usage = nodeUsage(clock, files);
  expect(usage()).toMatchObject({
    cpuPercent: 0,
    memoryPercent: 60,
    memoryUsedBytes: 600 * 1024,
    memoryTotalBytes: 1000 * 1024,
  });
  put("proc/stat", "cpu  150 0 125 825 100 0 0 0 0 0\n");
  expect(usage()?.cpuPercent).toBe(0); // shared for a second
  clock.runUntil(1_000);
  expect(usage()?.cpuPercent).toBeCloseTo((75 / 200) * 100);
});

test("of a container: shares of its quota and limit, what could be dropped left out", () => {
  const clock = simulatedClock(0);
  put("proc/self/cgroup", "0::/pod/app\n");
  put("cgroup/pod/app/cpu.max", "max 100000\n");
  put("cgroup/pod/cpu.max", "150000 100000\n");
  put("cgroup/pod/cpu.stat", "usage_usec 1000000\nuser_usec 1\n");
  put("cgroup/pod/app/memory.max", "512000\n");
  put("cgroup/pod/app/memory.current", "300000\n");
  put("cgroup/pod/app/memory.stat", "anon 1\ninactive_file 44000\n");
  put("cgroup/pod/memory.max", "max\n");
  const usage = nodeUsage(clock, files);
  expect(usage()).toMatchObject({
    cpuPercent: 0,
    cpuCount: 2,
    memoryUsedBytes: 256_000,
    memoryTotalBytes: 512_000,
    memoryPercent: 50,
  });
  put("cgroup/pod/cpu.stat", "usage_usec 2500000\n");
  clock.runUntil(2_000);
  expect(usage()?.cpuPercent).toBeCloseTo(50); // 1.5 s of the 3 s that 1.5 processors give in 2 s
});

test("a memory limit above what the machine has is none, and a limit may stand alone", () => {
  put("proc/self/cgroup", "0::/\n");
  put("cgroup/memory.max", "9999999999\n");
  put("cgroup/cpu.max", "50000 100000\n");
  put("cgroup/cpu.stat", "usage_usec 0\n");
  const usage = nodeUsage(simulatedClock(0), files)();
  expect(usage).toMatchObject({ cpuCount: 1, memoryTotalBytes: 1000 * 1024 });
});

test("without the kernel's files the runtime's own numbers do", () => {
  const usage = nodeUsage(simulatedClock(0), { proc: join(root, "none"), cgroups: join(root, "none") })();
  expect(usage?.memoryTotalBytes).toBeGreaterThan(0);
  expect(usage?.cpuCount).toBeGreaterThan(0);
});

test("this machine", () => {
  const usage = nodeUsage(systemClock)();
  expect(usage?.memoryPercent).toBeGreaterThan(0);
  expect(usage?.memoryPercent).toBeLessThanOrEqual(100);
  expect(usage?.processRssBytes).toBeGreaterThan(1_000_000);
});
