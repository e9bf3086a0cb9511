import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createResourceMonitor } from "../../../src/execution/monitor/resource-monitor.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { writtenLog } from "../../support/node.ts";

const hasProcfs = process.platform === "linux";
const SAMPLED_SOON = { timeout: 20_000 };
const children: ChildProcess[] = [];

function start(script: string): { pid: number; ended: Promise<unknown> } {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: "ignore" });
  children.push(child);
  return { pid: child.pid ?? 0, ended: once(child, "close") };
}

/** A monitor whose thread is up: it has sampled something. */
async function startMonitor() {
  const lines: string[] = [];
  const log = writtenLog(lines);
  const made = createResourceMonitor({ clock: systemClock, log });
  const first = made.watch(start("sleep 60").pid, { intervalSeconds: 1, historyPoints: 0 });
  await vi.waitFor(() => expect(first.now()).not.toBeNull(), SAMPLED_SOON);
  return { ...made, lines };
}

let shared: ReturnType<typeof startMonitor> | null = null;
const monitor = () => {
  shared ??= startMonitor();
  return shared;
};

afterEach(() => {
  for (const { pid, exitCode, signalCode } of children.splice(0)) {
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
  }
});

afterAll(async () => {
  await (await shared)?.close();
});

test.runIf(hasProcfs)("a grandchild that burnt CPU is counted after it has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-monitor-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = (name: string): string => {
    execFileSync("mkfifo", [join(folder, name)]);
    return join(folder, name);
  };
  const [burnt, over] = [pipe("burnt"), pipe("over")];
  // Its own clock tells it when it has used 0.4 s, whatever the machine's speed; then it waits to be let go.
  const burn = `node -e 'while (process.cpuUsage().user < 400000); require("fs").readFileSync("${burnt}")'`;
  const monitoring = await monitor();
  const { pid, ended } = start(`sh -c '${burn.replaceAll("'", `'\\''`)}; true'; read line < ${over}`);
  const watch = monitoring.watch(pid, { intervalSeconds: 0.1, historyPoints: 240 });
  const node = 20_000_000;
  await vi.waitFor(() => {
    expect(watch.now()?.rssBytes).toBeGreaterThan(node);
    expect(watch.now()?.cpuSeconds).toBeGreaterThanOrEqual(0.39);
  }, SAMPLED_SOON);
  writeFileSync(burnt, "");
  await vi.waitFor(() => expect(watch.now()?.rssBytes).toBeLessThan(node), SAMPLED_SOON);
  expect(watch.now()?.cpuSeconds).toBeGreaterThanOrEqual(0.39);
  writeFileSync(over, "\n");
  await ended;
  const usage = await watch.end();
  expect(usage?.cpuUserSeconds).toBeGreaterThanOrEqual(0.39);
  expect(usage?.cpuUserSeconds).toBeLessThan(3);
  expect(usage?.maxRssBytes).toBeGreaterThan(node);
  expect(usage?.samples).toBeGreaterThan(1);
  expect(usage?.series.length).toBeLessThanOrEqual(240);
});

test.runIf(hasProcfs)("what it uses now can be seen while it runs", async () => {
  const monitoring = await monitor();
  const { pid } = start("while :; do :; done");
  const watch = monitoring.watch(pid, { intervalSeconds: 0.1, historyPoints: 4 });
  await vi.waitFor(() => expect(watch.now()?.cpuPercent).toBeGreaterThan(5), SAMPLED_SOON);
  expect(watch.now()?.rssBytes).toBeGreaterThan(100_000);
  expect(watch.now()?.series.length).toBeLessThanOrEqual(4);
});

test.runIf(hasProcfs)("exact times told at the end replace what sampling missed", async () => {
  const monitoring = await monitor();
  const { pid, ended } = start("sleep 60");
  const watch = monitoring.watch(pid, { intervalSeconds: 0.1, historyPoints: 0 });
  await vi.waitFor(() => expect(watch.now()).not.toBeNull(), SAMPLED_SOON);
  process.kill(-pid, "SIGKILL");
  await ended;
  const usage = await watch.end({ userSeconds: 12.25, systemSeconds: 0.5 });
  expect(usage).toMatchObject({ cpuUserSeconds: 12.25, cpuSystemSeconds: 0.5, series: [] });
});

test.runIf(hasProcfs)("a run that is gone before it could be sampled has no usage", async () => {
  const { pid, ended } = start("exit 0");
  await ended;
  const watch = (await monitor()).watch(pid, { intervalSeconds: 1, historyPoints: 240 });
  expect(await watch.end()).toBeNull();
  expect(watch.now()).toBeNull();
});

test.runIf(hasProcfs)("ending twice gives the same answer, and a closed monitor answers with what it had", async () => {
  const monitoring = await startMonitor();
  const watch = monitoring.watch(start("sleep 60").pid, { intervalSeconds: 0.1, historyPoints: 240 });
  await vi.waitFor(() => expect(watch.now()).not.toBeNull(), SAMPLED_SOON);
  await monitoring.close();
  const usage = await watch.end();
  expect(usage?.samples).toBeGreaterThan(0);
  expect(await watch.end()).toBe(usage);
  expect(monitoring.lines).toEqual([]);
});
