import type { Config, JobConfig } from "../config/model.ts";
import type { DaemonEvents, Events } from "../contract/events.ts";
import type { Launcher, LiveOutput, LiveRun } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { JobPause } from "../contract/pause.ts";
import type { Reporting } from "../contract/report.ts";
import type { RunId, Trigger } from "../contract/run.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { createFireLoop } from "./fire-loop.ts";
import { type JobHistory, jobHistory } from "./history.ts";
import { type JobController, jobController } from "./job-controller.ts";
import { type CancelAnswer, freshJob, isQuiet, type JobEffect, type JobState, type StartAnswer } from "./job-state.ts";
import { pauseInForce } from "./pause.rules.ts";
import { createPunctuality } from "./punctuality.ts";
import type { SlaView } from "./sla.rules.ts";
import { type AlertStates, tellOfRun } from "./telling.ts";

export interface SchedulerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  /** 32 hex digits, never the same twice. */
  readonly newRunId: () => RunId;
  /** Called once in each wall-clock minute, before due jobs are served: the reload's look at the files. */
  readonly onMinute: (now: EpochMs) => void;
}

/** When and whether jobs run, on this node. */
export interface Scheduler {
  /** Takes the first configuration, launches `@reboot` jobs and begins to fire. */
  start(config: Config): void;
  /** Takes a new configuration; running instances and pending retries live on (config 10). */
  apply(config: Config): void;
  startJob(name: string, by: string | null): Promise<StartAnswer | { readonly kind: "unknown job" }>;
  /** Resolves when every live run of the job is gone. */
  cancelJob(name: string): Promise<CancelAnswer | { readonly kind: "unknown job" }>;
  /** Holds the job until the pause ends (running 16). False for a name that is not configured. */
  pauseJob(name: string, pause: JobPause): boolean;
  /** Ends a pause at once; without one nothing changes. False for a name that is not configured. */
  resumeJob(name: string): boolean;
  /** How the job stands with its `sla`; null without one. */
  sla(name: string): SlaView | null;
  /** Stops firing, drops pending retries, and resolves when running jobs and their reports have ended (running 20). */
  stop(): Promise<void>;
  /** Runs that live on this node now. */
  running(): readonly LiveJob[];
  nextFire(name: string): EpochMs | null;
  neverFires(name: string): boolean;
  history(name: string): JobHistory | null;
  /** All there is of a job that something has happened to; null for one that only waits. Valid until the next turn. */
  look(name: string): JobLook | null;
}

/** What a job is doing and what it did, for whoever shows it. */
export interface JobLook {
  readonly state: JobState;
  readonly history: JobHistory;
  readonly live: ReadonlyMap<RunId, LiveLook>;
  /** Output of the run whose row is the newest; null when that row has none. */
  readonly lastOutput: { readonly runId: RunId; readonly output: LiveOutput } | null;
  /** The retry that was armed last, also while it runs; of a ladder that may have ended since. */
  readonly armedRetry: ArmedRetry | null;
}

export interface ArmedRetry {
  readonly ladderId: number;
  readonly attempt: number;
  readonly dueAt: EpochMs;
  readonly delaySeconds: number;
}

export interface LiveLook {
  readonly run: LiveRun;
  readonly trigger: Trigger;
  readonly spawned: { readonly pid: number | null; readonly startedAt: EpochMs } | null;
}

export interface LiveJob {
  readonly name: string;
  readonly runId: RunId;
  readonly pid: number | null;
  readonly startedAt: EpochMs | null;
}

/** A job that something has happened to. Jobs that only wait have none: they cost their place on the agenda and no more. */
interface Active {
  readonly controller: JobController;
  readonly history: JobHistory;
  readonly live: Map<RunId, LiveLook>;
  readonly alerts: AlertStates;
  lastOutput: JobLook["lastOutput"];
  armedRetry: ArmedRetry | null;
  dropRetryTimer: () => void;
  /** The slot that fired last. */
  lastSlot: EpochMs | null;
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const { clock, log, launcher, events, newRunId } = parts;
  const active = new Map<string, Active>();
  const answers = new Map<number, (answer: StartAnswer | CancelAnswer) => void>();
  let jobs = new Map<string, JobConfig>();
  let nextRequest = 1;
  let drained: (() => void) | null = null;

  const loop = createFireLoop(clock, log, {
    onDue(name, slot) {
      const own = activeJob(name);
      if (own === null) return;
      own.lastSlot = slot;
      if (pauseInForce(own.controller.state.pause, clock.wallNow()) === null)
        punctuality.handle(name, { kind: "due", slot });
      own.controller.handle({ kind: "due", slot, runId: newRunId() });
    },
    onGap(name, gap) {
      const trigger = { kind: "schedule", slot: gap.from } as const;
      const reason = { kind: "too-late", lateMs: gap.lateMs } as const;
      refuse({ job: name, trigger, slot: gap.from, reason, at: clock.wallNow() });
    },
    onMinute(now) {
      for (const { controller } of active.values()) {
        if (controller.state.pause !== null || controller.state.bootPending)
          controller.handle({ kind: "minute", runId: newRunId() });
      }
      punctuality.evaluate(now);
      parts.onMinute(now);
    },
  });

  const punctuality = createPunctuality({
    ...parts,
    situation: (name) => ({ isOwner: true, runningSince: startsOf(active.get(name)?.controller.state) }),
    onLatch: (job, check, late) => events.emit("job.late", { job, check, late, at: clock.wallNow() }),
  });

  const refuse = (refusal: DaemonEvents["run.refused"]): void => {
    activeJob(refusal.job)?.history.refuse(refusal);
    if (refusal.reason.kind === "forbidden" && refusal.slot !== null)
      punctuality.handle(refusal.job, { kind: "dropped" });
    events.emit("run.refused", refusal);
  };

  /** The job's controller, made when it is first needed; null for a name that is neither configured nor alive. */
  const activeJob = (name: string): Active | null => {
    const known = active.get(name);
    if (known !== undefined) return known;
    const job = jobs.get(name);
    if (job === undefined) return null;
    const made: Active = {
      controller: jobController(freshJob(job), clock, (effect) => perform(name, made, effect)),
      history: jobHistory(),
      live: new Map(),
      alerts: new Map(),
      lastOutput: null,
      armedRetry: null,
      dropRetryTimer: () => {},
      lastSlot: null,
    };
    active.set(name, made);
    return made;
  };

  const perform = (name: string, own: Active, effect: JobEffect): void => {
    const { controller, history, live } = own;
    const at = clock.wallNow();
    switch (effect.kind) {
      case "log":
        log[effect.level](effect.message);
        return;
      case "launch": {
        const { runId, job, trigger } = effect.start;
        const run = launcher.launch(
          { runId, job, attempt: effect.attempt, scheduledAt: own.lastSlot, injectedEnvironment: {} },
          (event) => {
            if (event.kind === "spawned") {
              const { pid, startedAt } = event;
              live.set(runId, { run, trigger, spawned: { pid, startedAt } });
              events.emit("run.spawned", { job, runId, pid, startedAt });
            }
            controller.handle({ ...event, runId });
            if (event.kind === "finished") live.delete(runId);
            settleIfQuiet(name, own);
          },
        );
        live.set(runId, { run, trigger, spawned: null });
        events.emit("run.launched", { job, runId, trigger, run });
        return;
      }
      case "stop":
        live.get(effect.runId)?.run.stop(effect.cause);
        return;
      case "arm retry": {
        const { ladderId, attempt, dueAt } = effect;
        const delaySeconds = controller.state.ladder?.wait?.delaySeconds ?? (dueAt - at) / 1000;
        own.armedRetry = { ladderId, attempt, dueAt, delaySeconds };
        events.emit("retry.armed", { job: name, attempt, dueAt, at });
        own.dropRetryTimer();
        if (controller.state.stopping) return; // F-32
        own.dropRetryTimer = clock.after(dueAt - at, () => {
          controller.handle({ kind: "retry due", ladderId, runId: newRunId() });
          settleIfQuiet(name, own);
        });
        return;
      }
      case "drop retry timer":
        own.dropRetryTimer();
        return;
      case "settle retry":
        events.emit("retry.settled", { job: name, attempt: effect.attempt, reason: effect.reason, at });
        return;
      case "refuse":
        refuse({ job: name, trigger: effect.trigger, slot: effect.slot, reason: effect.reason, at });
        return;
      case "record": {
        if (effect.row !== null) {
          history.add(effect.row);
          const ended = live.get(effect.run.runId);
          own.lastOutput = ended === undefined ? null : { runId: effect.run.runId, output: ended.run.output };
        }
        if (effect.row?.kind === "ran" && effect.row.outcome === "success") {
          punctuality.handle(name, { kind: "succeeded", at: effect.row.finishedAt });
        }
        const { job, runId, trigger } = effect.run;
        events.emit("run.finished", { job, runId, trigger, result: effect.result, row: effect.row });
        return;
      }
      case "record skip":
        history.add(effect.row);
        own.lastOutput = null;
        return;
      case "permanent failure":
        events.emit("failure.permanent", { job: effect.run.job, runId: effect.run.runId, at });
        return;
      case "report":
        report(name, own, effect);
        return;
      case "answer start":
      case "answer cancel":
        answers.get(effect.request)?.(effect.answer);
        answers.delete(effect.request);
        return;
    }
  };

  const report = (name: string, own: Active, effect: Extract<JobEffect, { kind: "report" }>): void => {
    const done = (): void => {
      own.controller.handle({ kind: "reported", runId: effect.run.runId });
      settleIfQuiet(name, own);
    };
    const telling = tellOfRun(effect, own.alerts, parts);
    if (telling === null) done();
    else void telling.then(done);
  };

  /** Lets go of a removed job that has come to rest, and of a shutdown that waited for it. */
  const settleIfQuiet = (name: string, { controller: { state } }: Active): void => {
    if (!isQuiet(state)) return;
    if (state.job === null) active.delete(name);
    if (drained !== null && allDrained()) drained();
  };

  const allDrained = (): boolean => [...active.values()].every(({ controller: { state } }) => hasDrained(state));

  const ask = <A extends StartAnswer | CancelAnswer>(send: (request: number) => void): Promise<A> =>
    new Promise((resolve) => {
      const request = nextRequest++;
      answers.set(request, resolve as (answer: StartAnswer | CancelAnswer) => void);
      send(request);
    });

  const apply = (config: Config): void => {
    jobs = new Map(config.jobs.map((job) => [job.name, job]));
    for (const [name, own] of active) {
      own.controller.handle({ kind: "configured", job: jobs.get(name) ?? null });
      settleIfQuiet(name, own);
    }
    loop.setJobs(config.jobs);
    punctuality.setJobs(config.jobs);
  };

  return {
    start(config) {
      apply(config);
      for (const job of config.jobs) {
        if (job.timing.kind === "reboot" && job.enabled)
          activeJob(job.name)?.controller.handle({ kind: "boot", runId: newRunId() });
      }
      loop.start();
    },
    apply,
    async startJob(name, by) {
      const own = jobs.has(name) ? activeJob(name) : null;
      if (own === null) return { kind: "unknown job" };
      return ask<StartAnswer>((request) => own.controller.handle({ kind: "start", request, by, runId: newRunId() }));
    },
    async cancelJob(name) {
      const own = active.get(name);
      if (own === undefined) return jobs.has(name) ? { kind: "not running" } : { kind: "unknown job" };
      return ask<CancelAnswer>((request) => own.controller.handle({ kind: "cancel", request }));
    },
    pauseJob(name, pause) {
      const own = jobs.has(name) ? activeJob(name) : null;
      if (own === null) return false;
      own.controller.handle({ kind: "paused", pause });
      punctuality.paused(name, pause);
      return true;
    },
    resumeJob(name) {
      const own = jobs.has(name) ? activeJob(name) : null;
      if (own === null) return false;
      own.controller.handle({ kind: "resumed" });
      own.controller.handle({ kind: "minute", runId: newRunId() }); // a boot run that waited
      punctuality.handle(name, { kind: "resumed", at: clock.wallNow() });
      return true;
    },
    sla: punctuality.view,
    async stop() {
      loop.stop();
      for (const { controller } of active.values()) controller.handle({ kind: "shutdown" });
      if (allDrained()) return;
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    },
    running() {
      return [...active].flatMap(([name, { live }]) =>
        [...live].map(([runId, { spawned }]) => ({
          name,
          runId,
          pid: spawned?.pid ?? null,
          startedAt: spawned?.startedAt ?? null,
        })),
      );
    },
    nextFire: loop.nextFire,
    neverFires: loop.neverFires,
    history: (name) => active.get(name)?.history ?? null,
    look(name) {
      const own = active.get(name);
      if (own === undefined) return null;
      const { controller, history, live, lastOutput, armedRetry } = own;
      return { state: controller.state, history, live, lastOutput, armedRetry };
    },
  };
}

function startsOf(state: JobState | undefined): EpochMs[] {
  if (state === undefined) return [];
  return [...state.runs.values()].flatMap((run) => (run.phase === "running" ? [run.startedAt] : []));
}

/** Nothing runs and nothing is left to tell; a retry that waited has been dropped by the shutdown. */
function hasDrained(state: JobState): boolean {
  return state.runs.size === 0 && state.completions.length === 0;
}
