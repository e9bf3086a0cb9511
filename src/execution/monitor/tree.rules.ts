import type { ProcessEntry, ProcessSnapshot } from "../../platform/process-table.ts";

/**
 * What one run's process tree has used, kept from sample to sample (running 17).
 *
 * T1. A member is known by pid and start, so a recycled pid is another process.
 * T2. A member stays one for as long as it lives, also when its parent ends and the link to it is lost.
 * T3. CPU is counted once. While a process lives its own times count; when it ends, its last reading goes to the parent that
 *     waits for it, where it merges with what the kernel says that parent has reaped: the kernel's number is the better one
 *     (it knows the end), but it may lag behind a walk, and stays 0 where the parent ignores its children.
 * T4. Totals never go down.
 */
export interface Tree {
  readonly rootPid: number;
  /** When the root started, null until it has been seen. */
  readonly rootStartTicks: number | null;
  readonly members: ReadonlyMap<number, Member>;
  /** The root's account once it is gone; kept apart because its exact times may still be told. */
  readonly root: CpuTicks;
  /** Accounts of ended members that nobody in the tree waits for. */
  readonly banked: CpuTicks;
  readonly total: CpuTicks;
  readonly rssBytes: number;
}

export interface CpuTicks {
  readonly user: number;
  readonly system: number;
}

interface Member {
  readonly pid: number;
  readonly parentPid: number;
  readonly startTicks: number;
  readonly own: CpuTicks;
  /** What the kernel says of children it has waited for. */
  readonly reaped: CpuTicks;
  /** Last readings of its children that ended. */
  readonly left: CpuTicks;
  readonly rssBytes: number;
}

/** A snapshot arranged for look-ups, once for all trees that are sampled from it. */
export interface ProcessIndex {
  readonly byPid: ReadonlyMap<number, ProcessEntry>;
  readonly byParent: ReadonlyMap<number, readonly ProcessEntry[]>;
  readonly bySession: ReadonlyMap<number, readonly ProcessEntry[]>;
  readonly unreadable: ReadonlySet<number>;
}

const NONE: CpuTicks = { user: 0, system: 0 };

export function indexProcesses(snapshot: ProcessSnapshot): ProcessIndex {
  const byPid = new Map<number, ProcessEntry>();
  const byParent = new Map<number, ProcessEntry[]>();
  const bySession = new Map<number, ProcessEntry[]>();
  for (const entry of snapshot.processes) {
    byPid.set(entry.pid, entry);
    append(byParent, entry.parentPid, entry);
    append(bySession, entry.sessionId, entry);
  }
  return { byPid, byParent, bySession, unreadable: snapshot.unreadable };
}

/** A tree of which nothing is known yet but the pid of its root, which is the leader of a session of its own. */
export function newTree(rootPid: number): Tree {
  return { rootPid, rootStartTicks: null, members: new Map(), root: NONE, banked: NONE, total: NONE, rssBytes: 0 };
}

/** The tree after one more look. Members are the root, its descendants, all of its session, and whoever was one before (T2). */
export function sampleTree(tree: Tree, index: ProcessIndex): Tree {
  const members = new Map<number, Member>();
  for (const entry of presentMembers(tree, index)) {
    const left = sameProcess(tree.members.get(entry.pid), entry)?.left ?? NONE;
    members.set(entry.pid, memberFrom(entry, left));
  }
  for (const member of tree.members.values()) {
    if (index.unreadable.has(member.pid) && !members.has(member.pid)) members.set(member.pid, member);
  }
  return settleEnded(tree, members);
}

/**
 * The tree when the root is gone and its exact times are known, as waiting for it told them: its own and those of all children
 * waited for below it. They cover what happened after the last look.
 */
export function withExactRoot(tree: Tree, exact: CpuTicks): Tree {
  if (tree.members.has(tree.rootPid)) return tree;
  const root = larger(tree.root, exact);
  return { ...tree, root, total: larger(tree.total, sumUp(tree.members, tree.banked, root)) };
}

function presentMembers(tree: Tree, index: ProcessIndex): Set<ProcessEntry> {
  const present = new Set<ProcessEntry>(index.bySession.get(tree.rootPid));
  const root = index.byPid.get(tree.rootPid);
  // At the first look the pid itself has to do; the caller watches from the spawn on, so it is not recycled by then.
  if (root !== undefined && root.startTicks === (tree.rootStartTicks ?? root.startTicks)) present.add(root);
  for (const member of tree.members.values()) {
    const entry = index.byPid.get(member.pid);
    if (entry !== undefined && sameProcess(member, entry)) present.add(entry);
  }
  // A set iterates over what is added while it does: this reaches all descendants.
  for (const entry of present) {
    for (const child of index.byParent.get(entry.pid) ?? []) present.add(child);
  }
  return present;
}

/** Hands the accounts of members that are gone to whom they belong (T3), deepest first. */
function settleEnded(tree: Tree, members: Map<number, Member>): Tree {
  const ended = new Map<number, Member>();
  for (const member of tree.members.values()) {
    if (members.get(member.pid)?.startTicks !== member.startTicks) ended.set(member.pid, member);
  }
  let { root, banked } = tree;
  const youngestFirst = [...ended.values()].sort((a, b) => b.startTicks - a.startTicks || b.pid - a.pid);
  for (const { pid } of youngestFirst) {
    const member = ended.get(pid);
    if (member === undefined) continue;
    ended.delete(pid);
    const account = accountOf(member);
    const heir = heirOf(member, ended, members);
    if (heir !== null) heir.among.set(heir.member.pid, { ...heir.member, left: plus(heir.member.left, account) });
    else if (pid === tree.rootPid) root = plus(root, account);
    else banked = plus(banked, account);
  }
  let rssBytes = 0;
  for (const member of members.values()) rssBytes += member.rssBytes;
  const total = larger(tree.total, sumUp(members, banked, root)); // T4
  const rootStartTicks = tree.rootStartTicks ?? members.get(tree.rootPid)?.startTicks ?? null;
  return { rootPid: tree.rootPid, rootStartTicks, members, root, banked, total, rssBytes };
}

/** The member that waits for this one: its parent, ended in the same moment or alive. Never one that is younger than the child. */
function heirOf(
  child: Member,
  ended: Map<number, Member>,
  alive: Map<number, Member>,
): { readonly member: Member; readonly among: Map<number, Member> } | null {
  for (const among of [ended, alive]) {
    const member = among.get(child.parentPid);
    if (member !== undefined && member.startTicks <= child.startTicks) return { member, among };
  }
  return null;
}

function memberFrom(entry: ProcessEntry, left: CpuTicks): Member {
  return {
    pid: entry.pid,
    parentPid: entry.parentPid,
    startTicks: entry.startTicks,
    own: { user: entry.userTicks, system: entry.systemTicks },
    reaped: { user: entry.reapedUserTicks, system: entry.reapedSystemTicks },
    left,
    rssBytes: entry.rssBytes,
  };
}

function sameProcess(member: Member | undefined, entry: ProcessEntry): Member | null {
  return member !== undefined && member.startTicks === entry.startTicks ? member : null;
}

function accountOf(member: Member): CpuTicks {
  return plus(member.own, larger(member.reaped, member.left));
}

function sumUp(members: ReadonlyMap<number, Member>, banked: CpuTicks, root: CpuTicks): CpuTicks {
  let sum = plus(banked, root);
  for (const member of members.values()) sum = plus(sum, accountOf(member));
  return sum;
}

function plus(a: CpuTicks, b: CpuTicks): CpuTicks {
  return { user: a.user + b.user, system: a.system + b.system };
}

function larger(a: CpuTicks, b: CpuTicks): CpuTicks {
  return { user: Math.max(a.user, b.user), system: Math.max(a.system, b.system) };
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
