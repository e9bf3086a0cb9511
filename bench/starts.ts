import { closeSync, readSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { JobConfig } from "../src/config/model.ts";
import type { Logger } from "../src/contract/log.ts";
import type { RunResult } from "../src/contract/run.ts";
import { readingPace } from "../src/execution/capture/pace.ts";
import { createLauncher } from "../src/execution/launcher.ts";
import { systemClock } from "../src/platform/clock.ts";
import { cStrings } from "../src/platform/spawn/c-strings.ts";
import { type Libc, loadLibc } from "../src/platform/spawn/libc.ts";
import { systemSpawner } from "../src/platform/spawn/system-spawner.ts";
import { jobConfig } from "../test/support/job-config.ts";
import { longestBlock } from "./loop-block.ts";
import type { BenchRow } from "./row.ts";

const RUNS = 1000;
const ROUNDS = 3;
const LIVE_HEAP_BYTES = 300 * 2 ** 20;
const IDLE_RUNS = 500;
const FLOOD_BYTES = 500_000_000;

const environment = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: "/root", HOSTNAME: "bench" };

/** A thousand runs due at once, in a small process and in a large one; what a run costs while it sleeps; a job that prints without end. */
export async function startRows(): Promise<readonly BenchRow[]> {
  if (process.platform !== "linux") return []; // the floor is posix_spawn
  const libc = await loadLibc();
  await startAll(10); // what is loaded at the first start is no part of the figures
  const small = [...(await burstRows(libc, "")), ...(await idleRows()), ...(await floodRows())];
  const ballast = liveHeap(LIVE_HEAP_BYTES);
  const large = await burstRows(libc, ", 300 MB of live heap");
  if (ballast.length === 0) throw new Error("the heap was not live");
  ballast.length = 0;
  return [...small, ...large];
}

async function burstRows(libc: Libc, where: string): Promise<BenchRow[]> {
  const floors: Burst[] = [];
  const ours: Burst[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(bareLoop(libc, RUNS));
    ours.push(await startAll(RUNS));
  }
  const best = (bursts: readonly Burst[], figure: (burst: Burst) => number): number => Math.min(...bursts.map(figure));
  const row = (name: string, figure: (burst: Burst) => number, target: string): BenchRow => {
    const [own, floor] = [best(ours, figure), best(floors, figure)];
    return { name: `${name}${where}`, ours: own, floor, unit: "ms", ratio: own / floor, target };
  };
  return [
    row(`${RUNS} runs due at once, until all have started`, ({ startedMs }) => startedMs, "at most 1.5 x"),
    row("a run of them, until all have ended and are read", ({ endedMs }) => endedMs / RUNS, "at most 1.5 x"),
    {
      name: `the loop's longest block meanwhile${where}`,
      ours: best(ours, ({ blockMs }) => blockMs),
      floor: null,
      unit: "ms",
      ratio: null,
      target: "under 50 ms",
    },
  ];
}

interface Burst {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly blockMs: number;
}

/** The same commands with the same pipes by nothing but the system's calls: start all, read all, await all. */
function bareLoop(libc: Libc, runs: number): Burst {
  const attributes = Buffer.alloc(1024);
  libc.attributesInit(attributes);
  libc.attributesFlags(attributes, 0x80); // a session of its own
  const argv = cStrings(["/bin/sh", "-c", "echo done"], libc.addressOf);
  const variables = cStrings(
    Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    libc.addressOf,
  );
  const file = Buffer.from("/bin/sh\0");
  const actions = Buffer.alloc(1024);
  const [stdout, stderr, pid] = [new Int32Array(2), new Int32Array(2), new Int32Array(1)];
  const started: { pid: number; ends: readonly number[] }[] = [];
  const from = performance.now();
  for (let run = 0; run < runs; run++) {
    libc.pipe2(stdout, 0o2000000);
    libc.pipe2(stderr, 0o2000000);
    libc.fileActionsInit(actions);
    libc.fileActionsDup2(actions, stdout[1] ?? -1, 1);
    libc.fileActionsDup2(actions, stderr[1] ?? -1, 2);
    if (libc.posixSpawn(pid, file, actions, attributes, argv.pointers, variables.pointers) !== 0)
      throw new Error("posix_spawn failed");
    libc.fileActionsDestroy(actions);
    libc.close(stdout[1] ?? -1);
    libc.close(stderr[1] ?? -1);
    started.push({ pid: pid[0] ?? 0, ends: [stdout[0] ?? -1, stderr[0] ?? -1] });
  }
  const startedMs = performance.now() - from;
  const buffer = Buffer.alloc(65_536);
  const status = new Int32Array(1);
  for (const { pid, ends } of started) {
    for (const end of ends) {
      while (readSync(end, buffer) > 0);
      closeSync(end);
    }
    libc.waitpid(pid, status, 0);
  }
  return { startedMs, endedMs: performance.now() - from, blockMs: Number.NaN };
}

const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warning: (message) => console.error(message),
  error: (message) => console.error(message),
  critical: (message) => console.error(message),
  enabled: () => false,
};

const launcher = createLauncher({
  clock: systemClock,
  log: quiet,
  spawner: systemSpawner((reason) => console.error(reason)),
  mirror: { write: () => {}, drain: () => Promise.resolve() },
  pace: readingPace(systemClock),
  monitor: null,
  limits: null,
  baseEnvironment: environment,
});

const captured = { captureStdout: true, captureStderr: true };
const echo = jobConfig({ command: "echo done", launch: captured });

/** Our runs of it. */
function startAll(runs: number): Promise<Burst> {
  return new Promise((resolve, reject) => {
    const blockMs = longestBlock();
    let [started, ended] = [0, 0];
    let startedMs = 0;
    const from = performance.now();
    for (let run = 0; run < runs; run++) {
      launcher.launch(
        { runId: String(run), job: echo, attempt: 0, scheduledAt: null, injectedEnvironment: {} },
        (event) => {
          if (event.kind === "spawned") {
            if (++started === runs) startedMs = performance.now() - from;
            return;
          }
          if (event.result.stdout?.text !== "done\n") reject(new Error(JSON.stringify(event.result)));
          if (++ended < runs) return;
          resolve({ startedMs, endedMs: performance.now() - from, blockMs: blockMs() });
        },
      );
    }
  });
}

/** Objects that the collector has to walk and fork would have to map. */
function liveHeap(bytes: number): object[] {
  const live: object[] = [];
  for (let taken = 0; taken < bytes; taken += 64 * 1024) {
    live.push(Array.from({ length: 8192 }, (_, index) => index + 0.5));
  }
  return live;
}

async function idleRows(): Promise<BenchRow[]> {
  const sleeping = jobConfig({ command: ["sleep", "1000"], launch: { ...captured, killTimeoutSeconds: 0 } });
  await startAll(100);
  const before = settledMemory();
  const runs = await Promise.all(Array.from({ length: IDLE_RUNS }, () => spawned(sleeping)));
  const after = settledMemory();
  for (const { stop } of runs) stop();
  await Promise.all(runs.map(({ ended }) => ended));
  return [
    {
      name: "resident memory of a sleeping run, both streams captured",
      ours: (after.rss - before.rss) / IDLE_RUNS / 1024,
      floor: null,
      unit: "KiB",
      ratio: null,
      target: "under 20 KiB",
    },
  ];
}

/** What stays when the garbage has gone: that of starting is no part of a sleeping run. */
function settledMemory(): NodeJS.MemoryUsage {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage();
}

/** A run once it has its process. */
function spawned(job: JobConfig): Promise<{ readonly stop: () => void; readonly ended: Promise<RunResult> }> {
  return new Promise((resolve) => {
    let tellEnded: (result: RunResult) => void = () => {};
    const ended = new Promise<RunResult>((tell) => {
      tellEnded = tell;
    });
    const run = launcher.launch(
      { runId: "idle", job, attempt: 0, scheduledAt: null, injectedEnvironment: {} },
      (event) => {
        if (event.kind === "spawned") resolve({ stop: () => run.stop("cancelled"), ended });
        else tellEnded(event.result);
      },
    );
  });
}

async function floodRows(): Promise<BenchRow[]> {
  const command = `seq 100000000 | head -c ${FLOOD_BYTES}`;
  const flood = jobConfig({ command, launch: captured });
  const before = process.memoryUsage.rss();
  let peak = before;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const blockMs = longestBlock();
  const ours = await cpuSeconds(async () => (await spawned(flood)).ended);
  const longest = blockMs();
  clearInterval(watching);
  const floor = await cpuSeconds(() => bareRead(["/bin/sh", "-c", command]));
  return [
    {
      name: "500 MB of short lines from one job, our CPU beside reading alone",
      ours,
      floor,
      unit: "s",
      ratio: ours / floor,
    },
    {
      name: "the loop's longest block meanwhile, one job printing",
      ours: longest,
      floor: null,
      unit: "ms",
      ratio: null,
      target: "under 50 ms",
    },
    {
      name: "growth of resident memory meanwhile",
      ours: (peak - before) / 2 ** 20,
      floor: null,
      unit: "MiB",
      ratio: null,
      target: "under 50 MiB",
    },
  ];
}

/** Of this process alone, whatever the machine does besides. */
async function cpuSeconds(work: () => Promise<unknown>): Promise<number> {
  const from = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6;
}

/** Reads the same output and does nothing with it. */
async function bareRead(argv: readonly string[]): Promise<void> {
  const outcome = await systemSpawner(() => {}).spawn({
    argv,
    environment: { base: environment, added: {} },
    workingDirectory: null,
    stdout: "pipe",
    stderr: "inherit",
  });
  if (outcome.kind === "failed") throw new Error(outcome.message);
  const { stdout } = outcome.child;
  await new Promise<void>((resolve) => stdout?.read(() => "more", resolve));
}
