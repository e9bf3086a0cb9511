import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { ownGroup } from "../src/execution/limits/base-group.ts";
import { createLimitsEnforcer } from "../src/execution/limits/limits-enforcer.ts";
import { newAccount, withReading } from "../src/execution/monitor/account.rules.ts";
import type { MonitorReport } from "../src/execution/monitor/protocol.ts";
import { createSampler } from "../src/execution/monitor/sampler.ts";
import { makeGroup, removeGroup } from "../src/platform/cgroup.ts";
import { type Clock, systemClock } from "../src/platform/clock.ts";
import { openProcessTable } from "../src/platform/process-table.ts";
import type { BenchRow } from "./row.ts";

const RUNS = 200;
const TICKS = 50;

/** What watching and limiting runs costs, with as many watched runs as a busy node has. */
export async function resourceRows(): Promise<readonly BenchRow[]> {
  const table = openProcessTable();
  if (table === null) return []; // no Linux, nothing to measure
  const children = await startRuns();
  try {
    return [...monitorRows(table, children), ...cageRows()];
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
}

function monitorRows(
  table: NonNullable<ReturnType<typeof openProcessTable>>,
  children: readonly ChildProcess[],
): BenchRow[] {
  // A clock that lets the bench make each tick itself: the cost of the work, not of waiting for it.
  let elapsedMs = 0;
  let tick = (): void => undefined;
  const clock: Clock = {
    wallNow: systemClock.wallNow,
    elapsedNow: () => elapsedMs,
    after(_, run) {
      tick = run;
      return () => undefined;
    },
  };
  let last: MonitorReport | null = null;
  const sampler = createSampler(table, clock, (report) => {
    last = report;
  });
  for (const [id, child] of children.entries()) {
    sampler.handle({ kind: "watch", id, pid: child.pid ?? 0, intervalMs: 1000 });
  }
  const floor = cpuMsOf(TICKS, bareWalk);
  const ours = cpuMsOf(TICKS, () => {
    elapsedMs += 1000;
    tick();
  });
  const accounts = new Map(children.map((_, id) => [id, newAccount(240)]));
  const mainLoop = cpuMsOf(TICKS, () => {
    if (last?.kind !== "readings") return;
    for (const reading of last.readings) {
      accounts.set(reading.id, withReading(accounts.get(reading.id) ?? newAccount(240), reading, last));
    }
  });
  return [
    {
      name: `sample ${RUNS} watched runs, CPU a tick (worker thread)`,
      ours,
      floor,
      unit: "ms",
      ratio: ours / floor,
      target: "at most 2 x one bare walk of /proc",
    },
    {
      name: `take ${RUNS} readings, CPU a tick (main thread)`,
      ours: mainLoop,
      floor: null,
      unit: "ms",
      ratio: null,
      target: "< 1 ms",
    },
  ];
}

/** The least that finding all processes takes: each one's line read into one buffer, nothing done with it. */
function bareWalk(): void {
  const line = Buffer.alloc(2048);
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    try {
      const file = openSync(`/proc/${name}/stat`, "r");
      readSync(file, line, 0, line.length, 0);
      closeSync(file);
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error; // the process has just ended
    }
  }
}

/** Nothing where this process may not make control groups. */
function cageRows(): BenchRow[] {
  const silent = { debug() {}, info() {}, warning() {}, error() {}, critical() {}, enabled: () => false };
  const own = ownGroup();
  if (own.kind === "none") return [];
  const place = join(own.directory, `cronstable-bench-${process.pid}`); // so that this process itself need not move
  if (makeGroup(place) !== null) return [];
  const enforcer = createLimitsEnforcer({ clock: systemClock, log: silent }, () => ({ ...own, directory: place }));
  const limits = { cpu: 1, memoryBytes: 2 ** 28, processes: 100, required: false };
  let run = 0;
  const ours = cpuMsOf(TICKS, () => {
    const cage = enforcer.prepare(`bench-${run++}`, "bench", limits);
    if (cage.kind === "cage") cage.finish();
  });
  enforcer.close();
  removeGroup(place);
  return [
    { name: "make and remove a run's control group", ours, floor: null, unit: "ms", ratio: null, target: "< 2 ms" },
  ];
}

async function startRuns(): Promise<ChildProcess[]> {
  const children = Array.from({ length: RUNS }, () => spawn("sleep", ["600"], { detached: true, stdio: "ignore" }));
  await Promise.all(children.map((child) => once(child, "spawn")));
  return children;
}

/** CPU time of one call, the mean of many after a warm-up. */
function cpuMsOf(times: number, work: () => void): number {
  for (let warmUp = 0; warmUp < 10; warmUp += 1) work();
  const before = process.cpuUsage();
  for (let call = 0; call < times; call += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}
