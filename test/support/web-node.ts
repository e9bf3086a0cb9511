import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { gunzipSync } from "node:zlib";
import type { Config, JobConfig, WebConfig } from "../../src/config/model.ts";
import type { ControlPlane } from "../../src/contract/control-plane.ts";
import type { Events } from "../../src/contract/events.ts";
import type { Launcher, LiveResources, OutputLine, RunEvent } from "../../src/contract/launcher.ts";
import type { RunResult, StopCause } from "../../src/contract/run.ts";
import { type ControlPlaneParts, createControlPlane } from "../../src/daemon/control-plane.ts";
import { createEvents } from "../../src/daemon/event-bus.ts";
import { liveOutput } from "../../src/execution/capture/live-output.ts";
import { startWeb, type Web, type WebParts, type WebSettings } from "../../src/http/web.ts";
import { createJobTally, type JobTally } from "../../src/metrics/job-counters.ts";
import { createMetrics, type Metrics, type MetricsParts } from "../../src/metrics/metrics.ts";
import { type SimulatedClock, settled, simulatedClock } from "../../src/platform/simulated-clock.ts";
import { createScheduler, type Scheduler } from "../../src/scheduler/scheduler.ts";
import { type LogLines, logLines } from "./log-lines.ts";
import { alone, configOf, plainResult } from "./node.ts";

/** A run that a test plays. */
export interface PlayedRun {
  readonly job: string;
  readonly runId: string;
  readonly pid: number;
  print(stream: OutputLine["stream"], ...lines: readonly string[]): void;
  exit(code: number, over?: Partial<RunResult>): void;
  use(resources: LiveResources): void;
  /** Why it was told to stop. */
  readonly stopped: StopCause | null;
}

export interface WebNode {
  readonly clock: SimulatedClock;
  readonly scheduler: Scheduler;
  readonly events: Events;
  readonly control: ControlPlane;
  readonly metrics: Metrics;
  readonly tally: JobTally;
  readonly web: Web;
  readonly logged: LogLines;
  readonly accessLogged: LogLines;
  /** Live and ended runs, in the order they started. */
  readonly runs: readonly PlayedRun[];
  /** The newest run of a job. */
  run(job: string): PlayedRun;
  /** The port of a TCP address, the first one by default. */
  port(index?: number): number;
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Lets time pass up to an ISO instant. */
  until(instant: string): Promise<void>;
  /** Another configuration, as after a reload. */
  apply(config: Config): Promise<void>;
  readonly shutdowns: readonly string[];
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** Where to, other than the first TCP address. */
  readonly to?: {
    readonly port?: number;
    readonly host?: string;
    readonly socketPath?: string;
    readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of a body it says itself
  json(): any;
}

/** A web section with the built-in defaults on a free port of the loopback interface, and what a test says instead. */
export function webConfig(over: Partial<WebConfig> = {}): WebConfig {
  return {
    listen: ["http://127.0.0.1:0"],
    headers: {},
    allowedOrigins: [],
    authToken: null,
    authTokens: [],
    anonymousScopes: [],
    socketMode: null,
    tls: null,
    ui: true,
    metrics: { public: false, durationBuckets: null },
    nodeHistory: null,
    bonjour: null,
    ...over,
  };
}

/** A token of a test, with its scopes. */
export function token(value: string, scopes: WebConfig["authTokens"][number]["scopes"], label: string | null = null) {
  return { source: { value, fromFile: null, fromEnvVar: null }, scopes, label };
}

/** The API over a real scheduler, on virtual time and real sockets, with runs that the test plays. */
export async function startWebNode(options: {
  readonly at?: string;
  readonly jobs?: readonly JobConfig[];
  readonly config?: Config;
  readonly web?: Partial<WebConfig>;
  readonly mcp?: WebSettings["mcp"];
  readonly parts?: Partial<ControlPlaneParts>;
  readonly webParts?: Partial<WebParts>;
  readonly metricsParts?: Partial<MetricsParts>;
}): Promise<WebNode> {
  const clock = simulatedClock(Date.parse(options.at ?? "2026-11-30T08:49:05Z"));
  const logged = logLines();
  const accessLogged = logLines();
  const events = createEvents(logged.log);
  const runs: PlayedRun[] = [];
  const shutdowns: string[] = [];
  let config: Config = options.config ?? configOf(options.jobs ?? []);
  let nextId = 0;

  const launcher: Launcher = {
    launch({ runId, job }, onEvent) {
      const played = playedRun(clock, { runId, job: job.name, pid: 1000 + runs.length }, onEvent);
      runs.push(played.run);
      return played.live;
    },
  };
  const tally = createJobTally(events);
  const scheduler = createScheduler({
    clock,
    log: logged.log,
    launcher,
    reporting: { wouldAct: () => false, report: async () => undefined },
    events,
    ...alone,
    newRunId: () => String(nextId++).padStart(32, "0"),
    onMinute: () => undefined,
  });
  const control = createControlPlane({
    clock,
    scheduler,
    events,
    config: () => config,
    jobSetId: () => `v1:${"ab".repeat(32)}`,
    hostName: "node-a",
    isDraining: () => shutdowns.length > 0,
    shutDown: (by) => shutdowns.push(by),
    nodeUsage: () => null,
    trendBook: () => null,
    archive: () => null,
    dags: () => null,
    cluster: () => null,
    pools: () => null,
    state: () => null,
    push: () => null,
    slot: () => null,
    owner: () => null,
    ...options.parts,
  });
  const metrics = createMetrics({
    control,
    events,
    tally,
    log: logged.log,
    startedAt: clock.wallNow(),
    store: () => null,
    droppedWrites: () => ({}),
    ...options.metricsParts,
  });
  scheduler.apply(config);
  scheduler.start();
  scheduler.resume();
  events.emit("config.applied", { jobSetId: control.jobSetId(), jobs: config.jobs.length, at: clock.wallNow() });
  const section = webConfig(options.web);
  metrics.setDurationBuckets(section.metrics?.durationBuckets ?? null);
  const web = await startWeb(
    { config: section, mcp: options.mcp ?? null },
    {
      control,
      clock,
      log: logged.log,
      accessLog: accessLogged.log,
      environment: {},
      metrics,
      ui: null,
      ...options.webParts,
    },
  );

  const port = (index = 0): number => web.addresses().filter((bound) => bound.port !== null)[index]?.port ?? 0;
  const ask: WebNode["ask"] = (method, path, asked = {}) => sendRequest(port(), method, path, asked);
  return {
    clock,
    scheduler,
    events,
    control,
    metrics,
    tally,
    web,
    logged,
    accessLogged,
    runs,
    run(job) {
      const found = runs.findLast((run) => run.job === job);
      if (found === undefined) throw new Error(`no run of ${job} has started`);
      return found;
    },
    port,
    ask,
    get: (path, headers = {}) => ask("GET", path, { headers }),
    post: (path, body, headers = {}) =>
      ask("POST", path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    until: (instant) => clock.runUntilSettled(Date.parse(instant)),
    async apply(next) {
      config = next;
      scheduler.apply(next);
      events.emit("config.applied", { jobSetId: control.jobSetId(), jobs: next.jobs.length, at: clock.wallNow() });
      await settled();
    },
    shutdowns,
    async stop() {
      const stopping = web.stop();
      await settled();
      clock.runUntil(clock.wallNow() + 5_000); // patience with connections that are still open
      await stopping;
    },
  };
}

function playedRun(
  clock: SimulatedClock,
  identity: Pick<PlayedRun, "job" | "runId" | "pid">,
  onEvent: (event: RunEvent) => void,
) {
  const source = liveOutput(clock);
  const startedAt = clock.wallNow();
  let stopped: StopCause | null = null;
  let resources: LiveResources | null = null;
  let phase: "starting" | "running" | "ended" = "starting";
  const spawn = (): void => {
    if (phase !== "starting") return;
    phase = "running";
    onEvent({ kind: "spawned", pid: identity.pid, startedAt });
  };
  const exit: PlayedRun["exit"] = (exitCode, over = {}) => {
    if (phase === "ended") return;
    spawn();
    phase = "ended";
    source.end();
    const result = plainResult(startedAt, clock.wallNow(), exitCode, stopped);
    onEvent({ kind: "finished", result: { ...result, ...over } });
  };
  clock.after(0, spawn);
  const run: PlayedRun = {
    ...identity,
    print(stream, ...lines) {
      const text = lines.map((line) => `${line}\n`).join("");
      source.publish(stream, { text, lines: lines.length, bytes: Buffer.byteLength(text) });
    },
    exit,
    use(now) {
      resources = now;
    },
    get stopped() {
      return stopped;
    },
  };
  return {
    run,
    live: {
      stop(cause: StopCause) {
        if (stopped !== null) return;
        stopped = cause;
        clock.after(0, () => exit(-15));
      },
      output: source.output,
      resourcesNow: () => resources,
    },
  };
}

/** One request, its path sent as it is written. */
export function sendRequest(port: number, method: string, path: string, asked: AskOptions = {}): Promise<Answered> {
  const { to } = asked;
  const options = {
    method,
    path,
    headers: {
      ...(asked.body === undefined ? {} : { "content-length": Buffer.byteLength(asked.body) }),
      ...(asked.headers as Record<string, string | string[]>),
    },
    agent: false,
    ...(to?.socketPath === undefined
      ? { host: to?.host ?? "127.0.0.1", port: to?.port ?? port }
      : { socketPath: to.socketPath }),
  };
  return new Promise((resolve, reject) => {
    const taken = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => resolve(answered(response, Buffer.concat(chunks))));
    };
    const sent =
      to?.tls === undefined
        ? request(options, taken)
        : secureRequest({ ...options, ...to.tls, servername: "localhost" }, taken);
    sent.once("error", reject);
    sent.end(asked.body);
  });
}

function answered(response: IncomingMessage, bytes: Buffer): Answered {
  const whole = response.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
  const text = whole.toString("utf8");
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    bytes,
    text,
    json: () => JSON.parse(text),
  };
}
