import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openProcessTable, parseStat } from "../../src/platform/process-table.ts";

const hasProcfs = process.platform === "linux";

test("a name with spaces and parentheses does not shift the fields", () => {
  const line =
    "4242 (my) job (x) S 17 4242 4240 0 -1 4194304 900 80 0 0 123 45 67 89 20 0 3 0 99887 1000000 250 18446744073709551615 1 1\n";
  expect(parseStat(4242, Buffer.from(line), 4096)).toEqual({
    pid: 4242,
    parentPid: 17,
    sessionId: 4240,
    userTicks: 123,
    systemTicks: 45,
    reapedUserTicks: 67,
    reapedSystemTicks: 89,
    startTicks: 99887,
    rssBytes: 250 * 4096,
  });
});

test("where there is no procfs there is no table", () => {
  const empty = mkdtempSync(join(tmpdir(), "no-procfs-"));
  expect(openProcessTable(empty)).toBeNull();
  rmSync(empty, { recursive: true });
});

test.runIf(hasProcfs)("a walk finds this process and its child, and leaves out what it is told to skip", async () => {
  const table = openProcessTable();
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const childPid = child.pid ?? 0;
  const find = (pid: number, skip: ReadonlySet<number>) => table?.walk(skip).processes.find((it) => it.pid === pid);
  const self = find(process.pid, new Set());
  expect(self?.rssBytes).toBeGreaterThan(10_000_000);
  expect((self?.userTicks ?? 0) / (table?.ticksPerSecond ?? 1)).toBeLessThanOrEqual(
    process.cpuUsage().user / 1e6 + 0.1,
  );
  expect(find(childPid, new Set())?.parentPid).toBe(process.pid);
  expect(find(childPid, new Set([childPid]))).toBeUndefined();
  expect(table?.readSome([childPid]).processes).toHaveLength(1);
  child.kill("SIGKILL");
  await once(child, "close");
  expect(table?.readSome([childPid])).toEqual({ processes: [], unreadable: new Set() });
});
