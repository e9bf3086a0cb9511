import type { LaunchRequest, LiveRun, RunEvent } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { RunResult, StopCause } from "../contract/run.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { Child, Spawner } from "../platform/spawn/spawner.ts";
import { lineSplitter } from "./capture/line-splitter.ts";
import { liveOutput } from "./capture/live-output.ts";
import type { Mirror } from "./capture/mirror.ts";
import type { Pace } from "./capture/pace.ts";
import { retainedText } from "./capture/retained-text.ts";
import { streamPrefix } from "./capture/stream-prefix.ts";
import { loggedCommand } from "./command.ts";
import type { LimitsEnforcer, ResourceMonitor, ResourceWatch } from "./companions.ts";
import { environmentFacts, type Variables } from "./environment.ts";
import { applyPriority } from "./priority.ts";
import { planStart, type StartPlan } from "./start-plan.ts";
import { type CapturedPipe, type Ended, supervise } from "./supervised-process.ts";
import { failReason, type VerdictFacts } from "./verdict.rules.ts";
import { type Verified, verify } from "./verify.ts";

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

type Plan = Extract<StartPlan, { kind: "plan" }>;

/**
 * One run of one command, from its place in the queue to its verdict (running 1 to 5).
 *
 *   N1. A stop is never lost: where no process is there to take it, it is remembered, and looked at before each next step.
 *   N2. "spawned" and "finished" are told once each and in this order.
 */
export function queuedRun(request: LaunchRequest, parts: RunParts, onEvent: (event: RunEvent) => void): QueuedRun {
  const { clock, log, spawner, mirror, pace } = parts;
  const { launch, name } = request.job;
  const subject = `Job ${name}`;
  const live = liveOutput(clock);
  const retained = {
    stdout: launch.captureStdout ? retainedText(launch.saveLimitLines) : null,
    stderr: launch.captureStderr ? retainedText(launch.saveLimitLines) : null,
  };
  /** The process that a stop reaches now. */
  let stopTarget: { stop(cause: StopCause): void } | null = null;
  let stopFirst: StopCause | null = null;
  let watch: ResourceWatch | null = null;

  const stop = (cause: StopCause): void => {
    stopFirst ??= cause;
    stopTarget?.stop(cause);
  };

  const start = async (): Promise<void> => {
    const startedAt = clock.wallNow();
    if (stopFirst !== null) {
      log.info(`${subject} was stopped before its command was started`);
      onEvent({ kind: "spawned", pid: null, startedAt });
      finish({ startedAt, exitCode: STOPPED_BEFORE_START, stopped: stopFirst });
      return;
    }
    const startedElapsed = clock.elapsedNow();
    const plan = planStart(request, parts.baseEnvironment, parts.limits);
    if (plan.kind === "impossible") return launchFailed(startedAt, plan);
    const { command, prefix, environment, cage } = plan;
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
      cage?.finish();
      return launchFailed(startedAt, { command, why: outcome.message, limitsRefused: null });
    }
    void follow(outcome.child, plan, startedAt, startedElapsed);
  };

  const launchFailed = (
    startedAt: EpochMs,
    { command, why, limitsRefused }: Omit<Extract<StartPlan, { kind: "impossible" }>, "kind">,
  ): void => {
    const cwd = launch.workingDirectory === null ? "" : `, cwd=${launch.workingDirectory}`;
    log.error(`Error launching subprocess of job ${name}, cmd=${loggedCommand(command)}${cwd}: ${why}`);
    log.info(`${subject} spawned`);
    onEvent({ kind: "spawned", pid: null, startedAt });
    const reason = failReason(facts(LAUNCH_FAILED, { limitsRefused }));
    finish({ startedAt, exitCode: LAUNCH_FAILED, launchError: why, failReason: reason });
  };

  const follow = async (child: Child, plan: Plan, startedAt: EpochMs, startedElapsed: number): Promise<void> => {
    applyPriority(child, launch.priority, subject, log);
    if (launch.monitorResources !== null) watch = parts.monitor?.watch(child.pid, launch.monitorResources) ?? null;
    const supervised = supervise(child, {
      clock,
      log,
      pace,
      subject,
      killTimeoutSeconds: launch.killTimeoutSeconds,
      pipes: capturedPipes(),
      onKill: () => plan.cage?.kill(),
    });
    stopTarget = supervised;
    log.info(`${subject} spawned`);
    onEvent({ kind: "spawned", pid: child.pid, startedAt });
    if (stopFirst !== null) supervised.stop(stopFirst); // N1
    const cancelDeadline = armDeadline(startedElapsed);
    const ended = await supervised.ended;
    cancelDeadline();
    await judge(ended, plan, startedAt);
  };

  const armDeadline = (startedElapsed: number): (() => void) => {
    const seconds = launch.executionTimeoutSeconds;
    if (seconds === null) return () => {};
    return clock.after(startedElapsed + seconds * 1000 - clock.elapsedNow(), () => {
      if (stopFirst !== null) return; // it is on its way out
      log.info(`${subject} exceeded its executionTimeout of ${seconds.toFixed(1)} seconds, cancelling it...`);
      stop("timeout");
    });
  };

  const judge = async (ended: Ended, plan: Plan, startedAt: EpochMs): Promise<void> => {
    const { environment, cage } = plan;
    const exitCode = ended.stopped === "timeout" ? TIMED_OUT : ended.exitCode;
    const stoppedMeanwhile = ended.stopped ?? stopFirst; // N1
    const { verification, stopped } =
      stoppedMeanwhile === null && failReason(facts(exitCode)) === null
        ? await verified(plan)
        : { verification: null, stopped: stoppedMeanwhile };
    const neverRan = launch.resourceLimits?.required === true && cage !== null && !cage.entered() && stopped === null;
    const limits = cage?.finish() ?? null;
    const resources = (await watch?.end()) ?? null;
    const limitsRefused = neverRan ? COULD_NOT_JOIN : null;
    finish({
      startedAt,
      endedAt: ended.endedAt,
      exitCode,
      stopped,
      environment: environmentFacts(environment),
      launchError: limitsRefused,
      failReason: failReason(facts(exitCode, { limitsRefused, verification, limits })),
      verification,
      resources,
      limits,
    });
  };

  const verified = async (plan: Plan): Promise<Verified | { verification: null; stopped: null }> => {
    if (launch.verify === null) return { verification: null, stopped: null };
    const verifying = verify(subject, launch, launch.verify, plan, live.publish, parts);
    stopTarget = verifying;
    return await verifying.verified;
  };

  const capturedPipes = (): CapturedPipe[] =>
    (["stdout", "stderr"] as const).flatMap((stream) => {
      const text = retained[stream];
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

  const captured = () => ({
    stdout: retained.stdout?.captured() ?? null,
    stderr: retained.stderr?.captured() ?? null,
  });

  const facts = (exitCode: number, more: Partial<VerdictFacts> = {}): VerdictFacts => ({
    exitCode,
    ...captured(),
    failsWhen: launch.failsWhen,
    verification: null,
    limits: null,
    limitsRefused: null,
    ...more,
  });

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
        ...captured(),
        environment: null,
        failReason: null,
        verification: null,
        resources: null,
        limits: null,
        ...result,
      },
    });
  };

  return { live: { stop, output: live.output, resourcesNow: () => watch?.now() ?? null }, start };
}
