import type { JobConfig, LaunchConfig } from "../../../src/config/model.ts";
import type { LiveOutput, LiveRun, OutputLine, RunEvent } from "../../../src/contract/launcher.ts";
import type { RunResult } from "../../../src/contract/run.ts";
import { createMirror } from "../../../src/execution/capture/mirror.ts";
import { readingPace } from "../../../src/execution/capture/pace.ts";
import { createLauncher } from "../../../src/execution/launcher.ts";
import type { RunParts } from "../../../src/execution/run.ts";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { systemSpawner } from "../../../src/platform/spawn/system-spawner.ts";
import { jobConfig } from "../../support/job-config.ts";
import { logLines } from "../../support/log-lines.ts";

export type JobOver = Partial<Omit<JobConfig, "launch">> & { readonly launch?: Partial<LaunchConfig> };

/** Real processes under a real launcher, and all that was said of them. */
export function execution(over: Partial<RunParts> = {}) {
  const clock = over.clock ?? systemClock;
  const { log, lines, everything } = logLines();
  const mirrored = { stdout: "", stderr: "" };
  const target = (stream: "stdout" | "stderr") => ({
    write(bytes: Buffer, done: (error: null) => void) {
      mirrored[stream] += bytes.toString();
      done(null);
    },
    close: () => {},
  });
  const launcher = createLauncher({
    clock,
    log,
    spawner: systemSpawner((reason) => log.warning(reason)),
    mirror: createMirror({ stdout: target("stdout"), stderr: target("stderr") }, clock, log),
    pace: readingPace(clock),
    monitor: null,
    limits: null,
    baseEnvironment: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/root", HOSTNAME: "box" },
    ...over,
  });
  let runs = 0;

  function launch(job: JobOver, injectedEnvironment: Readonly<Record<string, string>> = {}): LaunchedRun {
    const events: RunEvent[] = [];
    let tellFinished: (result: RunResult) => void = () => {};
    let tellSpawned: (pid: number | null) => void = () => {};
    const finished = new Promise<RunResult>((resolve) => {
      tellFinished = resolve;
    });
    const spawned = new Promise<number | null>((resolve) => {
      tellSpawned = resolve;
    });
    const run = launcher.launch(
      {
        runId: String(runs++).padStart(32, "0"),
        job: jobConfig(job),
        attempt: 0,
        scheduledAt: null,
        injectedEnvironment,
      },
      (event) => {
        events.push(event);
        if (event.kind === "spawned") tellSpawned(event.pid);
        else tellFinished(event.result);
      },
    );
    return { run, events, spawned, finished };
  }

  return {
    launch,
    /** Launches and waits for the end. */
    result: (job: JobOver, injected: Readonly<Record<string, string>> = {}) => launch(job, injected).finished,
    /** What was logged, `LEVEL message`, debug lines left out. */
    said: () => lines.filter((line) => !line.startsWith("DEBUG")),
    everything,
    mirrored,
  };
}

export interface LaunchedRun {
  readonly run: LiveRun;
  readonly events: readonly RunEvent[];
  readonly spawned: Promise<number | null>;
  readonly finished: Promise<RunResult>;
}

/** Resolves with the first line that matches, printed already or to come. */
export function lineOf(output: LiveOutput, pattern: RegExp): Promise<OutputLine> {
  return new Promise((resolve, reject) => {
    const unsubscribe = output.subscribe(look, () => reject(new Error(`the run ended without ${pattern}`)));
    function look(lines: readonly OutputLine[]): void {
      const found = lines.find(({ line }) => pattern.test(line));
      if (found === undefined) return;
      resolve(found);
      unsubscribe();
    }
    look(output.recent());
  });
}

/** A clock on which a configured second takes a hundredth of one. */
export const hundredfold: Clock = {
  wallNow: systemClock.wallNow,
  elapsedNow: () => systemClock.elapsedNow() * 100,
  after: (delayMs, run) => systemClock.after(delayMs / 100, run),
};
