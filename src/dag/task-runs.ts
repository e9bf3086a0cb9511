import type { DagTaskConfig, JobConfig } from "../config/model.ts";
import type { Events, TaskOutcome } from "../contract/events.ts";
import type { Launcher, LaunchRequest, LiveOutput, LiveRun } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { Reporting } from "../contract/report.ts";
import type { RunId, RunResult } from "../contract/run.ts";
import { dagTaskEnvironment } from "../jobapi/run-environment.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { type Claim, claimKey } from "./claim.rules.ts";
import type { HandOuts } from "./hand-outs.ts";
import { SENSOR_TIMED_OUT } from "./instance.rules.ts";
import type { RunDocument } from "./run-document.ts";
import { advanceLease, xcomScope } from "./run-key.rules.ts";
import type { RunRef } from "./run-store.ts";
import { taskFacts } from "./task-facts.rules.ts";

/** A claim and whose it is. */
export interface LaunchedClaim {
  readonly run: RunRef;
  readonly runId: string;
  readonly task: DagTaskConfig;
  readonly claim: Claim;
}

/** A task that lives on this node, for whoever waits for it. */
export interface LiveTask {
  /** `<dag>.<task>` */
  readonly name: string;
  readonly runId: RunId;
  readonly pid: number | null;
  readonly startedAt: EpochMs | null;
}

/**
 * The commands of tasks: each claim is one run of the launcher that jobs use too (6.6).
 *   T1. A claim stands in the record of hand-outs before its command is asked for (D-CLM-2).
 *   T2. A run that was cancelled before its command had begun leaves the record: the next pass claims it anew, no attempt is used
 *       (D-CLM-4). Its death is certain by then (D-CLM-5).
 *   T3. Every other end is handed over before anybody is told of it.
 */
export interface TaskRuns {
  launch(run: RunDocument, task: DagTaskConfig, claim: Claim): void;
  /** Cancels what has no process yet: the store it was claimed in is gone, or the daemon stops. */
  cancelUnstarted(): void;
  /** Stops what runs for a claim, as cancelled; or never starts it (T2). */
  cancel(run: RunRef, runId: string, claim: Claim): void;
  /** Whether other instances of the same fan-out run, or wait to be started. */
  runsOthersLike(launched: LaunchedClaim): boolean;
  /** No reporter fires any more (D-STP-3). */
  silence(): void;
  output(run: RunRef, taskKey: string): LiveOutput | null;
  running(): readonly LiveTask[];
  /** Tells of a sensor that has given up; what its last poke left is told with it (D-SEN-6). */
  sensorTimedOut(run: RunRef, runId: string, task: DagTaskConfig, taskKey: string): void;
  /** Resolves when no task lives and no reporter is under way. */
  idle(): Promise<void>;
}

export interface TaskRunsParts {
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Logger;
  readonly handOuts: HandOuts;
  /** 32 hex digits, never the same twice. */
  readonly newRunId: () => RunId;
  readonly onSpawned: (launched: LaunchedClaim, pid: number) => void;
  readonly onEnded: (launched: LaunchedClaim, end: TaskEnd) => void;
  /** Nothing of the claim has run. */
  readonly onReleased: (launched: LaunchedClaim) => void;
}

/** How a launched claim ended: as the launcher says, or it could not be launched at all. */
export type TaskEnd = { readonly kind: "ran"; readonly result: RunResult } | { readonly kind: "launch failed" };

interface Live {
  readonly launched: LaunchedClaim;
  readonly job: JobConfig;
  readonly runId: RunId;
  run: LiveRun | null;
  spawned: { readonly pid: number | null; readonly startedAt: EpochMs } | null;
  /** Cancelled by us before it was spawned. */
  cancelled: boolean;
}

export function createTaskRuns(parts: TaskRunsParts): TaskRuns {
  const { launcher, reporting, events, clock, log, handOuts } = parts;
  const live = new Map<string, Set<Live>>();
  /** Newest poke of each sensor that goes on. */
  const lastPokes = new Map<string, RunResult>();
  const telling = new Set<Promise<void>>();
  let silent = false;
  let onIdle: (() => void)[] = [];

  const instanceName = ({ dag, runKey }: RunRef, taskKey: string): string => `${advanceLease(dag, runKey)}/${taskKey}`;

  const settleIfIdle = (): void => {
    if (live.size > 0 || telling.size > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  };

  const cancel = (own: Live): void => {
    if (own.cancelled) return;
    own.cancelled = own.spawned === null;
    own.run?.stop("cancelled");
  };

  const leave = (name: string, own: Live): void => {
    const others = live.get(name);
    others?.delete(own);
    if (others?.size === 0) live.delete(name);
  };

  const ended = (name: string, own: Live, result: RunResult): void => {
    leave(name, own);
    const { run, runId: dagRunId, claim } = own.launched;
    if (own.cancelled && result.stopped === "cancelled") {
      handOuts.remove(run, dagRunId, claim);
      parts.onReleased(own.launched); // T2
    } else {
      parts.onEnded(own.launched, { kind: "ran", result }); // T3
      say(name, own, result);
    }
    settleIfIdle();
  };

  const say = (name: string, { launched, job, runId }: Live, result: RunResult): void => {
    const { run, task, runId: dagRunId } = launched;
    const outcome = outcomeOf(task, result);
    log.info(
      `Job ${job.name} exit code ${result.exitCode}${outcome === "failed" ? `; fail_reason: ${result.failReason}` : ""}`,
      { dag: run.dag, runKey: run.runKey, taskKey: launched.claim.taskKey },
    );
    events.emit("dag.task.ended", { dag: run.dag, task: task.id, job, runId, outcome, result, at: clock.wallNow() });
    if (outcome === "not met") {
      lastPokes.set(name, result); // nobody is told of it (D-SEN-6)
      return;
    }
    lastPokes.delete(name);
    if (result.stopped === null || result.stopped === "timeout")
      tell(job, outcome === "success" ? "onSuccess" : "onFailure", dagRunId, result);
  };

  const tell = (job: JobConfig, hook: "onSuccess" | "onFailure", dagRunId: string, result: RunResult): void => {
    const block = job.reports[hook];
    if (silent || !reporting.wouldAct(block)) return;
    log.info(`Cron job ${job.name}: reporting ${hook === "onSuccess" ? "success" : "failure"}`);
    const told = reporting.report(block, { kind: "run", hook, job, runId: dagRunId, result, note: null });
    telling.add(told);
    void told.then(() => {
      telling.delete(told);
      settleIfIdle();
    });
  };

  return {
    launch(document, task, claim) {
      const { job } = task;
      if (job === null) throw new Error(`dag ${document.dag}: task ${task.id} has no command to launch`);
      const { dag, runKey, runId: dagRunId } = document;
      const launched: LaunchedClaim = { run: { dag, runKey }, runId: dagRunId, task, claim };
      handOuts.add(launched.run, dagRunId, claim); // T1
      const name = instanceName(launched.run, claim.taskKey);
      const runId = parts.newRunId();
      const own: Live = { launched, job, runId, run: null, spawned: null, cancelled: false };
      live.set(name, (live.get(name) ?? new Set()).add(own));
      try {
        own.run = launcher.launch(requestOf(document, own), (event) => {
          if (event.kind === "finished") return ended(name, own, event.result);
          const { pid, startedAt } = event;
          own.spawned = { pid, startedAt };
          events.emit("dag.task.spawned", { job, runId, pid, startedAt });
          if (pid !== null) parts.onSpawned(launched, pid);
        });
      } catch (error) {
        // One launch's trouble is its own (D-INT-11).
        log.error(`Job ${job.name} could not be launched: ${error instanceof Error ? error.message : String(error)}`);
        leave(name, own);
        parts.onEnded(launched, { kind: "launch failed" });
        settleIfIdle();
      }
    },
    cancelUnstarted() {
      for (const own of [...live.values()].flatMap((those) => [...those])) if (own.spawned === null) cancel(own);
    },
    cancel(run, runId, claim) {
      for (const own of [...(live.get(instanceName(run, claim.taskKey)) ?? [])]) {
        const { launched } = own;
        if (launched.runId === runId && claimKey(launched.claim) === claimKey(claim)) cancel(own);
      }
    },
    runsOthersLike({ runId, claim: { taskId, taskKey } }) {
      for (const those of live.values())
        for (const { launched } of those)
          if (launched.runId === runId && launched.claim.taskId === taskId && launched.claim.taskKey !== taskKey)
            return true;
      return false;
    },
    silence() {
      silent = true;
    },
    output(run, taskKey) {
      const newest = [...(live.get(instanceName(run, taskKey)) ?? [])].at(-1);
      return newest?.run?.output ?? null;
    },
    running() {
      return [...live.values()].flatMap((those) =>
        [...those].map(({ job, runId, spawned }) => ({
          name: job.name,
          runId,
          pid: spawned?.pid ?? null,
          startedAt: spawned?.startedAt ?? null,
        })),
      );
    },
    sensorTimedOut(run, dagRunId, { job }, taskKey) {
      const name = instanceName(run, taskKey);
      const last = lastPokes.get(name);
      lastPokes.delete(name);
      if (job !== null)
        tell(job, "onFailure", dagRunId, { ...(last ?? neverPoked(clock.wallNow())), failReason: SENSOR_TIMED_OUT });
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle.push(resolve);
        settleIfIdle();
      }),
  };
}

function requestOf(document: RunDocument, { launched, job, runId }: Live): LaunchRequest {
  const { claim } = launched;
  return {
    runId,
    job,
    attempt: claim.attempt,
    scheduledAt: null,
    injectedEnvironment: dagTaskEnvironment(taskFacts(document, claim)),
    stateScope: xcomScope(document.dag, document.runId),
  };
}

/** How an attempt counts; of a poke the exit code alone does (D-SEN-5). */
function outcomeOf({ type }: DagTaskConfig, { exitCode, failReason }: RunResult): TaskOutcome {
  if (type === "sensor") return exitCode === 0 ? "success" : "not met";
  return failReason === null ? "success" : "failed";
}

/** What is told of a sensor whose last poke another process made. */
function neverPoked(at: EpochMs): RunResult {
  return {
    startedAt: at,
    endedAt: at,
    finishedAt: at,
    exitCode: 1,
    launchError: null,
    stopped: null,
    stdout: null,
    stderr: null,
    environment: null,
    failReason: null,
    verification: null,
    resources: null,
    limits: null,
  };
}
