import { readFileSync } from "node:fs";
import os, { uptime } from "node:os";
import { expect, test, vi } from "vitest";
import { bootIdentity, sameBoot } from "../../src/platform/boot.ts";

test("a boot is known by the kernel's id and its time", () => {
  const identity = bootIdentity(1_000_000_000_000);
  if (process.platform === "linux")
    expect(identity.bootId).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  expect(identity.bootTimeSeconds).toBeLessThanOrEqual(1_000_000_000 - Math.floor(uptime()) + 1);
});

test("where the uptime is hidden, a boot has no time", async () => {
  vi.doMock("node:os", () => ({
    ...os,
    uptime: () => {
      throw new Error("uv_uptime returned EPERM");
    },
  }));
  vi.resetModules();
  const sandboxed = await import("../../src/platform/boot.ts");
  vi.doUnmock("node:os");
  expect(sandboxed.bootIdentity(0)).toEqual({ ...bootIdentity(0), bootTimeSeconds: null });
});

test.each([
  ["same id, whatever the times say", { bootId: "a", bootTimeSeconds: 0 }, { bootId: "a", bootTimeSeconds: 9e9 }, true],
  ["other id, whatever the times say", { bootId: "a", bootTimeSeconds: 5 }, { bootId: "b", bootTimeSeconds: 5 }, false],
  ["no id on one side, 60 s apart", { bootId: null, bootTimeSeconds: 0 }, { bootId: "b", bootTimeSeconds: 60 }, true],
  ["no id, 61 s apart", { bootId: null, bootTimeSeconds: 61 }, { bootId: null, bootTimeSeconds: 0 }, false],
  ["nothing to compare", { bootId: "a", bootTimeSeconds: 1 }, { bootId: null, bootTimeSeconds: null }, false],
])("%s", (_, one, other, same) => {
  expect(sameBoot(one, other)).toBe(same);
});
