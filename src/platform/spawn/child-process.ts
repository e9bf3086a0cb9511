import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { Readable } from "node:stream";
import { problemOfArguments, problemOfVariables } from "./c-strings.ts";
import { findExecutable } from "./executable.ts";
import { processGroup } from "./process-group.ts";
import { describeSpawnFailure, notInPath } from "./spawn-failure.ts";
import type { Child, ChildOutput, Spawner, SpawnOutcome, SpawnRequest } from "./spawner.ts";

/**
 * Starts processes by Node's own child_process, for systems where `posixSpawner` cannot be had. A start forks the daemon, so it costs more
 * the more the daemon holds; a nice level reaches the first process of a group only; orphans of a container are not waited for.
 */
export const childProcessSpawner: Spawner = {
  spawn(request) {
    const [program = "", ...args] = request.argv;
    const { workingDirectory } = request;
    const env = { ...request.environment.base, ...request.environment.added };
    const file = findExecutable(program, env.PATH, workingDirectory);
    if (file === null) return failed(notInPath({ program, workingDirectory }, env.PATH));
    const unencoded = problemOfArguments(request.argv) ?? problemOfVariables(env);
    if (unencoded !== null) return failed(unencoded);
    return new Promise((resolve) => {
      try {
        const child = spawn(file, args, {
          argv0: program,
          env,
          ...(workingDirectory === null ? {} : { cwd: workingDirectory }),
          detached: true,
          stdio: ["inherit", request.stdout, request.stderr],
        });
        child.once("spawn", () => resolve({ kind: "started", child: childOf(child) }));
        child.once("error", (error) => resolve(failure(error, file, request)));
      } catch (error) {
        resolve(failure(error, file, request));
      }
    });
  },
};

const failed = (message: string): Promise<SpawnOutcome> => Promise.resolve({ kind: "failed", message });

function failure(error: unknown, program: string, { workingDirectory }: SpawnRequest): SpawnOutcome {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return { kind: "failed", message: describeSpawnFailure(code, { program, workingDirectory }) };
}

function childOf(child: ChildProcess): Child {
  const pid = child.pid ?? 0;
  const { group, leaderGone } = processGroup(pid);
  return {
    pid,
    group,
    stdout: child.stdout === null ? null : outputOf(child.stdout),
    stderr: child.stderr === null ? null : outputOf(child.stderr),
    exit: new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        leaderGone();
        resolve(code ?? -(signal === null ? 0 : constants.signals[signal]));
      });
    }),
    setNice(level) {
      try {
        setPriority(pid, level);
        return null;
      } catch (error) {
        const code = error instanceof Error && "info" in error ? errorCode(error.info) : String(error);
        return code === "ESRCH" ? null : code;
      }
    },
  };
}

function errorCode(info: unknown): string {
  return typeof info === "object" && info !== null && "code" in info ? String(info.code) : "unknown";
}

function outputOf(stream: Readable): ChildOutput {
  return {
    read(onBytes, onEnd) {
      stream.on("data", (bytes: Buffer) => {
        if (onBytes(bytes) === "wait") stream.pause();
      });
      stream.once("close", onEnd);
      stream.on("error", () => stream.destroy()); // a pipe that cannot be read has nothing more to say
    },
    resume: () => stream.resume(),
    close: () => stream.destroy(),
  };
}
