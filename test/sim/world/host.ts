import type { JobConfig } from "../../../src/config/model.ts";
import type { Launcher, LaunchRequest, LiveRun, RunEvent } from "../../../src/contract/launcher.ts";
import type { RunResult, StopCause } from "../../../src/contract/run.ts";
import type { Processes } from "../../../src/journal/inflight/inflight.ts";
import type { EpochMs } from "../../../src/platform/clock.ts";
import type { DaemonId, NewFact, SimProcess, TaskStart } from "./facts.ts";
import { type HostClock, hostClock } from "./host-clock.ts";
import type { Life } from "./life.ts";
import type { Random } from "./random.ts";
import { silentRun } from "./silent-run.ts";
import type { Behaviour } from "./sim-job.ts";
import type { WorldTime } from "./world-time.ts";

/** A machine: its clock, its boot, its processes. Daemons come and go on it; what they started stays until it ends, or the boot. */
export interface SimHost {
  readonly name: string;
  readonly clock: HostClock;
  readonly bootId: string;
  readonly processes: Processes;
  live(): Iterable<SimProcess>;
  /** Starts commands for a daemon, whose life they do not share. */
  launcherFor(daemon: DaemonId, life: Life, publish: Publish): Launcher;
  /** SIGKILL for all that this daemon has started. */
  killProcessesOf(daemon: DaemonId): void;
  /** Ends all processes at once and begins another boot. */
  reboot(): void;
}

/** What a process of a task asks of its daemon with `cronstable xcom push`; whether it was done. */
export type Publish = (scope: string, name: string, text: string) => Promise<boolean>;

/** A command does not wait for its daemon for ever. */
const PUBLISHES_WITHIN_MS = 15_000;

/** Few enough that numbers come round again: a new process gets the number of one that is gone (F58). */
const PIDS = 40;

export function simHost(parts: {
  readonly name: string;
  readonly world: WorldTime;
  readonly random: Random;
  readonly skewMs: number;
  /** Whether this platform tells processes of one number apart. */
  readonly tellsIdentity: boolean;
  /** What a command does, drawn for one run of it. */
  readonly behaviourOf: (job: JobConfig, random: Random) => Behaviour;
  readonly note: (fact: NewFact) => void;
}): SimHost {
  const { name, world, random, note } = parts;
  const clock = hostClock(world, parts.skewMs);
  let boots = 0;
  let lastPid = 0;
  let bootId = "";
  const table = new Map<number, SimProcess & { readonly identity: string }>();

  const beginBoot = (): void => {
    boots++;
    bootId = `${name}-boot-${boots}`;
    table.clear();
  };
  beginBoot();

  const freePid = (): number => {
    do lastPid = (lastPid % PIDS) + 1;
    while (table.has(lastPid) && table.size < PIDS);
    return lastPid;
  };

  const start = (
    daemon: DaemonId,
    life: Life,
    publish: Publish,
    request: LaunchRequest,
    onEvent: (event: RunEvent) => void,
  ): LiveRun => {
    const tell = (event: RunEvent): void => {
      if (life.effect()) onEvent(event);
    };
    const { job, runId } = request;
    const behaviour = parts.behaviourOf(job, random);
    const task = taskOf(request);
    let stopped: StopCause | null = null;
    let startedAt: EpochMs = clock.wallNow();
    let pid: number | null = null;
    const bootOfStart = bootId;
    let cancelEnd = (): void => {};

    const end = (exitCode: number, launchError: string | null): void => {
      if (bootId !== bootOfStart) return; // it went down with the machine
      const process = pid === null ? undefined : table.get(pid);
      if (process !== undefined && process.runId === runId) {
        table.delete(process.pid);
        note({ kind: "process ended", process, how: stopped === null ? "by itself" : "killed" });
      }
      // A grandchild may hold the output open: the run is over before it is finished (F-47).
      const endedAt = clock.wallNow();
      clock.after(random.chance(0.1) ? random.between(1, 5000) : 0, () => {
        const failReason = exitCode === 0 ? null : `command exited with code ${exitCode}`;
        const result = { startedAt, endedAt, finishedAt: clock.wallNow(), exitCode, launchError, stopped, failReason };
        tell({ kind: "finished", result: { ...nothingElse, ...result } });
      });
    };

    clock.after(0, () => {
      if (bootId !== bootOfStart || !life.alive) return;
      startedAt = clock.wallNow();
      if (stopped !== null || behaviour.fails === "to launch") {
        tell({ kind: "spawned", pid: null, startedAt });
        end(127, "no such command");
        return;
      }
      pid = freePid();
      const { exitCode } = behaviour;
      const process = { daemon, pid, job, runId, task, exitCode, startedAt, bootId, identity: `${bootId}/${runId}` };
      table.set(pid, process);
      note({ kind: "process started", process });
      tell({ kind: "spawned", pid, startedAt });
      cancelEnd = clock.after(behaviour.lastsMs, () => {
        if (behaviour.publishes === null) return end(behaviour.exitCode, null);
        const { key, text } = behaviour.publishes;
        let isOver = false;
        const over = (done: boolean): void => {
          if (isOver) return;
          isOver = true;
          cancelEnd();
          end(done ? behaviour.exitCode : 1, null);
        };
        cancelEnd = clock.after(PUBLISHES_WITHIN_MS, () => over(false));
        const cancelPatience = cancelEnd;
        cancelEnd = () => {
          isOver = true;
          cancelPatience();
        };
        if (!life.alive) return over(false);
        void publish(request.stateScope ?? "", `${task?.taskKey}/${key}`, text).then(over);
      });
    });

    return {
      ...silentRun,
      stop(cause) {
        if (stopped !== null) return;
        stopped = cause;
        if (pid === null) return;
        cancelEnd();
        cancelEnd = clock.after(behaviour.diesInMs, () => end(-15, null));
      },
    };
  };

  return {
    name,
    clock,
    get bootId() {
      return bootId;
    },
    live: () => table.values(),
    processes: {
      look(pid) {
        const process = table.get(pid);
        if (process === undefined) return { kind: "gone" };
        return {
          kind: "exists",
          startedAt: process.startedAt,
          identity: parts.tellsIdentity ? process.identity : null,
        };
      },
    },
    launcherFor: (daemon, life, publish) => ({
      launch(request, onEvent) {
        if (!life.effect()) return { ...silentRun, stop: () => {} };
        const run = start(daemon, life, publish, request, onEvent);
        return {
          ...run,
          stop(cause) {
            if (life.effect()) run.stop(cause);
          },
        };
      },
    }),
    killProcessesOf({ proc }) {
      for (const process of [...table.values()]) {
        if (process.daemon.proc !== proc) continue;
        table.delete(process.pid);
        note({ kind: "process ended", process, how: "killed" });
      }
    },
    reboot() {
      for (const process of [...table.values()]) note({ kind: "process ended", process, how: "killed" });
      beginBoot();
      note({ kind: "rebooted", host: name, bootId });
    },
  };
}

function taskOf({ injectedEnvironment: variables, attempt }: LaunchRequest): TaskStart | null {
  const dag = variables.CRONSTABLE_DAG_NAME;
  if (dag === undefined) return null;
  const { CRONSTABLE_DAG_RUN_KEY: runKey = "", CRONSTABLE_DAG_RUN_ID: runId = "" } = variables;
  return { dag, runKey, runId, taskKey: variables.CRONSTABLE_DAG_TASKKEY ?? "", attempt };
}

const nothingElse: Omit<
  RunResult,
  "startedAt" | "endedAt" | "finishedAt" | "exitCode" | "launchError" | "stopped" | "failReason"
> = {
  stdout: null,
  stderr: null,
  environment: null,
  verification: null,
  resources: null,
  limits: null,
};
