import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { endianness } from "node:os";

/** One process as the kernel lists it. Times are in clock ticks, see `ProcessTable.ticksPerSecond`. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly sessionId: number;
  /** Ticks after the host's boot. Pid and start together name one process for ever; a pid alone does not. */
  readonly startTicks: number;
  readonly userTicks: number;
  readonly systemTicks: number;
  /** Times of children that ended and that this process has waited for, their own such children included. */
  readonly reapedUserTicks: number;
  readonly reapedSystemTicks: number;
  readonly rssBytes: number;
}

/** What was found at one moment. `unreadable`: there, but its numbers could not be had this time. */
export interface ProcessSnapshot {
  readonly processes: readonly ProcessEntry[];
  readonly unreadable: ReadonlySet<number>;
}

export interface ProcessTable {
  readonly ticksPerSecond: number;
  /** Reads all processes but those in `skip`, which costs their entries nothing. */
  walk(skip: ReadonlySet<number>): ProcessSnapshot;
  /** Reads only these, those that are gone left out. */
  readSome(pids: Iterable<number>): ProcessSnapshot;
}

/** A line of /proc/PID/stat is some 300 bytes; a name is at most 64, all numbers together under 1,100. */
const STAT_BYTES_MAX = 2048;

/**
 * The host's process table, null where there is none to read: this needs Linux's /proc.
 *
 * A walk opens one small file for each process, some 15 µs of CPU each; it blocks, so it belongs in a worker thread.
 *
 * @param procDirectory where procfs is mounted
 */
export function openProcessTable(procDirectory = "/proc"): ProcessTable | null {
  const units = readUnits(`${procDirectory}/self/auxv`);
  if (units === null) return null;
  const line = Buffer.alloc(STAT_BYTES_MAX);

  const read = (pids: Iterable<number>): ProcessSnapshot => {
    const processes: ProcessEntry[] = [];
    const unreadable = new Set<number>();
    for (const pid of pids) {
      const found = readStat(`${procDirectory}/${pid}/stat`, line);
      if (found === "unreadable") unreadable.add(pid);
      else if (found !== "gone") processes.push(parseStat(pid, line.subarray(0, found), units.pageBytes));
    }
    return { processes, unreadable };
  };

  return {
    ticksPerSecond: units.ticksPerSecond,
    readSome: read,
    walk(skip) {
      const pids: number[] = [];
      for (const name of readdirSync(procDirectory)) {
        const first = name.charCodeAt(0);
        if (first < 0x30 || first > 0x39) continue; // not a digit: not a process
        const pid = Number(name);
        if (!skip.has(pid)) pids.push(pid);
      }
      return read(pids);
    },
  };
}

/** Puts a process's stat line into `line`; its length, or why there is none. */
function readStat(path: string, line: Buffer): number | "gone" | "unreadable" {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    return isGone(error) ? "gone" : "unreadable";
  }
  try {
    return readSync(file, line, 0, line.length, 0);
  } catch (error) {
    return isGone(error) ? "gone" : "unreadable";
  } finally {
    closeSync(file);
  }
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "ENOENT" || code === "ESRCH";
}

const SPACE = 0x20;
const CLOSING_PARENTHESIS = 0x29;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Takes the numbers from a stat line, byte by byte since this runs for each process of the host at each tick.
 *
 * The name stands second, in parentheses, and may hold spaces and parentheses itself: fields are counted from the last one.
 */
export function parseStat(pid: number, line: Buffer, pageBytes: number): ProcessEntry {
  const numbers: number[] = [];
  let value = 0;
  // "pid (name) S ppid …": after the parenthesis one space, the state letter (field 3), one space, then numbers from field 4 on.
  for (let at = line.lastIndexOf(CLOSING_PARENTHESIS) + 4; at < line.length; at += 1) {
    const byte = line[at] ?? SPACE;
    if (byte >= ZERO && byte <= NINE) value = value * 10 + byte - ZERO;
    else if (byte === SPACE) {
      numbers.push(value);
      value = 0;
      if (numbers.length > RSS) break;
    }
  }
  const field = (index: number): number => numbers[index] ?? 0;
  return {
    pid,
    parentPid: field(PARENT),
    sessionId: field(SESSION),
    startTicks: field(START),
    userTicks: field(USER),
    systemTicks: field(SYSTEM),
    reapedUserTicks: field(REAPED_USER),
    reapedSystemTicks: field(REAPED_SYSTEM),
    rssBytes: field(RSS) * pageBytes,
  };
}

// Places in the numbers that follow the state letter; the kernel's manual counts them from 4 on.
const PARENT = 0;
const SESSION = 2;
const USER = 10;
const SYSTEM = 11;
const REAPED_USER = 12;
const REAPED_SYSTEM = 13;
const START = 18;
const RSS = 20;

const AUXILIARY_PAGE_SIZE = 6;
const AUXILIARY_CLOCK_TICKS = 17;

/** Page size and clock ticks from the vector the kernel hands to each program: pairs of machine words, type and value. */
function readUnits(path: string): { pageBytes: number; ticksPerSecond: number } | null {
  let vector: Buffer;
  try {
    vector = readFileSync(path);
  } catch {
    return null; // no procfs here: another system, or a container that hides it
  }
  const wordBytes = process.arch === "arm" || process.arch === "ia32" || process.arch === "mipsel" ? 4 : 8;
  const read = (at: number): number =>
    endianness() === "LE" ? vector.readUIntLE(at, Math.min(wordBytes, 6)) : vector.readUIntBE(at + wordBytes - 4, 4);
  const found = new Map<number, number>();
  for (let at = 0; at + 2 * wordBytes <= vector.length; at += 2 * wordBytes) found.set(read(at), read(at + wordBytes));
  const pageBytes = found.get(AUXILIARY_PAGE_SIZE);
  const ticksPerSecond = found.get(AUXILIARY_CLOCK_TICKS);
  return pageBytes === undefined || ticksPerSecond === undefined ? null : { pageBytes, ticksPerSecond };
}
