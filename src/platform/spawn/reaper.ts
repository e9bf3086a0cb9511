import { readdirSync, readFileSync } from "node:fs";
import type { Libc } from "./libc.ts";

const P_ALL = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;

/** Offset of `si_pid` in a 64-bit siginfo_t, in ints. */
const SI_PID = 4;

/** A signal that got lost is made up for after this long. */
const RECHECK_MS = 5_000;

/** A stranger's zombie is an orphan when it is still there after this long: the loop would have waited for it, were it a child of Node's own. */
const ORPHAN_AGE_MS = 1_000;

/** Should anybody in this process break R1, a run still ends, and fails. */
const EXIT_UNKNOWN = 255;

export interface Reaper {
  /** Waits for a child of this process. The answer is its exit code, or -N when signal N ended it. */
  await(pid: number): Promise<number>;
}

/**
 * Waits for children when SIGCHLD says that some ended.
 *
 *   R1. Only children that were handed to `await` are waited for by number. Node's own are left to Node: the look at "who has ended?"
 *       does not take the exit status away.
 *   R2. As process 1 of a container it also inherits orphans. One is waited for only when nobody else did for a while.
 *   R3. While it waits for somebody the event loop stays alive.
 */
export function childReaper(libc: Libc, inheritsOrphans = process.pid === 1): Reaper {
  const waiting = new Map<number, (code: number) => void>();
  const status = new Int32Array(1);
  const info = new Int32Array(32);
  let recheck: NodeJS.Timeout | null = null;
  let sweepIsDue = false;
  let strangers: ReadonlySet<number> = new Set();

  /** The child's exit code, null while it runs. */
  function ended(pid: number): number | null {
    const answer = libc.waitpid(pid, status, WNOHANG);
    if (answer === pid) return exitCode(status[0] ?? 0);
    return answer === 0 ? null : EXIT_UNKNOWN;
  }

  function take(pid: number): void {
    const settle = waiting.get(pid);
    const code = settle === undefined ? null : ended(pid);
    if (settle === undefined || code === null) return;
    waiting.delete(pid);
    if (waiting.size === 0 && recheck !== null) {
      clearInterval(recheck);
      recheck = null;
    }
    settle(code);
  }

  /** Some child that has ended and not been waited for, 0 when there is none. */
  function someoneEnded(): number {
    info[SI_PID] = 0;
    return libc.waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT) === 0 ? (info[SI_PID] ?? 0) : 0;
  }

  function reap(): void {
    for (let pid = someoneEnded(); pid !== 0; pid = someoneEnded()) {
      if (waiting.has(pid)) take(pid);
      else {
        // A stranger's zombie hides those behind it (R1), so ours are asked one by one.
        for (const own of [...waiting.keys()]) take(own);
        if (inheritsOrphans && !sweepIsDue) sweepLater();
        return;
      }
    }
  }

  function sweepLater(): void {
    sweepIsDue = true;
    setTimeout(sweepOrphans, ORPHAN_AGE_MS).unref();
  }

  /** R2: waits for those strangers that were there at the last sweep already, and comes again while there are any. */
  function sweepOrphans(): void {
    sweepIsDue = false;
    const found = zombiesBelow(process.pid).filter((pid) => !waiting.has(pid));
    const orphans = found.filter((pid) => strangers.has(pid));
    for (const pid of orphans) ended(pid);
    strangers = new Set(found.filter((pid) => !orphans.includes(pid)));
    if (strangers.size > 0) sweepLater();
    else reap();
  }

  process.on("SIGCHLD", reap);
  return {
    await: (pid) =>
      new Promise((resolve) => {
        waiting.set(pid, resolve);
        recheck ??= setInterval(() => [...waiting.keys()].forEach(take), RECHECK_MS); // R3
        take(pid); // its signal may have come before we knew its number
      }),
  };
}

/** Reads a status as wait(2) gives it. */
function exitCode(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? (status >> 8) & 0xff : -signal;
}

/** Ended and not waited for children of a process. */
function zombiesBelow(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/stat`, "latin1");
        const [state, parentPid] = text.slice(text.lastIndexOf(")") + 2).split(" ", 2); // the name before may hold anything
        return state === "Z" && Number(parentPid) === parent;
      } catch {
        return false; // gone between the listing and the look
      }
    });
}
