import { resolve } from "node:path";
import type { LaunchRequest, LiveRun, RunEvent } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { RunResult, StopCause, Verification } from "../contract/run.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { findExecutable, isExecutable } from "../platform/spawn/executable.ts";
import type { Child, Spawner } from "../platform/spawn/spawner.ts";
import { lineSplitter } from "./capture/line-splitter.ts";
import { liveOutput } from "./capture/live-output.ts";
import type { Mirror } from "./capture/mirror.ts";
import type { Pace } from "./capture/pace.ts";
import { type RetainedText, retainedText } from "./capture/retained-text.ts";
import { streamPrefix } from "./capture/stream-prefix.ts";
import { argvOf, identityPrefix, loggedCommand } from "./command.ts";
import type { Cage, LimitsEnforcer, ResourceMonitor, ResourceWatch } from "./companions.ts";
import { environmentFacts, runEnvironment, type Variables } from "./environment.ts";
import { type CapturedPipe, type Ended, supervise } from "./supervised-process.ts";
import { failReason } from "./verdict.rules.ts";
import { verify } from "./verify.ts";

/** What every run is made with. */
export interface RunParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawner: Spawner;
  readonly mirror: Mirror;
  readonly pace: Pace;
  readonly monitor: ResourceMonitor | null;
  readonly limits: LimitsEnforcer | null;
  /** The daemon's own variables, HOSTNAME among them. */
  readonly baseEnvironment: Variables;
}

/** A run that has its turn still to come, and the way to give it. */
export interface QueuedRun {
  readonly live: LiveRun;
  /** Starts the command. Resolves when the start has been made, or has failed. Never rejects. */
  start(): Promise<void>;
}

/** Exit code of a run that was stopped before it had a process: as if SIGTERM had met it. */
const STOPPED_BEFORE_START = -15;
const LAUNCH_FAILED = 127;
const TIMED_OUT = -100;

const COULD_NOT_JOIN = "the run's control group was gone before its command could join it";

const nice = { idle: 19, "below-normal": 10, normal: null, "above-normal": -5, high: -10 } as const;

/** One run of one command, from its place in the queue to its verdict (running 1 to 5). */
export function queuedRun(
  { runId, job, injectedEnvironment }: LaunchRequest,
  parts: RunParts,
  onEvent: (event: RunEvent) => void,
): QueuedRun {
  const { clock, log, spawner, mirror, pace } = parts;
  const { launch, name } = job;
  const subject = `Job ${name}`;
  const live = liveOutput();
  const retained = {
    stdout: launch.captureStdout ? retainedText(launch.saveLimitLines) : null,
    stderr: launch.captureStderr ? retainedText(launch.saveLimitLines) : null,
  };
  /** What a stop reaches now. */
  let stopTarget: { stop(cause: StopCause): void } | null = null;
  let stopFirst: StopCause | null = null;
  let watch: ResourceWatch | null = null;

  const stop = (cause: StopCause): void => {
    stopFirst ??= cause;
    stopTarget?.stop(cause);
  };

  const finish = (result: Pick<RunResult, "startedAt" | "exitCode"> & Partial<RunResult>): void => {
    live.end();
    const at = clock.wallNow();
    onEvent({
      kind: "finished",
      result: {
        endedAt: at,
        finishedAt: at,
        launchError: null,
        stopped: null,
        stdout: retained.stdout?.captured() ?? null,
        stderr: retained.stderr?.captured() ?? null,
        environment: null,
        failReason: null,
        verification: null,
        resources: null,
        limits: null,
        ...result,
      },
    });
  };

  const launchFailure = (
    startedAt: EpochMs,
    message: string,
    limitsRefused: string | null,
    argv: readonly string[],
  ): void => {
    const cwd = launch.workingDirectory === null ? "" : `, cwd=${launch.workingDirectory}`;
    log.error(`Error launching subprocess of job ${name}, cmd=${loggedCommand(argv)}${cwd}: ${message}`);
    log.info(`${subject} spawned`);
    onEvent({ kind: "spawned", pid: null, startedAt });
    const captured = { stdout: retained.stdout?.captured() ?? null, stderr: retained.stderr?.captured() ?? null };
    const reason = failReason({
      exitCode: LAUNCH_FAILED,
      ...captured,
      failsWhen: launch.failsWhen,
      verification: null,
      limits: null,
      limitsRefused,
    });
    finish({ startedAt, exitCode: LAUNCH_FAILED, launchError: message, failReason: reason });
  };

  const start = async (): Promise<void> => {
    const startedAt = clock.wallNow();
    if (stopFirst !== null) {
      log.info(`${subject} was stopped before its command was started`);
      onEvent({ kind: "spawned", pid: null, startedAt });
      finish({ startedAt, exitCode: STOPPED_BEFORE_START, stopped: stopFirst });
      return;
    }
    const deadline =
      launch.executionTimeoutSeconds === null ? null : clock.elapsedNow() + launch.executionTimeoutSeconds * 1000;
    const environment = runEnvironment(parts.baseEnvironment, launch.environment, injectedEnvironment);
    const command = argvOf(job.command, launch.shell);
    const identity = identityPrefix(launch, environment.added.PATH ?? environment.base.PATH);
    if (identity.kind === "impossible") {
      launchFailure(startedAt, identity.why, null, command);
      return;
    }
    const prepared =
      launch.resourceLimits === null ? null : (parts.limits?.prepare(runId, name, launch.resourceLimits) ?? null);
    if (prepared?.kind === "refused") {
      launchFailure(startedAt, `resource limits could not be enforced: ${prepared.why}`, prepared.why, command);
      return;
    }
    const prefix = [...(prepared?.argvPrefix ?? []), ...identity.argv];
    if (prefix.length > 0) {
      // Behind a chain of programs a missing command would look like one that exited with 127 itself.
      const path = environment.added.PATH ?? environment.base.PATH;
      const file = findExecutable(command[0] ?? "", path, launch.workingDirectory);
      if (file === null || (file.includes("/") && !isExecutable(resolve(launch.workingDirectory ?? ".", file)))) {
        prepared?.finish();
        launchFailure(startedAt, `${command[0]} is not an executable file; check the command, and PATH`, null, command);
        return;
      }
    }
    if (log.enabled("debug")) {
      const variables = Object.keys(environment.added).length;
      log.debug(
        `${subject}: starting ${loggedCommand([...prefix, ...command])}, env <${variables} vars, values omitted>`,
      );
    }
    const outcome = await spawner.spawn({
      argv: [...prefix, ...command],
      environment,
      workingDirectory: launch.workingDirectory,
      stdout: launch.captureStdout ? "pipe" : "inherit",
      stderr: launch.captureStderr ? "pipe" : "inherit",
    });
    if (outcome.kind === "failed") {
      prepared?.finish();
      launchFailure(startedAt, outcome.message, null, command);
      return;
    }
    void follow(outcome.child, { startedAt, deadline, environment, cage: prepared, prefix });
  };

  const follow = async (
    child: Child,
    started: {
      readonly startedAt: EpochMs;
      readonly deadline: number | null;
      readonly environment: ReturnType<typeof runEnvironment>;
      readonly cage: Cage | null;
      readonly prefix: readonly string[];
    },
  ): Promise<void> => {
    const { startedAt, deadline, environment, cage, prefix } = started;
    const level = nice[launch.priority];
    const refused = level === null ? null : child.setNice(level);
    if (refused !== null) log.debug(`${subject}: priority ${launch.priority} was refused: ${refused}`);
    if (launch.monitorResources !== null) watch = parts.monitor?.watch(child.pid, launch.monitorResources) ?? null;
    const process = supervise(child, {
      clock,
      log,
      pace,
      subject,
      killTimeoutSeconds: launch.killTimeoutSeconds,
      pipes: capturedPipes(),
      onKill: () => cage?.kill(),
    });
    stopTarget = process;
    log.info(`${subject} spawned`);
    onEvent({ kind: "spawned", pid: child.pid, startedAt });
    const cancelDeadline =
      deadline === null ? null : clock.after(deadline - clock.elapsedNow(), () => timeOut(process));
    const ended = await process.ended;
    cancelDeadline?.();
    await judge(ended, { startedAt, environment, cage, prefix });
  };

  const timeOut = (process: { stop(cause: StopCause): void }): void => {
    log.info(
      `${subject} exceeded its executionTimeout of ${(launch.executionTimeoutSeconds ?? 0).toFixed(1)} seconds, cancelling it...`,
    );
    process.stop("timeout");
  };

  const judge = async (
    ended: Ended,
    {
      startedAt,
      environment,
      cage,
      prefix,
    }: {
      readonly startedAt: EpochMs;
      readonly environment: ReturnType<typeof runEnvironment>;
      readonly cage: Cage | null;
      readonly prefix: readonly string[];
    },
  ): Promise<void> => {
    const exitCode = ended.stopped === "timeout" ? TIMED_OUT : ended.exitCode;
    const captured = { stdout: retained.stdout?.captured() ?? null, stderr: retained.stderr?.captured() ?? null };
    const facts = { exitCode, ...captured, failsWhen: launch.failsWhen, limitsRefused: null };
    let { stopped } = ended;
    let verification: Verification | null = null;
    if (
      launch.verify !== null &&
      stopped === null &&
      failReason({ ...facts, verification: null, limits: null }) === null
    ) {
      const verifying = verify(subject, launch, launch.verify, environment, prefix, live.publish, parts);
      stopTarget = verifying;
      ({ verification, stopped } = await verifying.verified);
    }
    const neverRan = launch.resourceLimits?.required === true && cage !== null && !cage.entered() && stopped === null;
    const limits = cage?.finish() ?? null;
    const resources = (await watch?.end()) ?? null;
    finish({
      startedAt,
      endedAt: ended.endedAt,
      exitCode,
      stopped,
      environment: environmentFacts(environment),
      launchError: neverRan ? COULD_NOT_JOIN : null,
      failReason: failReason({ ...facts, limitsRefused: neverRan ? COULD_NOT_JOIN : null, verification, limits }),
      verification,
      resources,
      limits,
    });
  };

  const capturedPipes = (): CapturedPipe[] =>
    (["stdout", "stderr"] as const).flatMap((stream) => {
      const text: RetainedText | null = retained[stream];
      if (text === null) return [];
      const prefix = streamPrefix(launch.streamPrefix, name, stream);
      return [
        {
          name: stream,
          splitter: lineSplitter(launch.maxLineLengthBytes, () => log.warning(`job ${name}: ignored a very long line`)),
          onLines(block) {
            live.publish(stream, block);
            mirror.write(stream, prefix, block);
            text.add(block);
          },
        },
      ];
    });

  return { live: { stop, output: live.output, resourcesNow: () => watch?.now() ?? null }, start };
}
