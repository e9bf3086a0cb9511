import type { Config, JobConfig } from "../config/model.ts";
import type { CountersSnapshot } from "../contract/counters.ts";
import type { Events } from "../contract/events.ts";
import type { Launcher } from "../contract/launcher.ts";
import type { Logger } from "../contract/log.ts";
import type { Owners } from "../contract/ownership.ts";
import type { JobPause, PauseChannel } from "../contract/pause.ts";
import type { Reporting } from "../contract/report.ts";
import type { RunId } from "../contract/run.ts";
import type { Journal } from "../journal/journal.ts";
import { latestSuccessAt } from "../journal/ledger/latest.rules.ts";
import { movesBetweenNodes } from "../journal/retries/claims.ts";
import type { UnavailablePolicy } from "../journal/unavailable.rules.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import type { ActiveJob, JobLook } from "./active-job.ts";
import { catchUpHost } from "./catch-up-host.ts";
import { createFireLoop } from "./fire-loop.ts";
import { createGates, type SlotKeeper } from "./gates.ts";
import { type JobHistory, jobHistory, type Refusal } from "./history.ts";
import { jobController } from "./job-controller.ts";
import { type CancelAnswer, freshJob, isIdle, isQuiet, type JobState, type StartAnswer } from "./job-state.ts";
import { pauseInForce } from "./pause.rules.ts";
import { performer } from "./perform.ts";
import { createPoolGate } from "./pool-gate.ts";
import type { PoolHost } from "./pool-line.ts";
import type { PoolQueues } from "./pool-queue.ts";
import { createPunctuality } from "./punctuality.ts";
import { type Recall, recallOf } from "./recall.ts";
import { createRecorder } from "./recorder.ts";
import type { SlaView } from "./sla.rules.ts";

export interface SchedulerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly launcher: Launcher;
  readonly reporting: Reporting;
  readonly events: Events;
  readonly owners: Owners;
  /** The cluster slots of jobs with `concurrencyScope: cluster`; null without a store. */
  readonly slots: () => SlotKeeper | null;
  /** The queues of pools; null without a store. */
  readonly pools: () => PoolQueues | null;
  /** The name of this node in the store. */
  readonly node: string;
  /** `onStoreUnavailable` in force. */
  readonly policy: () => UnavailablePolicy;
  /** What has been counted so far, for the journal to keep. */
  readonly counters: () => CountersSnapshot;
  /** 32 hex digits, never the same twice. */
  readonly newRunId: () => RunId;
  /** Called once in each wall-clock minute, before due jobs are served: the reload's look at the files. */
  readonly onMinute: (now: EpochMs) => void;
}

/** When and whether jobs run, on this node. */
export interface Scheduler {
  /** Begins to fire, from the first `apply` on. */
  start(): void;
  /**
   * What is done once, when it is known what there was before this daemon: launches `@reboot` jobs, and looks for slots that were missed
   * since the last one.
   */
  resume(): void;
  /** Takes a configuration, the first or a new one; running instances and pending retries live on (config 10). */
  apply(config: Config): void;
  /** What is recorded from now on goes there; null: nowhere. */
  useJournal(journal: Journal | null): void;
  startJob(name: string, by: string | null): Promise<StartAnswer | { readonly kind: "unknown job" }>;
  /** Resolves when every live run of the job is gone. */
  cancelJob(name: string): Promise<CancelAnswer | { readonly kind: "unknown job" }>;
  /** Holds the job until the pause ends (running 16). False for a name that is not configured. */
  pauseJob(name: string, pause: JobPause): boolean;
  /** Ends a pause at once; without one nothing changes. False for a name that is not configured. */
  resumeJob(name: string, by: string, channel: PauseChannel): boolean;
  /** Another node asks for the job's cluster slot: runs here are replaced (running 7). */
  yieldSlot(name: string): void;
  /** How the job stands with its `sla`; null without one. */
  sla(name: string): SlaView | null;
  /** Stops firing, drops pending retries, and resolves when running jobs and their reports have ended (running 20). */
  stop(): Promise<void>;
  /** Runs that live on this node now. */
  running(): readonly LiveJob[];
  isConfigured(name: string): boolean;
  nextFire(name: string): EpochMs | null;
  neverFires(name: string): boolean;
  history(name: string): JobHistory | null;
  /** All there is of a job that something has happened to; null for one that only waits. Valid until the next turn. */
  look(name: string): JobLook | null;
  /** Where the journal puts what it remembers. */
  readonly recall: Recall;
  /** Where the pools' queues put what comes of the jobs in them. */
  readonly poolHost: PoolHost;
}

export interface LiveJob {
  readonly name: string;
  readonly runId: RunId;
  readonly pid: number | null;
  readonly startedAt: EpochMs | null;
}

export function createScheduler(parts: SchedulerParts): Scheduler {
  const { clock, log, events, owners, newRunId } = parts;
  const active = new Map<string, ActiveJob>();
  const answers = new Map<number, (answer: StartAnswer | CancelAnswer) => void>();
  let config: Config | null = null;
  let jobs = new Map<string, JobConfig>();
  /** From when on the fire loop serves the jobs. */
  let firingSince = 0;
  let stopping = false;
  let nextRequest = 1;
  let drained: (() => void) | null = null;

  const retryMoves = (job: JobConfig): boolean => owners.resumesRetries() && movesBetweenNodes({ config: job });

  const loop = createFireLoop(clock, log, {
    onDue(name, slot) {
      const own = activeJob(name);
      if (own === null) return;
      own.lastSlot = slot;
      const { state } = own.controller;
      const isOurs = state.job !== null && owners.of(state.job).kind === "here";
      if (isOurs && pauseInForce(state.pause, clock.wallNow()) === null)
        punctuality.handle(name, { kind: "due", slot });
      own.controller.handle({ kind: "due", slot, runId: newRunId() });
    },
    onGap(name, { from, until, lateMs }) {
      const job = jobs.get(name);
      if (job === undefined || recorder.gap(job, from, until, lateMs)) return;
      const trigger = { kind: "schedule", slot: from } as const;
      told({ job: name, trigger, slot: from, reason: { kind: "too-late", lateMs }, at: clock.wallNow() });
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
    situation(name) {
      const job = jobs.get(name);
      const isOwner = job !== undefined && owners.of(job).kind === "here";
      return { isOwner, runningSince: startsOf(active.get(name)?.controller.state) };
    },
    lastSuccessAt: (name) => latestSuccessAt(active.get(name)?.history.rows ?? []),
    onLatch: (job, check, late) => events.emit("job.late", { job, check, late, at: clock.wallNow() }),
  });

  const host = catchUpHost({
    owners,
    clock,
    newRunId,
    job: (name) => configured(name),
    active: (name) => activeJob(name),
    existing: (name) => active.get(name) ?? null,
    isIdle: (name) => isIdleHere(name),
    ask: (send) => ask<StartAnswer>(send),
  });
  const recorder = createRecorder({ catchUpHost: host, counters: parts.counters });
  const gates = createGates({ ...parts, journal: () => recorder.journal });

  const refuse = (refusal: Refusal): void => {
    recorder.refused(refusal);
    told(refusal);
  };

  const told = (refusal: Refusal): void => {
    activeJob(refusal.job)?.history.refuse(refusal);
    const { kind } = refusal.reason;
    if ((kind === "forbidden" || kind === "slot-held") && refusal.slot !== null)
      punctuality.handle(refusal.job, { kind: "dropped" });
    events.emit("run.refused", refusal);
  };

  const pool = createPoolGate({
    ...parts,
    queues: parts.pools,
    job: (name) => configured(name),
    active: (name) => activeJob(name),
    existing: (name) => active.get(name) ?? null,
    isRunning: (name) => isLive(name) || survivorOf(name) !== null,
    settled: (own) => settled(own),
  });

  const perform = performer({
    ...parts,
    retryMoves,
    gates,
    pool,
    recorder,
    punctuality,
    refuse,
    answer(request, answer) {
      answers.get(request)?.(answer);
      answers.delete(request);
    },
    settled: (own) => settled(own),
  });

  const survivorOf = (name: string): number | null => recorder.journal?.inFlight.survivor(name)?.pid ?? null;

  const configured = (name: string): JobConfig | null => jobs.get(name) ?? null;

  const isLive = (name: string): boolean => {
    const state = active.get(name)?.controller.state;
    return state !== undefined && (state.runs.size > 0 || state.waiting !== null);
  };

  const isIdleHere = (name: string): boolean => {
    const state = active.get(name)?.controller.state;
    return (state === undefined || isIdle(state)) && survivorOf(name) === null;
  };

  /** The job's controller, made when it is first needed; null for a name that is neither configured nor alive. */
  const activeJob = (name: string): ActiveJob | null => {
    const known = active.get(name);
    if (known !== undefined) return known;
    const job = jobs.get(name);
    if (job === undefined) return null;
    const around = ({ job: current }: JobState) => ({
      now: clock.wallNow(),
      owner: current === null ? null : owners.of(current),
      retryMoves: current !== null && retryMoves(current),
      survivor: survivorOf(name),
    });
    const made: ActiveJob = {
      name,
      controller: jobController(freshJob(job), around, (effect) => perform(made, effect)),
      history: jobHistory(),
      live: new Map(),
      alerts: new Map(),
      leased: new Set(),
      queued: new Map(),
      claims: new Map(),
      lastOutput: null,
      armedRetry: null,
      dropRetryTimer: () => {},
      lastSlot: null,
      awaitingIdle: new Set(),
    };
    active.set(name, made);
    if (stopping) made.controller.handle({ kind: "shutdown" });
    return made;
  };

  /** Lets go of a removed job that has come to rest, of who waited for a job to be idle, and of a shutdown that waited for it. */
  const settled = (own: ActiveJob): void => {
    const { name, awaitingIdle } = own;
    pool.settled(own);
    const { state } = own.controller;
    if (awaitingIdle.size > 0 && isIdleHere(name)) {
      const calls = [...awaitingIdle];
      awaitingIdle.clear();
      for (const call of calls) call();
    }
    if (state.job === null && isQuiet(state)) active.delete(name);
    if (drained !== null && hasDrained(state) && allDrained()) drained();
  };

  const allDrained = (): boolean => [...active.values()].every(({ controller: { state } }) => hasDrained(state));

  const ask = <A extends StartAnswer | CancelAnswer>(send: (request: number) => void): Promise<A> =>
    new Promise((resolve) => {
      const request = nextRequest++;
      answers.set(request, resolve as (answer: StartAnswer | CancelAnswer) => void);
      send(request);
    });

  const apply = (next: Config): void => {
    const now = clock.wallNow();
    if (config === null) firingSince = now; // the very instant the loop counts from: a slot in between would be nobody's
    config = next;
    jobs = new Map(next.jobs.map((job) => [job.name, job]));
    for (const [name, own] of active) {
      own.controller.handle({ kind: "configured", job: jobs.get(name) ?? null });
      settled(own);
    }
    loop.setJobs(next.jobs, now);
    punctuality.setJobs(next.jobs);
  };

  /** Puts a pause in force, or ends it, whoever said so. */
  const setPause = (own: ActiveJob, pause: JobPause | null): void => {
    const { controller, name } = own;
    if (pause !== null) {
      controller.handle({ kind: "paused", pause });
      punctuality.paused(name, pause);
    } else if (controller.state.pause !== null) {
      controller.handle({ kind: "resumed" });
      controller.handle({ kind: "minute", runId: newRunId() }); // a boot run that waited
      punctuality.handle(name, { kind: "resumed", at: clock.wallNow() });
    }
    settled(own);
  };

  return {
    start: loop.start,
    resume() {
      if (stopping) return;
      for (const job of jobs.values()) {
        if (job.timing.kind === "reboot" && job.enabled)
          activeJob(job.name)?.controller.handle({ kind: "boot", runId: newRunId() });
      }
      recorder.beginCatchUp([...jobs.values()], firingSince);
    },
    apply,
    useJournal: recorder.use,
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
      setPause(own, pause);
      recorder.journal?.pauses.paused(name, pause);
      return true;
    },
    resumeJob(name, by, channel) {
      const own = jobs.has(name) ? activeJob(name) : null;
      if (own === null) return false;
      setPause(own, null);
      recorder.journal?.pauses.resumed(name, by, channel);
      return true;
    },
    yieldSlot: (name) => active.get(name)?.controller.handle({ kind: "yield" }),
    sla: punctuality.view,
    async stop() {
      stopping = true;
      loop.stop();
      recorder.stop();
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
    isConfigured: (name) => jobs.has(name),
    nextFire: loop.nextFire,
    neverFires: loop.neverFires,
    history: (name) => active.get(name)?.history ?? null,
    look(name) {
      const own = active.get(name);
      if (own === undefined) return null;
      const { controller, history, live, lastOutput, armedRetry } = own;
      return { state: controller.state, history, live, lastOutput, armedRetry };
    },
    poolHost: pool,
    recall: recallOf({
      config: () => config,
      job: configured,
      owners,
      active: activeJob,
      existing: (name) => active.get(name) ?? null,
      setPause,
      settled,
      punctuality,
    }),
  };
}

function startsOf(state: JobState | undefined): EpochMs[] {
  if (state === undefined) return [];
  return [...state.runs.values()].flatMap((run) => (run.phase === "running" ? [run.startedAt] : []));
}

/** Nothing runs, nothing is left to tell, and no retry is being consumed; one that waited has been dropped by the shutdown. */
function hasDrained(state: JobState): boolean {
  return state.runs.size === 0 && state.completions.length === 0 && state.asking.size === 0;
}
