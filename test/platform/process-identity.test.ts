import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { processExists, processStartedAt, processStartTicks } from "../../src/platform/process-identity.ts";

test("a process exists until it has been waited for", async () => {
  const child = spawn("sleep", ["1000"]);
  const pid = child.pid ?? 0;
  expect(processExists(pid)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(processExists(pid)).toBe(false);
  expect(processExists(process.pid)).toBe(true);
});

test.runIf(process.platform === "linux")("a later process has a later start", async () => {
  const mine = processStartTicks(process.pid) ?? Number.NaN;
  const child = spawn("sleep", ["1000"]);
  await once(child, "spawn");
  const later = processStartTicks(child.pid ?? 0) ?? Number.NaN;
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(later).toBeGreaterThan(mine);
  expect(processStartTicks(child.pid ?? 0)).toBeNull();
});

test.runIf(process.platform === "linux")("the start by the wall clock lies between boot and now", () => {
  const now = 2_000_000_000_000;
  const startedAt = processStartedAt(process.pid, now) ?? Number.NaN;
  expect(now - startedAt).toBeGreaterThan(0);
  expect(now - startedAt).toBeLessThan(performance.now() + 60_000);
});
