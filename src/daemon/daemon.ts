import { randomBytes } from "node:crypto";
import type { Config } from "../config/model.ts";
import { currentSignature } from "../config/signature.ts";
import type { Events } from "../contract/events.ts";
import { standalone } from "../contract/ownership.ts";
import type { Mirror } from "../execution/capture/mirror.ts";
import { readingPace } from "../execution/capture/pace.ts";
import { baseEnvironment } from "../execution/environment.ts";
import { createLauncher } from "../execution/launcher.ts";
import { createLimitsEnforcer } from "../execution/limits/limits-enforcer.ts";
import { createResourceMonitor } from "../execution/monitor/resource-monitor.ts";
import type { Clock } from "../platform/clock.ts";
import type { Spawner } from "../platform/spawn/spawner.ts";
import { httpOutWhenUsed } from "../report/http-out-when-used.ts";
import { createReporting } from "../report/reporting.ts";
import { createScheduler, type LiveJob, type Scheduler } from "../scheduler/scheduler.ts";
import { dagSection, loadDagEngine } from "./dag-section.ts";
import { createEvents } from "./event-bus.ts";
import { inactiveParts } from "./inactive.ts";
import { jobTally } from "./job-tally.ts";
import { journalSection, thisHost } from "./journal-section.ts";
import type { Loaded } from "./load-aside.ts";
import { LoggingProblem, logTree } from "./logging/dict-config.ts";
import type { Logs } from "./logging/logs.ts";
import type { LineSink } from "./logging/sinks.ts";
import { pushSection } from "./push-section.ts";
import { registeredLauncher } from "./registered-launcher.ts";
import { createReloader } from "./reload.ts";
import { shutdownStack } from "./shutdown.ts";
import { stateSection } from "./state-section.ts";
import { feedStatsd } from "./statsd-feed.ts";
import { webSection } from "./web-section.ts";

/** For what is still being sent when all jobs have ended. */
const REPORTS_PATIENCE_MS = 5_000;

/** For the API's log streams and connections to end. */
const WEB_PATIENCE_MS = 5_000;

/** For what is still to be written, and the store's own trouble with it. */
const JOURNAL_PATIENCE_MS = 10_000;

/**
 * How long the first fires wait for the store and what it remembers, so that runs of the first seconds have it, and none starts beside
 * one that outlived the last daemon. Late by less than ten seconds, they lose no slot. A store that takes longer, or hangs, is taken up when
 * it is there: no fire waits for it (GEN-3).
 */
const STORE_HEAD_START_MS = 5_000;

/** For the store to let go, its own patience and the job API's included. */
const STATE_PATIENCE_MS = 20_000;

/** What a daemon is built from: the world outside, made by whoever starts it. */
export interface DaemonParts {
  readonly clock: Clock;
  readonly logs: Logs;
  readonly standardSinks: { readonly stdout: LineSink; readonly stderr: LineSink };
  /** Loads the configuration anew, aside. */
  load(): Promise<Loaded>;
  readonly spawner: Spawner;
  readonly mirror: Mirror;
  /** The daemon's own variables, which jobs inherit. */
  readonly environment: NodeJS.ProcessEnv;
  /** The host's name, as reports and jobs see it. */
  readonly host: string;
  /** The name under which this node keeps what it does in the store; the host's unless it was given one. */
  readonly nodeId: string;
}

/** The configuration a daemon starts with, as it was loaded. */
export type FirstConfig = Omit<Extract<Loaded, { ok: true }>, "ok">;

export interface Daemon {
  readonly scheduler: Scheduler;
  readonly events: Events;
  /** SIGHUP. */
  reload(): void;
  /** Settles when `POST /shutdown` asks for a stop; the caller then stops the daemon. */
  readonly stopAsked: Promise<void>;
  /** Stops firing, waits for running jobs and their reports, then takes everything down, last started first. */
  stop(): Promise<void>;
  /** Runs a stop is waiting for. */
  awaited(): readonly LiveJob[];
}

/** Builds the daemon and starts it: one straight line, each start followed by how it is stopped. */
export async function startDaemon({ config: first, jobSetId }: FirstConfig, parts: DaemonParts): Promise<Daemon> {
  const { clock, host, logs } = parts;
  const self = { host: parts.nodeId, proc: randomHex(6) };
  const log = logs.named("cronstable");
  const stack = shutdownStack(clock, log);
  const events = createEvents(log);
  let jobSet = "";

  let config = first;
  let draining = false;
  let askToStop = (): void => {};
  const stopAsked = new Promise<void>((resolve) => {
    askToStop = resolve;
  });
  // The last to go: the API answers while running jobs are waited for.
  stack.onStop("web", WEB_PATIENCE_MS, () => web.stop());

  const http = httpOutWhenUsed();
  const push = pushSection({ http, log, clock, host, randomHex, store: () => state.store() });
  push.apply(first.push);
  const reporting = createReporting({ log, clock, host, http, push: push.current, spawner: parts.spawner, randomHex });
  stack.onStop("reports of events", REPORTS_PATIENCE_MS, () => reporting.close());
  const statsd = feedStatsd(events, clock, logs.named);
  stack.onStop("statsd", REPORTS_PATIENCE_MS, () => statsd.close());
  const monitor = createResourceMonitor({ clock, log });
  stack.onStop("resource monitor", 1000, () => monitor.close());
  const limits = createLimitsEnforcer({ clock, log });
  stack.onStop("resource limits", 1000, () => limits.close());

  const tally = jobTally(events);
  const owners = standalone;
  let recovered = Promise.resolve();
  const state = stateSection({
    clock,
    logs: logs.named,
    self,
    onOpen() {
      recovered = journal.recover();
      dags.storeChanged();
    },
    onClose: () => dags.storeChanged(),
  });
  stack.onStop("state", STATE_PATIENCE_MS, () => state.close());

  const settings = loggingSettings(parts);
  settings.apply(first);

  const launcher = createLauncher({
    clock,
    log,
    spawner: parts.spawner,
    mirror: parts.mirror,
    pace: readingPace(clock),
    monitor,
    limits,
    baseEnvironment: baseEnvironment(parts.environment, host),
  });
  const registered = registeredLauncher(launcher, state.jobApi);
  const scheduler = createScheduler({
    clock,
    log,
    launcher: registered,
    reporting,
    events,
    owners,
    slots: () => journal.slots(),
    pools: () => journal.pools(),
    node: self.host,
    policy: () => config.state?.onStoreUnavailable ?? "degrade",
    counters: tally.snapshot,
    newRunId: () => randomHex(16),
    onMinute() {
      state.check();
      journal.minute();
      web.check();
      reloader.check();
    },
  });
  const journal = journalSection({
    clock,
    logs: logs.named,
    self,
    host: () => thisHost(clock),
    scheduler,
    owners,
    store: state.store,
    config: () => config,
    jobSetId: () => jobSet,
    tally: tally.load,
    taskHost: () => dags.poolHost,
    ownedRuns: (dag, runKey) => dags.owns(dag, runKey),
  });
  stack.onStop("journal", JOURNAL_PATIENCE_MS, () => journal.close());
  const dags = dagSection({
    clock,
    log,
    launcher: registered,
    reporting,
    events,
    self,
    store: state.store,
    pools: journal.pools,
    config: () => config,
    randomHex,
    loadEngine: () => loadDagEngine(clock),
  });
  stack.onStop("dags", Number.POSITIVE_INFINITY, () => dags.stop());
  const web = webSection({
    clock,
    logs: logs.named,
    events,
    scheduler,
    environment: parts.environment,
    host,
    config: () => config,
    jobSetId: () => jobSet,
    store: state.store,
    journal: journal.current,
    slots: journal.slots,
    pools: journal.pools,
    tally: tally.load,
    dags: dags.control,
    push: push.current,
    isDraining: () => draining,
    shutDown(by) {
      log.info(`shutdown asked for by ${by}`);
      askToStop();
    },
  });
  const reloader = createReloader(
    {
      log,
      hasChanged: (inForce) => currentSignature(inForce) !== inForce.signature,
      load: parts.load,
      apply(next, id) {
        scheduler.apply(next);
        config = next; // what is told of it below is already in force
        announce(next, id);
        settings.apply(next);
        push.apply(next.push);
        void dags.apply();
        void journal.apply(next).then(() => state.apply(next.state));
        void web.apply(next);
      },
      onOutcome(successful) {
        if (!successful) events.emit("config.refused", { at: clock.wallNow() });
      },
    },
    first,
  );
  for (const sentence of inactiveParts(first)) log.warning(sentence);
  await web.apply(first); // counts from the first event on
  announce(first, jobSetId);
  scheduler.apply(first);
  await journal.apply(first);
  const recalled = state.apply(first.state).then(() => recovered);
  await withinHeadStart(clock, recalled);
  scheduler.start();
  await dags.apply();
  void recalled.then(() => scheduler.resume());
  stack.onStop("scheduler", Number.POSITIVE_INFINITY, () => scheduler.stop());
  stack.onStop("reload", 1000, () => reloader.stop());

  function announce(next: Config, id: string): void {
    const configLog = logs.named("cronstable.config");
    for (const { level, message } of next.warnings) configLog[level](message);
    const tasks = next.dags.flatMap((dag) => dag.tasks.flatMap(({ job }) => job ?? []));
    limits.announce(
      [...next.jobs, ...tasks].flatMap(({ name, launch: { resourceLimits } }) =>
        resourceLimits === null ? [] : [{ name, limits: resourceLimits }],
      ),
    );
    const isAnother = id !== jobSet;
    jobSet = id;
    events.emit("config.applied", { jobSetId: id, jobs: next.jobs.length, at: clock.wallNow() });
    if (!isAnother) return;
    log.info(`Job set id: ${id} (${next.jobs.length} ${next.jobs.length === 1 ? "job" : "jobs"})`);
  }

  return {
    scheduler,
    events,
    reload: () => reloader.force(),
    stopAsked,
    async stop() {
      draining = true;
      journal.stop();
      void dags.stop(); // no task is started any more, while jobs are still waited for
      log.info("Shutting down (after currently running jobs finish)...");
      await stack.stopAll();
    },
    awaited: () => [...scheduler.running(), ...dags.running()],
  };
}

/** Resolves when what the store remembers is taken up, or has had its head start. */
function withinHeadStart(clock: Clock, recalled: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(STORE_HEAD_START_MS, resolve);
    void recalled.then(() => {
      cancel();
      resolve();
    });
  });
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** Puts a `logging` section in force when it is another than the last one that could be used (config 7.9). */
function loggingSettings({ logs, standardSinks }: DaemonParts): { apply(config: Config): void } {
  let applied = "null";
  return {
    apply({ logging }) {
      const asked = JSON.stringify(logging);
      if (asked === applied || logging === null) return; // a section that is gone leaves the log as it is
      try {
        logs.use(logTree(logging, standardSinks));
        applied = asked;
      } catch (error) {
        if (!(error instanceof LoggingProblem)) throw error;
        logs.named("cronstable").error(`Error while configuring logging: ${error.message}; the log stays as it was`);
      }
    },
  };
}
