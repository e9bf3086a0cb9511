import fc from "fast-check";
import { expect, test } from "vitest";
import {
  indexProcesses,
  newTree,
  sampleTree,
  type Tree,
  withExactRoot,
} from "../../../src/execution/monitor/tree.rules.ts";
import type { ProcessEntry } from "../../../src/platform/process-table.ts";

const DAEMON = 10;
const ROOT = 100;

function process(pid: number, parentPid: number, facts: Partial<ProcessEntry> = {}): ProcessEntry {
  return {
    pid,
    parentPid,
    sessionId: ROOT,
    startTicks: pid,
    userTicks: 0,
    systemTicks: 0,
    reapedUserTicks: 0,
    reapedSystemTicks: 0,
    rssBytes: 1000,
    ...facts,
  };
}

/** The tree after these looks at the process table, one after the other. */
function after(
  ...looks: (readonly ProcessEntry[] | { processes: readonly ProcessEntry[]; unreadable: Set<number> })[]
): Tree {
  return looks.reduce<Tree>((tree, look) => {
    const snapshot = "unreadable" in look ? look : { processes: look, unreadable: new Set<number>() };
    return sampleTree(tree, indexProcesses(snapshot));
  }, newTree(ROOT));
}

const memberPids = (tree: Tree): number[] => [...tree.members.keys()].sort((a, b) => a - b);

test("the root, its descendants in any session and all of its session belong to the run, nobody else", () => {
  const tree = after([
    process(1, 0, { sessionId: 1 }),
    process(DAEMON, 1, { sessionId: 1 }),
    process(ROOT, DAEMON, { userTicks: 5, systemTicks: 1 }),
    process(101, ROOT, { userTicks: 7 }),
    process(102, 101, { sessionId: 102, userTicks: 11 }), // setsid
    process(103, 1, { userTicks: 13 }), // its parent ended before anybody looked
    process(104, DAEMON, { sessionId: 104, userTicks: 1000 }), // another run
  ]);
  expect(memberPids(tree)).toEqual([ROOT, 101, 102, 103]);
  expect(tree.total).toEqual({ user: 36, system: 1 });
  expect(tree.rssBytes).toBe(4000);
});

test("a process that ends keeps its last reading in the total", () => {
  const tree = after([process(ROOT, DAEMON), process(101, ROOT, { userTicks: 50 })], [process(ROOT, DAEMON)]);
  expect(tree.total.user).toBe(50);
  expect(tree.rssBytes).toBe(1000);
});

test("what the parent has reaped replaces the last reading, and is counted once", () => {
  const tree = after(
    [process(ROOT, DAEMON), process(101, ROOT, { userTicks: 50 })],
    [process(ROOT, DAEMON, { reapedUserTicks: 80 })], // it used 30 more before it ended
    [process(ROOT, DAEMON, { reapedUserTicks: 80, userTicks: 2 })],
  );
  expect(tree.total.user).toBe(82);
});

test("a child that came and went between two looks is counted by its parent's reaped time", () => {
  const tree = after([process(ROOT, DAEMON)], [process(ROOT, DAEMON, { reapedUserTicks: 300 })]);
  expect(tree.total.user).toBe(300);
});

test("a child reaped while the table was walked, its parent read before, is not counted twice later", () => {
  const tree = after(
    [process(ROOT, DAEMON), process(101, ROOT, { userTicks: 50 })],
    [process(ROOT, DAEMON)], // root's line is from before the wait, the child's line is gone
    [process(ROOT, DAEMON, { reapedUserTicks: 55 })],
  );
  expect(tree.total.user).toBe(55);
});

test("a chain that ends at once is handed upwards: grandchild, child, root", () => {
  const before = [
    process(ROOT, DAEMON, { userTicks: 1 }),
    process(101, ROOT, { userTicks: 10 }),
    process(102, 101, { userTicks: 100, reapedUserTicks: 1000 }),
  ];
  expect(after(before, [process(ROOT, DAEMON, { userTicks: 1, reapedUserTicks: 1115 })]).total.user).toBe(1116);
  expect(after(before, []).total.user).toBe(1111);
});

test("an orphan stays a member until it ends", () => {
  const orphan = process(101, 1, { sessionId: 101, userTicks: 9 });
  const tree = after([process(ROOT, DAEMON), process(101, ROOT, { sessionId: 101, userTicks: 5 })], [orphan]);
  expect(memberPids(tree)).toEqual([101]);
  expect(tree.total.user).toBe(9);
});

test("a pid that came back as another process is not the run's", () => {
  const stranger = process(101, 1, { startTicks: 999, sessionId: 1, userTicks: 70_000 });
  const tree = after([process(ROOT, DAEMON), process(101, ROOT, { userTicks: 5 })], [process(ROOT, DAEMON), stranger]);
  expect(memberPids(tree)).toEqual([ROOT]);
  expect(tree.total.user).toBe(5);
});

test("the root's pid that came back as another process does not revive the run", () => {
  const stranger = process(ROOT, 1, { startTicks: 999, sessionId: 1, userTicks: 70_000 });
  const tree = after([process(ROOT, DAEMON, { userTicks: 5 })], [], [stranger]);
  expect(memberPids(tree)).toEqual([]);
  expect(tree.total.user).toBe(5);
});

test("a process that could not be read carries its reading over", () => {
  const tree = after([process(ROOT, DAEMON), process(101, ROOT, { userTicks: 5 })], {
    processes: [process(ROOT, DAEMON)],
    unreadable: new Set([101]),
  });
  expect(memberPids(tree)).toEqual([ROOT, 101]);
  expect(tree.total.user).toBe(5);
  expect(tree.rssBytes).toBe(2000);
});

test("the root's exact times cover what came after the last look, and only once the root is gone", () => {
  const running = after([process(ROOT, DAEMON, { userTicks: 5 }), process(101, ROOT, { userTicks: 3 })]);
  expect(withExactRoot(running, { user: 50, system: 4 })).toEqual(running);
  const ended = sampleTree(running, indexProcesses({ processes: [], unreadable: new Set() }));
  expect(withExactRoot(ended, { user: 50, system: 4 }).total).toEqual({ user: 50, system: 4 });
  expect(withExactRoot(ended, { user: 1, system: 0 }).total.user).toBe(8); // a child nobody waited for is missing there
});

/** A host in which one run forks, burns and ends; knows what was truly used. */
class SyntheticHost {
  readonly alive = new Map<number, { parent: number; start: number; own: number; reaped: number; ofRun: boolean }>();
  truth = 0;
  private tick = 1000;
  private nextPid = ROOT + 1;

  constructor() {
    this.alive.set(ROOT, { parent: DAEMON, start: 1000, own: 0, reaped: 0, ofRun: true });
  }
  pick(choice: number): number {
    const pids = [...this.alive.keys()];
    return pids[choice % pids.length] ?? ROOT;
  }
  fork(choice: number): void {
    this.tick += 1;
    this.alive.set(this.nextPid, { parent: this.pick(choice), start: this.tick, own: 0, reaped: 0, ofRun: true });
    this.nextPid += 1;
  }
  burn(choice: number, ticks: number): void {
    const process = this.alive.get(this.pick(choice));
    if (process === undefined) return;
    process.own += ticks;
    this.truth += ticks;
  }
  end(choice: number, isWaitedFor: boolean): void {
    const pid = this.pick(choice);
    const process = this.alive.get(pid);
    if (process === undefined || pid === ROOT) return;
    this.alive.delete(pid);
    const parent = this.alive.get(process.parent);
    if (parent !== undefined && isWaitedFor) parent.reaped += process.own + process.reaped;
    for (const child of this.alive.values()) if (child.parent === pid) child.parent = 1;
  }
  list(): ProcessEntry[] {
    return [...this.alive].map(([pid, { parent, start, own, reaped }]) =>
      process(pid, parent, { startTicks: start, userTicks: own, reapedUserTicks: reaped }),
    );
  }
}

const happening = fc.oneof(
  fc.record({ kind: fc.constant("fork" as const), who: fc.nat(50) }),
  fc.record({ kind: fc.constant("burn" as const), who: fc.nat(50), ticks: fc.nat(100) }),
  fc.record({ kind: fc.constant("end" as const), who: fc.nat(50), isWaitedFor: fc.boolean() }),
  fc.record({ kind: fc.constant("look" as const) }),
);

test("whatever happens, the total never goes down, never exceeds the truth and never misses what was seen", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const host = new SyntheticHost();
      const seen = new Map<string, number>(); // the slow, obvious twin: last reading of each process ever seen
      let tree = newTree(ROOT);
      for (const it of [...happenings, { kind: "look" as const }]) {
        if (it.kind === "fork") host.fork(it.who);
        else if (it.kind === "burn") host.burn(it.who, it.ticks);
        else if (it.kind === "end") host.end(it.who, it.isWaitedFor);
        else {
          const before = tree.total.user;
          const list = host.list();
          tree = sampleTree(tree, indexProcesses({ processes: list, unreadable: new Set() }));
          for (const entry of list) seen.set(`${entry.pid}@${entry.startTicks}`, entry.userTicks);
          expect(tree.total.user).toBeGreaterThanOrEqual(before);
          expect(tree.total.user).toBeLessThanOrEqual(host.truth);
        }
      }
      const seenTotal = [...seen.values()].reduce((sum, ticks) => sum + ticks, 0);
      expect(tree.total.user).toBeGreaterThanOrEqual(seenTotal);
    }),
    { numRuns: 500 },
  );
});
