import { readdirSync } from "node:fs";
import { constants } from "node:os";
import { getSystemErrorName } from "node:util";
import { cStrings, problemOfArguments } from "./c-strings.ts";
import { environmentBlocks } from "./environment-block.ts";
import { findExecutable } from "./executable.ts";
import { type Libc, loadLibc } from "./libc.ts";
import { pipeReader } from "./pipe-reader.ts";
import { processGroup } from "./process-group.ts";
import { childReaper } from "./reaper.ts";
import { describeSpawnFailure, notInPath } from "./spawn-failure.ts";
import type { Child, Spawner, SpawnOutcome, SpawnRequest } from "./spawner.ts";

const O_CLOEXEC = 0o2000000;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const PRIO_PGRP = 1;

const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;

/** Room for posix_spawnattr_t and posix_spawn_file_actions_t: glibc and musl need 336 and 80 bytes. */
const OPAQUE_BYTES = 1024;
const SIGSET_BYTES = 128;

/**
 * Starts processes by posix_spawn(3), which shares the daemon's memory with the child until it execs, where fork copies its page tables: a
 * start costs the same whatever the daemon holds (DESIGN idea 10). The start itself is done when `spawn` returns.
 *
 * One for the whole process, because it awaits the children of the whole process.
 *
 * @throws when the system lacks what it takes; the message says what
 */
export function posixSpawner(): Promise<Spawner> {
  made ??= makeSpawner();
  return made;
}

let made: Promise<Spawner> | null = null;

async function makeSpawner(): Promise<Spawner> {
  const libc = await loadLibc();
  const attributes = startAttributes(libc);
  const reaper = childReaper(libc);
  const environmentBlock = environmentBlocks(libc.addressOf);
  // A start is over before the next begins, so all use the same.
  const scratch: Scratch = {
    pid: new Int32Array(1),
    ends: new Int32Array(2),
    actions: Buffer.allocUnsafeSlow(OPAQUE_BYTES),
  };
  closeInheritedOnExec(libc);

  function start(request: SpawnRequest): SpawnOutcome {
    const [program = ""] = request.argv;
    const unencoded = problemOfArguments(request.argv);
    if (unencoded !== null) return failed(unencoded);
    const environment = environmentBlock(request.environment);
    if ("problem" in environment) return failed(environment.problem);
    const path = request.environment.added.PATH ?? request.environment.base.PATH;
    const file = findExecutable(program, path, request.workingDirectory);
    if (file === null) return failed(notInPath({ program, workingDirectory: request.workingDirectory }, path));

    const pipes = openPipes(libc, scratch, request);
    if (typeof pipes === "string") return failed(describeSpawnFailure(pipes, { program, workingDirectory: null }));
    const argv = cStrings(request.argv, libc.addressOf);
    const code = withFileActions(libc, scratch, request.workingDirectory, pipes, (actions) =>
      libc.posixSpawn(scratch.pid, cString(file), actions, attributes, argv.pointers, environment.pointers),
    );
    for (const { writeEnd } of pipes) libc.close(writeEnd);
    if (code !== 0) {
      for (const { readEnd } of pipes) libc.close(readEnd);
      return failed(describeSpawnFailure(getSystemErrorName(-code), { ...request, program: file }));
    }
    return { kind: "started", child: childOf(scratch.pid[0] ?? 0, pipes) };
  }

  function childOf(pid: number, pipes: readonly Pipe[]): Child {
    const { group, leaderGone } = processGroup(pid);
    const output = (target: number) => {
      const pipe = pipes.find((candidate) => candidate.target === target);
      return pipe === undefined ? null : pipeReader(pipe.readEnd);
    };
    return {
      pid,
      group,
      stdout: output(1),
      stderr: output(2),
      exit: reaper.await(pid).then((code) => {
        leaderGone();
        return code;
      }),
      setNice: (level) => {
        if (libc.setpriority(PRIO_PGRP, pid, level) === 0) return null;
        const errno = libc.errno();
        return errno === constants.errno.ESRCH ? null : getSystemErrorName(-errno);
      },
    };
  }

  return { spawn: (request) => Promise.resolve(start(request)) };
}

const failed = (message: string): SpawnOutcome => ({ kind: "failed", message });

const cString = (text: string): Buffer => Buffer.from(`${text}\0`);

/** New session; no signal blocked, none ignored: Node ignores SIGPIPE, and a child would inherit that. */
function startAttributes(libc: Libc): Buffer {
  const attributes = Buffer.alloc(OPAQUE_BYTES);
  libc.attributesInit(attributes);
  libc.attributesSignalMask(attributes, Buffer.alloc(SIGSET_BYTES));
  libc.attributesSignalDefaults(attributes, Buffer.alloc(SIGSET_BYTES, 0xff));
  libc.attributesFlags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  return attributes;
}

/** What the daemon itself was started with stays with it. Node marks only what it opens and the first few it finds. */
function closeInheritedOnExec(libc: Libc): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2) libc.fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/** Room for what C writes. */
interface Scratch {
  readonly pid: Int32Array;
  readonly ends: Int32Array;
  readonly actions: Buffer;
}

interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  /** The child's descriptor. */
  readonly target: 1 | 2;
}

/** The pipes a start needs, or the code of what kept one from opening; then none is left open. */
function openPipes(libc: Libc, { ends }: Scratch, request: SpawnRequest): readonly Pipe[] | string {
  const pipes: Pipe[] = [];
  const targets = [request.stdout === "pipe" ? [1 as const] : [], request.stderr === "pipe" ? [2 as const] : []].flat();
  for (const target of targets) {
    if (libc.pipe2(ends, O_CLOEXEC) !== 0) {
      const code = getSystemErrorName(-libc.errno());
      for (const pipe of pipes) {
        libc.close(pipe.readEnd);
        libc.close(pipe.writeEnd);
      }
      return code;
    }
    pipes.push({ readEnd: ends[0] ?? -1, writeEnd: ends[1] ?? -1, target });
  }
  return pipes;
}

function withFileActions(
  libc: Libc,
  { actions }: Scratch,
  directory: string | null,
  pipes: readonly Pipe[],
  use: (actions: Buffer) => number,
): number {
  libc.fileActionsInit(actions);
  for (const target of [0, 1, 2]) {
    const pipe = pipes.find((candidate) => candidate.target === target);
    // A descriptor put on itself stays open on exec; Node marks its own three for closing.
    libc.fileActionsDup2(actions, pipe?.writeEnd ?? target, target);
  }
  if (directory !== null) libc.fileActionsChdir(actions, cString(directory));
  const code = use(actions);
  libc.fileActionsDestroy(actions);
  return code;
}
