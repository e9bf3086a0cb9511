import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readBootIdentity } from "../../src/platform/boot-identity.ts";

const missing = (): never => {
  throw new Error("no such thing on this platform");
};

describe("BOO-2: which boot this is", () => {
  test("is the kernel's boot id, and the instant the uptime tells", () => {
    const sources = { readBootId: () => "66f5382d\n", uptimeSeconds: () => 100, wallNow: () => 1_000_000 };
    expect(readBootIdentity(sources)).toEqual({ bootId: "66f5382d", bootTimeSeconds: 900 });
  });

  test("is the instant alone where the kernel has no boot id, and nothing where nobody tells", () => {
    const wallNow = (): number => 1_000_000;
    expect(readBootIdentity({ readBootId: missing, uptimeSeconds: () => 100, wallNow })).toEqual({
      bootId: null,
      bootTimeSeconds: 900,
    });
    expect(readBootIdentity({ readBootId: () => "", uptimeSeconds: missing, wallNow })).toEqual({
      bootId: null,
      bootTimeSeconds: null,
    });
  });

  test.runIf(process.platform === "linux")("of this machine", () => {
    const { bootId, bootTimeSeconds } = readBootIdentity();
    expect(bootId).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
    expect(bootTimeSeconds).toBeLessThan(Date.now() / 1000);
  });
});
