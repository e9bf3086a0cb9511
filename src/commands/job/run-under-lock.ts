import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { HeldLock } from "../../client/job/calls.ts";
import { JobApiError } from "../../client/job/job-api-error.ts";
import { Refusal } from "../errors.ts";

export interface Lock {
  /** Null when it is taken. Aborted, it gives the wait up, and whatever it may have been granted. */
  acquire(abort: AbortSignal): Promise<HeldLock | null>;
  release(token: string): Promise<unknown>;
}

/** `releaseProblem`: why the lock could not be given back, null when it was. */
export type UnderLock =
  | { readonly kind: "taken"; readonly releaseProblem: null }
  | { readonly kind: "ran"; readonly code: number; readonly releaseProblem: string | null };

/** Signals that end or steer a job; the wrapped command gets them, and this process outlives it to let go of the lock. */
const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

type Signal = (typeof FORWARDED)[number];

/**
 * Runs a command while holding a lock, which is given back however it ends (LOK-2). A signal that comes before there is a command ends
 * the matter: nothing is run then, and a lock that is acquired meanwhile is given back.
 *
 * @returns the command's exit code; 128 + n when it, or the wait, was ended by signal n
 * @throws Refusal when the command cannot be started; the lock is free again then
 */
export async function runUnderLock(lock: Lock, command: readonly string[]): Promise<UnderLock> {
  const signals = forwardSignals();
  try {
    const giveUp = new AbortController();
    const held = await Promise.race([lock.acquire(giveUp.signal), signals.first]);
    if (held === null) return { kind: "taken", releaseProblem: null };
    if (typeof held === "string") {
      giveUp.abort();
      return { kind: "ran", code: codeOf(held), releaseProblem: null };
    }
    const ended = await run(command, signals);
    const releaseProblem = await problemOf(lock.release(held.token));
    if (ended.kind === "not started") throw new Refusal(`cannot run '${command[0]}': ${ended.because}`);
    return { kind: "ran", code: ended.code, releaseProblem };
  } finally {
    signals.stop();
  }
}

interface Signals {
  /** The first one before there is a child to give it to. */
  readonly first: Promise<Signal>;
  /** From now on they go to this process. */
  sendTo(child: ChildProcess): void;
  stop(): void;
}

function forwardSignals(): Signals {
  let child: ChildProcess | null = null;
  let gotOne: (signal: Signal) => void;
  const first = new Promise<Signal>((resolve) => {
    gotOne = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    const forwarded = FORWARDED.find((known) => known === signal);
    if (child !== null) child.kill(signal);
    else if (forwarded !== undefined) gotOne(forwarded);
  };
  for (const signal of FORWARDED) process.on(signal, onSignal);
  return {
    first,
    sendTo(started) {
      child = started;
    },
    stop() {
      for (const signal of FORWARDED) process.off(signal, onSignal);
    },
  };
}

type Ended =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "not started"; readonly because: string };

function run([file = "", ...args]: readonly string[], signals: Signals): Promise<Ended> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "inherit" });
    signals.sendTo(child);
    child.on("error", (error: NodeJS.ErrnoException) => {
      // A signal that cannot be delivered is an error of the child too; the child itself ends as it will.
      if (child.pid === undefined) resolve({ kind: "not started", because: spawnProblem(error) });
    });
    child.on("exit", (code, signal) =>
      resolve({ kind: "exited", code: signal === null ? (code ?? 0) : codeOf(signal) }),
    );
  });
}

function spawnProblem({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such command";
  return code === "EACCES" ? "permission denied" : message;
}

function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

async function problemOf(release: Promise<unknown>): Promise<string | null> {
  try {
    await release;
    return null;
  } catch (error) {
    if (error instanceof JobApiError) return error.message;
    throw error;
  }
}
