import type { Config, JobConfig, PoolConfig } from "../../src/config/model.ts";
import type { Launcher, LiveRun, RunEvent } from "../../src/contract/launcher.ts";
import type { Logger } from "../../src/contract/log.ts";
import { standalone } from "../../src/contract/ownership.ts";
import type { Hook, ReportFacts, Reporting } from "../../src/contract/report.ts";
import type { RunResult, StopCause } from "../../src/contract/run.ts";
import { createEvents } from "../../src/daemon/event-bus.ts";
import { type SimulatedClock, simulatedClock } from "../../src/platform/simulated-clock.ts";
import { createPoolQueues, type PoolQueues } from "../../src/scheduler/pool-queue.ts";
import { createScheduler, type Scheduler, type SchedulerParts } from "../../src/scheduler/scheduler.ts";
import type { MemoryMedium } from "../../src/store/memory/medium.ts";
import { openMemoryStore } from "../../src/store/memory/open.ts";

/** How a simulated command behaves, from one run to the next. */
export type Behaviour = (run: number) => {
  readonly exitCode: number;
  readonly seconds: number;
  /** Seconds it takes to die of a stop; 0 = at once. */
  readonly diesIn?: number;
};

/** Exits at once with the given codes, one per run, the last one for ever. */
export const exits =
  (...codes: readonly number[]): Behaviour =>
  (run) => ({ exitCode: codes[Math.min(run, codes.length - 1)] ?? 0, seconds: 0 });

/** Runs for the given seconds, then exits. */
export const lasts =
  (seconds: number, exitCode = 0, diesIn = 0): Behaviour =>
  () => ({ exitCode, seconds, diesIn });

export interface TestNode {
  readonly clock: SimulatedClock;
  readonly scheduler: Scheduler;
  /** One line per thing that happened: `HH:MM:SS job what details`. */
  transcript(): string;
  /** Starts of a job's runs, as epoch ms. */
  starts(job: string): readonly number[];
  /** Lines logged so far, `LEVEL message`. */
  readonly log: readonly string[];
  /** Lets time pass up to `HH:MM[:SS]` of the start's day, or an ISO instant. */
  until(time: string): Promise<void>;
  apply(jobs: readonly JobConfig[]): void;
}

/**
 * The scheduler as the daemon runs it, on virtual time, with commands that only pretend. A job's `command` picks its behaviour;
 * reports take `reportSeconds` and are written down.
 */
export function startNode(options: {
  readonly at: string;
  readonly jobs: readonly JobConfig[];
  readonly commands?: Readonly<Record<string, Behaviour>>;
  readonly reportSeconds?: number;
  readonly onMinute?: () => void;
  /** With a store of that content, the pools' queues in it; several nodes may share one. */
  readonly pools?: { readonly configs: readonly PoolConfig[]; readonly medium: MemoryMedium };
  readonly node?: string;
  readonly clock?: SimulatedClock;
}): TestNode {
  const clock = options.clock ?? simulatedClock(Date.parse(options.at));
  const lines: string[] = [];
  const logged: string[] = [];
  const started = new Map<string, number[]>();
  const runsOf = new Map<string, number>();
  let nextId = 0;

  const note = (job: string, what: string, details = ""): void => {
    const time = new Date(clock.wallNow()).toISOString().slice(11, 19);
    lines.push(`${time}  ${job.padEnd(8)}  ${what.padEnd(9)}  ${details}`.trimEnd());
  };
  const log = writtenLog(logged);

  const launcher: Launcher = {
    launch: ({ job }, onEvent) => simulatedRun(clock, job, behaviourOf(job), onEvent),
  };
  const behaviourOf = (job: JobConfig): ReturnType<Behaviour> => {
    const command = String(job.command);
    const run = runsOf.get(job.name) ?? 0;
    runsOf.set(job.name, run + 1);
    return (options.commands?.[command] ?? exits(0))(run);
  };

  const reporting: Reporting = {
    wouldAct: () => true,
    report(_block, facts: ReportFacts) {
      if (facts.kind === "run" && tells.has(facts.hook)) note(facts.job.name, "report", facts.hook);
      return new Promise((resolve) => clock.after((options.reportSeconds ?? 0) * 1000, resolve));
    },
  };

  const events = createEvents(log);
  events.on("run.spawned", ({ job }) => {
    started.set(job.name, [...(started.get(job.name) ?? []), clock.wallNow()]);
  });
  events.on("run.launched", ({ job, trigger }) => {
    note(job.name, "start", trigger.kind === "retry" ? `retry ${trigger.attempt}` : trigger.kind);
  });
  events.on("run.finished", ({ job, row }) => {
    if (row === null) note(job.name, "replaced");
    else if (row.kind === "ran") note(job.name, row.outcome, row.failReason ?? "");
  });
  events.on("run.refused", ({ job, trigger, reason }) => note(job, "refused", `${trigger.kind}: ${reason.kind}`));
  events.on("retry.armed", ({ job, attempt, dueAt, at }) =>
    note(job, "retry", `#${attempt} in ${(dueAt - at) / 1000}s`),
  );
  events.on("retry.settled", ({ job, attempt, reason }) => note(job, "settled", `retry ${attempt}: ${reason}`));
  events.on("failure.permanent", ({ job }) => note(job.name, "permanent"));

  const node = options.node ?? "node-a";
  let pools: PoolQueues | null = null;
  const scheduler = createScheduler({
    clock,
    log,
    launcher,
    reporting,
    events,
    ...alone,
    node,
    pools: () => pools,
    newRunId: () => String(nextId++).padStart(32, "0"),
    onMinute: () => options.onMinute?.(),
  });
  if (options.pools !== undefined) {
    const store = openMemoryStore({ medium: options.pools.medium, clock, writer: writerOf(node) });
    const parts = { self: { host: node, proc: writerOf(node) }, backend: () => store, host: scheduler.poolHost };
    pools = createPoolQueues({ ...parts, locks: { distrust: async () => null }, clock, log });
    pools.configure(new Map(options.pools.configs.map((pool) => [pool.name, pool])));
  }
  scheduler.apply(configOf(options.jobs));
  scheduler.start();
  scheduler.resume();

  return {
    clock,
    scheduler,
    log: logged,
    transcript: () => lines.join("\n"),
    starts: (job) => started.get(job) ?? [],
    until(time) {
      const day = new Date(clock.wallNow()).toISOString().slice(0, 11);
      return clock.runUntilSettled(
        Date.parse(time.includes("T") ? time : `${day}${time.length === 5 ? `${time}:00` : time}Z`),
      );
    },
    apply: (jobs) => scheduler.apply(configOf(jobs)),
  };
}

/** What a scheduler has of others when it is alone and has no store. */
export const alone: Pick<SchedulerParts, "owners" | "slots" | "pools" | "node" | "policy" | "counters"> = {
  owners: standalone,
  slots: () => null,
  pools: () => null,
  node: "node-a",
  policy: () => "degrade",
  counters: () => ({ bounds: [], jobs: new Map() }),
};

/** 12 hex digits of a node's own. */
function writerOf(node: string): string {
  return Buffer.from(node).toString("hex").slice(-12).padStart(12, "0");
}

/** Hooks worth a transcript line of their own; the outcome line already says the rest. */
const tells: ReadonlySet<Hook> = new Set<Hook>(["onFailure", "onPermanentFailure", "onSuccess"]);

/** A configuration of these jobs and nothing else. */
export function configOf(jobs: readonly JobConfig[]): Config {
  return {
    jobs,
    dags: [],
    pools: new Map(),
    web: null,
    mcp: null,
    state: null,
    cluster: null,
    notify: null,
    push: null,
    logging: null,
    warnings: [],
    files: [],
    directory: null,
    signature: "",
  };
}

/** A logger that keeps what it is told. */
export function writtenLog(lines: string[]): Logger {
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  return {
    debug: write("DEBUG"),
    info: write("INFO"),
    warning: write("WARNING"),
    error: write("ERROR"),
    critical: write("CRITICAL"),
    enabled: () => true,
  };
}

function simulatedRun(
  clock: SimulatedClock,
  job: JobConfig,
  { exitCode, seconds, diesIn = 0 }: ReturnType<Behaviour>,
  onEvent: (event: RunEvent) => void,
): LiveRun {
  const startedAt = clock.wallNow();
  let stopped: StopCause | null = null;
  const finish = (code: number): void => {
    const failed = job.launch.failsWhen.nonzeroReturn && code !== 0;
    onEvent({ kind: "finished", result: plainResult(startedAt, clock.wallNow(), code, stopped, failed) });
  };
  clock.after(0, () => onEvent({ kind: "spawned", pid: 1, startedAt }));
  let cancel = clock.after(seconds * 1000, () => finish(exitCode));
  return {
    stop(cause) {
      if (stopped !== null) return;
      stopped = cause;
      cancel();
      cancel = clock.after(diesIn * 1000, () => finish(-15));
    },
    output: { recent: () => [], published: 0, subscribe: () => () => {} },
    resourcesNow: () => null,
  };
}

/** A run with this exit code, and nothing else to tell of it. */
export function plainResult(
  startedAt: number,
  endedAt: number,
  exitCode: number,
  stopped: StopCause | null,
  failed = exitCode !== 0,
): RunResult {
  return {
    startedAt,
    endedAt,
    finishedAt: endedAt,
    exitCode,
    launchError: null,
    stopped,
    stdout: null,
    stderr: null,
    environment: null,
    failReason: failed ? `command exited with code ${exitCode}` : null,
    verification: null,
    resources: null,
    limits: null,
  };
}
