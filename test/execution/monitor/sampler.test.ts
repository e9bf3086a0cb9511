import { expect, test } from "vitest";
import type { MonitorReport } from "../../../src/execution/monitor/protocol.ts";
import { createSampler } from "../../../src/execution/monitor/sampler.ts";
import type { ProcessEntry } from "../../../src/platform/process-table.ts";
import { simulatedClock } from "../../../src/platform/simulated-clock.ts";

const START = Date.UTC(2026, 0, 1);

/** A host whose processes a test writes down; counts what is read. */
function syntheticHost() {
  const clock = simulatedClock(START);
  const processes = new Map<number, ProcessEntry>();
  const reports: MonitorReport[] = [];
  const walks: number[] = [];
  const pick = (pids: Iterable<number>) => ({
    processes: [...pids].flatMap((pid) => processes.get(pid) ?? []),
    unreadable: new Set<number>(),
  });
  const sampler = createSampler(
    {
      ticksPerSecond: 100,
      readSome: pick,
      walk(skip) {
        const read = [...processes.keys()].filter((pid) => !skip.has(pid));
        walks.push(read.length);
        return pick(read);
      },
    },
    clock,
    (report) => reports.push(report),
  );
  return {
    clock,
    reports,
    walks,
    sampler,
    start(pid: number, parentPid: number, userTicks = 0) {
      processes.set(pid, {
        pid,
        parentPid,
        sessionId: pid,
        startTicks: pid,
        userTicks,
        systemTicks: 0,
        reapedUserTicks: 0,
        reapedSystemTicks: 0,
        rssBytes: 4096,
      });
    },
    stop: (pid: number) => processes.delete(pid),
  };
}

test("the first reading is taken at once, the next on the grid, the last when asked", () => {
  const host = syntheticHost();
  host.clock.runUntil(host.clock.wallNow() + 300);
  host.start(100, 1, 7);
  host.sampler.handle({ kind: "watch", id: 1, pid: 100, intervalMs: 1000 });
  expect(host.reports).toMatchObject([
    { kind: "readings", atElapsedMs: 300, readings: [{ id: 1, userSeconds: 0.07 }] },
  ]);
  host.start(101, 100, 50);
  host.clock.runUntil(host.clock.wallNow() + 700);
  expect(host.reports.at(-1)).toMatchObject({ atElapsedMs: 1000, readings: [{ userSeconds: 0.57, processes: 2 }] });
  host.stop(100);
  host.stop(101);
  host.sampler.handle({ kind: "end", id: 1, exitTimes: { userSeconds: 0.755, systemSeconds: 0 } });
  const last = host.reports.at(-1);
  expect(last).toMatchObject({ kind: "last", reading: { id: 1, processes: 0 } });
  expect(last?.kind === "last" ? last.reading.userSeconds : 0).toBeCloseTo(0.755, 9);
  host.clock.runUntil(host.clock.wallNow() + 10_000);
  expect(host.walks).toHaveLength(1);
});

test("200 runs share one walk a second", () => {
  const host = syntheticHost();
  for (let run = 1; run <= 200; run += 1) {
    host.start(1000 + run, 1);
    host.sampler.handle({ kind: "watch", id: run, pid: 1000 + run, intervalMs: 1000 });
    host.clock.runUntil(host.clock.wallNow() + 7);
  }
  const before = host.walks.length;
  host.clock.runUntil(host.clock.wallNow() + 10_000);
  expect(host.walks.length - before).toBe(10);
});

test("processes of nobody's run are read again only now and then, new ones always", () => {
  const host = syntheticHost();
  for (let pid = 2; pid <= 500; pid += 1) host.start(pid, 1);
  host.start(1000, 1);
  host.sampler.handle({ kind: "watch", id: 1, pid: 1000, intervalMs: 1000 });
  host.clock.runUntil(host.clock.wallNow() + 3000);
  host.start(1001, 1000, 30);
  host.clock.runUntil(host.clock.wallNow() + 1000);
  expect(host.walks).toEqual([500, 1, 1, 2]);
  expect(host.reports.at(-1)).toMatchObject({ readings: [{ userSeconds: 0.3, processes: 2 }] });
  host.clock.runUntil(host.clock.wallNow() + 7000);
  expect(host.walks.slice(4)).toEqual([2, 2, 2, 2, 2, 2, 501]);
});

test("a run that is watched late still gets the processes that a walk has seen before", () => {
  const host = syntheticHost();
  host.start(1000, 1);
  host.sampler.handle({ kind: "watch", id: 1, pid: 1000, intervalMs: 1000 });
  host.start(2000, 1);
  host.start(2001, 2000, 10);
  host.clock.runUntil(host.clock.wallNow() + 1000);
  host.sampler.handle({ kind: "watch", id: 2, pid: 2000, intervalMs: 1000 });
  host.clock.runUntil(host.clock.wallNow() + 1000);
  expect(host.reports.at(-1)).toMatchObject({ readings: [{ id: 1 }, { id: 2, userSeconds: 0.1, processes: 2 }] });
});

test("a slowly sampled run gets the processes it started between its samples", () => {
  const host = syntheticHost();
  host.start(1000, 1);
  host.start(2000, 1);
  host.sampler.handle({ kind: "watch", id: 1, pid: 1000, intervalMs: 100 });
  host.sampler.handle({ kind: "watch", id: 2, pid: 2000, intervalMs: 1000 });
  host.clock.runUntil(host.clock.wallNow() + 350);
  host.start(2001, 2000, 20);
  host.clock.runUntil(host.clock.wallNow() + 650);
  expect(host.reports.at(-1)).toMatchObject({ readings: [{ id: 1 }, { id: 2, userSeconds: 0.2 }] });
});

test("a run that had ended before anybody looked is reported as empty", () => {
  const host = syntheticHost();
  host.sampler.handle({ kind: "watch", id: 1, pid: 1000, intervalMs: 1000 });
  host.sampler.handle({ kind: "end", id: 1, exitTimes: null });
  expect(host.reports).toMatchObject([{ kind: "last", reading: { processes: 0, userSeconds: 0 } }]);
});
