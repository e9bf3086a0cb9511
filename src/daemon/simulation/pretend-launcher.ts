import type { JobConfig } from "../../config/model.ts";
import type { Launcher, LiveOutput, RunEvent } from "../../contract/launcher.ts";
import type { RunResult, StopCause } from "../../contract/run.ts";
import type { Processes } from "../../journal/inflight/inflight.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";

/** What a run pretends to do. */
export interface Pretence {
  readonly lastsMs: number;
  readonly fails: boolean;
}

/** The processes of a simulated machine: they live until their time comes, whatever becomes of the daemon that started them. */
export interface PretendProcesses extends Processes {
  /** A process that ends by itself then. Answers its pid; none is given twice. */
  start(endsAt: EpochMs): number;
  end(pid: number): void;
}

export function pretendProcesses(clock: Clock): PretendProcesses {
  const ends = new Map<number, { readonly startedAt: EpochMs; readonly endsAt: EpochMs }>();
  let lastPid = 1;
  return {
    start(endsAt) {
      lastPid++;
      ends.set(lastPid, { startedAt: clock.wallNow(), endsAt });
      return lastPid;
    },
    end: (pid) => ends.delete(pid),
    look(pid) {
      const found = ends.get(pid);
      if (found === undefined || found.endsAt <= clock.wallNow()) return { kind: "gone" };
      return { kind: "exists", startedAt: found.startedAt, identity: `simulated/${pid}` };
    },
  };
}

/** Runs that only pretend: no command is started. A run that is told to stop ends at once. */
export function pretendLauncher(parts: {
  readonly clock: Clock;
  readonly processes: PretendProcesses;
  /** The instant that a run of this moment is taken to start at. */
  now(): EpochMs;
  pretend(job: JobConfig): Pretence;
}): Launcher & { endOf(job: JobConfig): EpochMs } {
  const { clock, processes, now } = parts;

  /** How a run of the job ends when nobody stops it: by itself, or at its `executionTimeout`. */
  const planOf = (job: JobConfig): { readonly endsAt: EpochMs; readonly verdict: Verdict } => {
    const { lastsMs, fails } = parts.pretend(job);
    const { executionTimeoutSeconds, failsWhen } = job.launch;
    const timeoutMs = (executionTimeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const endsAt = now() + Math.min(lastsMs, timeoutMs);
    if (lastsMs > timeoutMs) {
      const failReason = `still running after its executionTimeout of ${executionTimeoutSeconds} s`;
      return { endsAt, verdict: { exitCode: -100, stopped: "timeout", failReason } };
    }
    if (fails) return { endsAt, verdict: { exitCode: 1, stopped: null, failReason: "told to fail" } };
    return {
      endsAt,
      verdict: { exitCode: 0, stopped: null, failReason: failsWhen.always ? "failsWhen.always" : null },
    };
  };

  return {
    endOf: (job) => planOf(job).endsAt,
    launch({ job }, onEvent) {
      const startedAt = now();
      const { endsAt, verdict } = planOf(job);
      const pid = processes.start(endsAt);
      const finish = (final: Verdict): void => {
        processes.end(pid);
        onEvent({ kind: "finished", result: resultOf(startedAt, now(), final) });
      };
      clock.after(0, () => onEvent({ kind: "spawned", pid, startedAt } satisfies RunEvent));
      const cancelEnd = clock.after(endsAt - clock.wallNow(), () => finish(verdict));
      let isStopped = false;
      return {
        stop(cause) {
          if (isStopped) return;
          isStopped = true;
          cancelEnd();
          clock.after(0, () => finish({ exitCode: -15, stopped: cause, failReason: null }));
        },
        output: silent,
        resourcesNow: () => null,
      };
    },
  };
}

interface Verdict {
  readonly exitCode: number;
  readonly stopped: StopCause | null;
  readonly failReason: string | null;
}

const silent: LiveOutput = { recent: () => [], published: 0, subscribe: () => () => {} };

function resultOf(startedAt: EpochMs, endedAt: EpochMs, verdict: Verdict): RunResult {
  return {
    ...verdict,
    startedAt,
    endedAt,
    finishedAt: endedAt,
    launchError: null,
    stdout: null,
    stderr: null,
    environment: null,
    verification: null,
    resources: null,
    limits: null,
  };
}
