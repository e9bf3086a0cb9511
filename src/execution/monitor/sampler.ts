import type { Clock } from "../../platform/clock.ts";
import type { ProcessTable } from "../../platform/process-table.ts";
import type { MonitorReport, MonitorRequest, Reading } from "./protocol.ts";
import { isServed, nextDueAt, nextWalkAt, type Timetable } from "./timetable.rules.ts";
import { indexProcesses, newTree, sampleTree, type Tree, withExactRoot } from "./tree.rules.ts";

interface Watched {
  readonly intervalMs: number;
  tree: Tree;
  dueAt: number;
}

/** Walks for which a process known to be no run's is not read again. */
const OUTSIDERS_WALKS = 10;

export interface Sampler {
  handle(request: MonitorRequest): void;
}

/**
 * Samples all watched runs, each walk of the process table serving all that are due. Made for a thread of its own: a walk blocks.
 *
 * A run's first and last reading look only at its own processes, at once; the walks find its descendants. Most processes of a busy
 * host belong to no run and cannot come to belong to one, so after one reading they are left alone for some walks.
 */
export function createSampler(table: ProcessTable, clock: Clock, report: (report: MonitorReport) => void): Sampler {
  const runs = new Map<number, Watched>();
  let timetable: Timetable = { lastEndedAt: 0, lastTookMs: 0 };
  let cancelWalk = (): void => undefined;
  let outsiders = new Set<number>();
  let walksSinceFresh = 0;

  const seconds = (ticks: number): number => ticks / table.ticksPerSecond;
  const readingOf = (id: number, tree: Tree): Reading => ({
    id,
    userSeconds: seconds(tree.total.user),
    systemSeconds: seconds(tree.total.system),
    rssBytes: tree.rssBytes,
    processes: tree.members.size,
  });
  const stamp = () => ({ atElapsedMs: clock.elapsedNow(), atSeconds: clock.wallNow() / 1000 });

  const arm = (): void => {
    cancelWalk();
    const dueAts = Array.from(runs.values(), (run) => run.dueAt);
    if (dueAts.length > 0) cancelWalk = clock.after(nextWalkAt(dueAts, timetable) - clock.elapsedNow(), walk);
  };

  const walk = (): void => {
    const startedAt = clock.elapsedNow();
    if (walksSinceFresh >= OUTSIDERS_WALKS) forgetOutsiders();
    walksSinceFresh += 1;
    const snapshot = table.walk(outsiders);
    const index = indexProcesses(snapshot);
    const readings: Reading[] = [];
    let allServed = true;
    const at = stamp();
    for (const [id, run] of runs) {
      if (!isServed(run.dueAt, startedAt)) {
        allServed = false;
        continue;
      }
      run.tree = sampleTree(run.tree, index);
      run.dueAt = nextDueAt(run.intervalMs, startedAt);
      if (run.tree.members.size > 0) readings.push(readingOf(id, run.tree));
    }
    if (readings.length > 0) report({ kind: "readings", ...at, readings });
    if (allServed) noteOutsiders(snapshot.processes); // else some run has not claimed its new processes yet
    const endedAt = clock.elapsedNow();
    timetable = { lastEndedAt: endedAt, lastTookMs: endedAt - startedAt };
    arm();
  };

  const noteOutsiders = (processes: readonly { readonly pid: number }[]): void => {
    const insiders = new Set<number>();
    for (const run of runs.values()) for (const pid of run.tree.members.keys()) insiders.add(pid);
    for (const { pid } of processes) if (!insiders.has(pid)) outsiders.add(pid);
  };

  const forgetOutsiders = (): void => {
    outsiders = new Set();
    walksSinceFresh = 0;
  };

  const lookAtOwn = (tree: Tree): Tree =>
    sampleTree(tree, indexProcesses(table.readSome(new Set([tree.rootPid, ...tree.members.keys()]))));

  return {
    handle(request) {
      if (request.kind === "watch") {
        const run = { intervalMs: request.intervalMs, tree: lookAtOwn(newTree(request.pid)), dueAt: 0 };
        run.dueAt = nextDueAt(run.intervalMs, clock.elapsedNow());
        runs.set(request.id, run);
        forgetOutsiders(); // its processes may have been seen before anybody said they are a run's
        if (run.tree.members.size > 0)
          report({ kind: "readings", ...stamp(), readings: [readingOf(request.id, run.tree)] });
      } else {
        const run = runs.get(request.id);
        if (run === undefined) return;
        runs.delete(request.id);
        let tree = lookAtOwn(run.tree);
        if (request.exitTimes !== null) tree = withExactRoot(tree, inTicks(request.exitTimes, table.ticksPerSecond));
        report({ kind: "last", ...stamp(), reading: readingOf(request.id, tree) });
      }
      arm();
    },
  };
}

function inTicks(times: { userSeconds: number; systemSeconds: number }, ticksPerSecond: number) {
  return { user: times.userSeconds * ticksPerSecond, system: times.systemSeconds * ticksPerSecond };
}
