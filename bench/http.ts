import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { JobConfig } from "../src/config/model.ts";
import type { Launcher, RunEvent } from "../src/contract/launcher.ts";
import type { Logger } from "../src/contract/log.ts";
import { createControlPlane } from "../src/daemon/control-plane.ts";
import { createEvents } from "../src/daemon/event-bus.ts";
import { type LiveOutputSource, liveOutput } from "../src/execution/capture/live-output.ts";
import { startWeb, type Web } from "../src/http/web.ts";
import { createJobTally } from "../src/metrics/job-counters.ts";
import { createMetrics } from "../src/metrics/metrics.ts";
import { systemClock } from "../src/platform/clock.ts";
import { parseSchedule } from "../src/schedule/expression.ts";
import { utcZone } from "../src/schedule/zone.ts";
import { createScheduler, type Scheduler } from "../src/scheduler/scheduler.ts";
import { jobConfig } from "../test/support/job-config.ts";
import { alone, configOf } from "../test/support/node.ts";
import { webConfig } from "../test/support/web-node.ts";
import type { BenchRow } from "./row.ts";

const JOBS = 1_000;
const CONNECTIONS = 16;
const ROUNDS = 5;
const ROUND_SECONDS = 1;

/** The control API beside a bare server that sends the same bytes; and log readers beside punctuality. */
export async function httpRows(): Promise<BenchRow[]> {
  return [...(await throughputRows()), ...(await scrapeRows()), ...(await latenessRows())];
}

const asked: readonly (readonly [name: string, path: string, headers: readonly string[]])[] = [
  ["/jobs", "/jobs", []],
  ["/jobs, gzip", "/jobs", ["Accept-Encoding: gzip"]],
  ["/jobs, unchanged (304)", "/jobs", ["If-None-Match: *"]],
  ["/metrics", "/metrics", []],
  ["/metrics, gzip", "/metrics", ["Accept-Encoding: gzip"]],
];

async function throughputRows(): Promise<BenchRow[]> {
  const jobs = Array.from({ length: JOBS }, (_, index) => jobConfig({ name: `job-${index}`, ...yearly(index) }));
  const node = await startNode(jobs);
  try {
    for (let round = 0; round < 20; round++) {
      for (const { name } of jobs) await node.scheduler.startJob(name, null);
      node.finishAll();
    }
    const rows: BenchRow[] = [];
    for (const [name, path, headers] of asked) rows.push(await throughputRow(name, path, headers, node.port));
    return rows;
  } finally {
    await node.stop();
  }
}

async function throughputRow(name: string, path: string, headers: readonly string[], port: number): Promise<BenchRow> {
  const bare = await bareServer(port, path, headers);
  try {
    const ours: number[] = [];
    const floor: number[] = [];
    // In turns, so that what else the machine does falls on both.
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await load(port, path, headers));
      floor.push(await load(bare.port, path, headers));
    }
    const [own, least] = [median(ours), median(floor)];
    return {
      name: `${name} with ${JOBS} jobs`,
      ours: own,
      floor: least,
      unit: "requests/s",
      ratio: own / least,
      target: "at least 0.6 of a bare node:http server sending the same bytes",
    };
  } finally {
    bare.server.close();
    bare.server.closeAllConnections();
  }
}

/** Sends what ours answers, from memory, and nothing more. */
async function bareServer(
  port: number,
  path: string,
  headers: readonly string[],
): Promise<{ server: Server; port: number }> {
  const answer = await ask(port, path, headers);
  const server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

async function ask(port: number, path: string, headers: readonly string[]) {
  const sent = request({ port, host: "127.0.0.1", path, agent: false });
  for (const header of headers) {
    const [name = "", value = ""] = header.split(": ");
    sent.setHeader(name, value);
  }
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { date: _, connection: __, "keep-alive": ___, ...own } = response.headers;
  return { status: response.statusCode ?? 200, headers: own, body: Buffer.concat(chunks) };
}

async function load(port: number, path: string, headers: readonly string[]): Promise<number> {
  const script = join(import.meta.dirname, "http-load.program.ts");
  const child = startScript(script, [String(port), path, String(ROUND_SECONDS), String(CONNECTIONS), ...headers]);
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`the load on ${path} ended with ${code}`);
  return Number(text);
}

const MANY_JOBS = 2_000;

/** Answers about very many jobs: how long one takes, and how late a launch is while they are asked for without pause (http 40). */
async function scrapeRows(): Promise<BenchRow[]> {
  const schedule = parseSchedule("* * * * * * *");
  const punctual = jobConfig({ name: "punctual", timing: { kind: "timetable", schedule, zone: utcZone } });
  const many = Array.from({ length: MANY_JOBS }, (_, index) => jobConfig({ name: `job-${index}`, ...yearly(index) }));
  const node = await startNode([punctual, ...many]);
  const latest = (): number =>
    Math.max(...node.launches.splice(0).flatMap(({ job, at }) => (job === "punctual" ? [at % 1000] : [])));
  try {
    const rows: BenchRow[] = [];
    await new Promise((resolve) => setTimeout(resolve, LATENESS_SECONDS * 1000));
    const quietMs = latest();
    for (const path of ["/jobs", "/metrics"]) {
      const tookMs: number[] = [];
      const until = performance.now() + LATENESS_SECONDS * 1000;
      while (performance.now() < until) {
        const begun = performance.now();
        await ask(node.port, path, []);
        tookMs.push(performance.now() - begun);
      }
      const name = `${path} with ${MANY_JOBS} jobs`;
      const target = "under 250 ms";
      rows.push({ name: `${name}: one answer`, ours: median(tookMs), floor: null, unit: "ms", ratio: null, target });
      rows.push({
        name: `${name}, asked without pause: latest launch of ${LATENESS_SECONDS}`,
        ours: latest(),
        floor: quietMs,
        unit: "ms",
        ratio: null,
        target: "at most 100 ms beyond what it is without",
      });
    }
    return rows;
  } finally {
    await node.stop();
  }
}

const LATENESS_SECONDS = 10;
const TAILS = 100;
const LINES_PER_SECOND = 1_000;

/** A hundred readers follow a run that prints much while another job is due every second. */
async function latenessRows(): Promise<BenchRow[]> {
  const quiet = await launchLateness(0);
  const busy = await launchLateness(TAILS);
  return [
    {
      name: `latest launch of ${LATENESS_SECONDS}, ${TAILS} readers of a log of ${LINES_PER_SECOND} lines/s`,
      ours: busy,
      floor: quiet,
      unit: "ms",
      ratio: null,
      target: "at most 50 ms beyond what it is without readers",
    },
  ];
}

async function launchLateness(tails: number): Promise<number> {
  const chatty = jobConfig({ name: "chatty", ...yearly(0) });
  const schedule = parseSchedule("* * * * * * *");
  const punctual = jobConfig({ name: "punctual", timing: { kind: "timetable", schedule, zone: utcZone } });
  const node = await startNode([chatty, punctual]);
  await node.scheduler.startJob("chatty", null);
  let printed = 0;
  const printing = setInterval(() => {
    const text = Array.from(
      { length: LINES_PER_SECOND / 20 },
      () => `line ${printed++} of what a busy job has to say\n`,
    );
    node.outputs
      .get("chatty")
      ?.publish("stdout", { text: text.join(""), lines: text.length, bytes: text.join("").length });
  }, 50);
  const readers = startScript(join(import.meta.dirname, "http-tails.program.ts"), [
    String(node.port),
    "/jobs/chatty/logs",
    String(tails),
  ]);
  try {
    if (tails > 0) await once(readers.stdout ?? readers, "data");
    node.launches.length = 0;
    await new Promise((resolve) => setTimeout(resolve, LATENESS_SECONDS * 1000));
    return Math.max(...node.launches.filter(({ job }) => job === "punctual").map(({ at }) => at % 1000));
  } finally {
    clearInterval(printing);
    readers.kill("SIGKILL");
    await node.stop();
  }
}

interface BenchNode {
  readonly port: number;
  readonly scheduler: Scheduler;
  readonly launches: { readonly job: string; readonly at: number }[];
  readonly outputs: ReadonlyMap<string, LiveOutputSource>;
  finishAll(): void;
  stop(): Promise<void>;
}

/** The API over a real scheduler, whose commands only pretend to run. */
async function startNode(jobs: readonly JobConfig[]): Promise<BenchNode> {
  const clock = systemClock;
  const events = createEvents(silent);
  const launches: BenchNode["launches"] = [];
  const outputs = new Map<string, LiveOutputSource>();
  const live: (() => void)[] = [];
  const finishAll = (): void => {
    for (const end of live.splice(0)) end();
  };
  let nextId = 0;
  const launcher: Launcher = {
    launch({ job }, onEvent) {
      const startedAt = clock.wallNow();
      launches.push({ job: job.name, at: startedAt });
      const source = liveOutput(clock);
      outputs.set(job.name, source);
      live.push(() => finish(source, startedAt, onEvent));
      return { stop: () => undefined, output: source.output, resourcesNow: () => null };
    },
  };
  const tally = createJobTally(events);
  const scheduler = createScheduler({
    clock,
    log: silent,
    launcher,
    reporting: { wouldAct: () => false, report: async () => undefined },
    events,
    ...alone,
    newRunId: () => String(nextId++).padStart(32, "0"),
    onMinute: () => undefined,
  });
  const config = configOf(jobs);
  const none = (): null => null;
  const control = createControlPlane({
    clock,
    scheduler,
    events,
    config: () => config,
    jobSetId: () => "v1:bench",
    hostName: "bench",
    isDraining: () => false,
    shutDown: () => undefined,
    nodeUsage: none,
    trendBook: none,
    archive: none,
    dags: none,
    cluster: none,
    pools: none,
    state: none,
    push: none,
    slot: none,
    owner: none,
  });
  const metrics = createMetrics({
    control,
    events,
    log: silent,
    tally,
    startedAt: 0,
    store: none,
    droppedWrites: () => ({}),
  });
  scheduler.apply(config);
  scheduler.start();
  scheduler.resume();
  const web: Web = await startWeb(
    { config: webConfig(), mcp: null },
    { control, clock, log: silent, accessLog: silent, environment: {}, metrics, ui: null },
  );
  return {
    port: web.addresses()[0]?.port ?? 0,
    scheduler,
    launches,
    outputs,
    finishAll,
    async stop() {
      finishAll();
      await scheduler.stop();
      await web.stop();
    },
  };
}

function finish(source: LiveOutputSource, startedAt: number, onEvent: (event: RunEvent) => void): void {
  source.end();
  onEvent({ kind: "spawned", pid: 1, startedAt });
  onEvent({
    kind: "finished",
    result: {
      startedAt,
      endedAt: startedAt + 5,
      finishedAt: startedAt + 5,
      exitCode: 0,
      launchError: null,
      stopped: null,
      stdout: null,
      stderr: null,
      environment: null,
      failReason: null,
      verification: null,
      resources: null,
      limits: null,
    },
  });
}

/** Lines are made, as for an access log, and thrown away. */
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  error: (message) => console.error(message),
  critical: (message) => console.error(message),
  enabled: () => true,
};

/** Never due while the bench looks: once a year, half a year away. */
function yearly(index: number): Pick<JobConfig, "scheduleText" | "timing"> {
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
  const scheduleText = `${index % 60} ${index % 24} ${(index % 28) + 1} ${month} *`;
  return { scheduleText, timing: { kind: "timetable", schedule: parseSchedule(scheduleText), zone: utcZone } };
}

function startScript(script: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--import", "tsx", script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
