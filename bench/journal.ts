import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JobConfig } from "../src/config/model.ts";
import type { Logger } from "../src/contract/log.ts";
import { standalone } from "../src/contract/ownership.ts";
import { createEvents } from "../src/daemon/event-bus.ts";
import { readingPace } from "../src/execution/capture/pace.ts";
import { createLauncher } from "../src/execution/launcher.ts";
import { systemProcesses } from "../src/journal/inflight/system-processes.ts";
import { createJournal } from "../src/journal/journal.ts";
import { bootIdentity } from "../src/platform/boot.ts";
import { systemClock } from "../src/platform/clock.ts";
import { systemSpawner } from "../src/platform/spawn/system-spawner.ts";
import { createScheduler, type Scheduler } from "../src/scheduler/scheduler.ts";
import { openFilesystemStore } from "../src/store/filesystem/open.ts";
import { memoryMedium } from "../src/store/memory/medium.ts";
import { openMemoryStore } from "../src/store/memory/open.ts";
import type { Store } from "../src/store/store.ts";
import { jobConfig } from "../test/support/job-config.ts";
import { alone, configOf } from "../test/support/node.ts";
import { timetable } from "../test/support/timings.ts";
import type { BenchRow } from "./row.ts";

const main = join(import.meta.dirname, "../dist/main.js");
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;

const RUNS = 600;
const ROUNDS = 3;
const JOBS = 1_000;
const RECORDS = Number(process.env.BENCH_RECORDS ?? 100);
const LAG_SECONDS = 8;

/** What it costs that nothing is forgotten: a run, a restart, and a store that does not answer. */
export async function journalRows(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  try {
    return [...(await runRows(folder)), ...(await restartRows(folder)), ...(await lagRows())];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same runs with a store and without, by hand so that all have their time. */
async function runRows(folder: string): Promise<BenchRow[]> {
  const opened = await openFilesystemStore({
    path: join(folder, "runs"),
    deploymentId: null,
    topology: "single-node",
    maxOpsPerSecond: 0,
    clock: systemClock,
    log: quiet,
  });
  if (opened.kind !== "done") throw new Error("the store did not open");
  const store = opened.value;
  const perSecond = await sustainable();
  const [bare, durable]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await allRuns(null, perSecond));
    durable.push(await allRuns(store, perSecond));
  }
  await store.close(5_000);
  const [floor, ours] = [Math.min(...bare), Math.min(...durable)];
  return [
    {
      name: `a run at ${perSecond.toFixed(0)} a second with its durable writes, beside the same without a store`,
      ours,
      floor,
      unit: "ms",
      ratio: ours / floor,
      target: "at most 1.25 x",
    },
  ];
}

/** Runs a second, 200 or a third of what the machine does without us: one that is full has no time for anything more. */
async function sustainable(): Promise<number> {
  const from = performance.now();
  await allRuns(null, Number.POSITIVE_INFINITY);
  return Math.min(200, RUNS / ((performance.now() - from) / 1000) / 3);
}

/** Middle of what the runs took from the asking to the end. */
async function allRuns(store: Store | null, perSecond: number): Promise<number> {
  const jobs = Array.from({ length: RUNS }, (_, index) => jobConfig({ name: `job-${index}`, command: "true" }));
  const asked = new Map<string, number>();
  const tookMs: number[] = [];
  const { scheduler, ended } = node(jobs, store, {
    finished: (job) => tookMs.push(performance.now() - (asked.get(job) ?? 0)),
  });
  const done = ended(RUNS);
  for (const { name } of jobs) {
    asked.set(name, performance.now());
    void scheduler.startJob(name, null);
    await pause(1000 / perSecond);
  }
  await done;
  await scheduler.stop();
  return tookMs.sort((a, b) => a - b)[RUNS / 2] ?? Number.NaN;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(ms, resolve));
}

/** From the start of the process to the first run of a job that is due each second. */
async function restartRows(folder: string): Promise<BenchRow[]> {
  const state = join(folder, "restart");
  const jobs = Array.from({ length: JOBS }, (_, index) => `job-${index}`);
  const listed = jobs.map((name) => `  - {name: ${name}, command: "true", schedule: "0 0 1 1 *"}\n`).join("");
  const body = `jobs:\n  - {name: tick, command: "true", schedule: "* * * * * * *"}\n${listed}`;
  const bare = join(folder, "bare.yaml");
  const durable = join(folder, "durable.yaml");
  writeFileSync(bare, body);
  writeFileSync(durable, `state:\n  path: ${state}\n${body}`);
  for (const name of jobs) writeLedger(join(state, "default/records", `runs%2F${name}`));
  const floors: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await untilFirstRun(bare));
    ours.push(await untilFirstRun(durable));
  }
  const [own, floor] = [Math.min(...ours), Math.min(...floors)];
  return [
    {
      name: `restart to first fire, ${JOBS} jobs with ${RECORDS} recorded runs each, beside no store`,
      ours: own,
      floor,
      unit: "ms",
      ratio: own / floor,
    },
  ];
}

/** Finished runs as the ledger has them, a minute apart, up to now. */
function writeLedger(stream: string): void {
  mkdirSync(stream, { recursive: true, mode: 0o700 });
  const now = Date.now() / 1000;
  for (let index = 0; index < RECORDS; index++) {
    const at = now - (RECORDS - index) * 60;
    const iso = new Date(at * 1000).toISOString().replace("Z", "000+00:00");
    const data = { outcome: "success", exit_code: 0, started_at: iso, finished_at: iso, duration: 0.1, ranAt: iso };
    const file = `${at.toFixed(6).padStart(20, "0")}-abcdefabcdef-${String(index).padStart(12, "0")}.json`;
    writeFileSync(join(stream, file), JSON.stringify({ data, schemaVersion: "v1" }), { mode: 0o600 });
  }
}

function untilFirstRun(config: string): Promise<number> {
  return new Promise((resolve) => {
    const from = performance.now();
    const child = spawn(process.execPath, [main, "-c", config], {
      env: environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (!text.includes("Job tick spawned")) return;
      child.kill("SIGKILL");
      child.stderr.removeAllListeners("data");
      resolve(performance.now() - from);
    });
  });
}

/** How late launches are, beside a store that never answers and without one. */
async function lagRows(): Promise<BenchRow[]> {
  const hanging = openMemoryStore({
    medium: memoryMedium(),
    clock: systemClock,
    writer: "abcdefabcdef",
    conduct: () => ({ kind: "silent", lands: false }),
  });
  const floor = await lag(null);
  const ours = await lag(hanging);
  return [
    {
      name: `lateness of 100 launches a second (95th of 100), the store hanging, beside no store`,
      ours,
      floor,
      unit: "ms",
      ratio: ours / floor,
      target: "unchanged",
    },
  ];
}

async function lag(store: Store | null): Promise<number> {
  const timing = timetable("* * * * * * *");
  const jobs = Array.from({ length: 100 }, (_, index) => jobConfig({ name: `job-${index}`, command: "true", timing }));
  const late: number[] = [];
  const { scheduler } = node(jobs, store, { launched: (slot, at) => late.push(at - slot) });
  await pause(LAG_SECONDS * 1000);
  await scheduler.stop();
  late.sort((a, b) => a - b);
  return late[Math.floor(late.length * 0.95)] ?? Number.NaN;
}

function node(
  jobs: readonly JobConfig[],
  store: Store | null,
  told: { readonly finished?: (job: string) => void; readonly launched?: (slot: number, at: number) => void },
) {
  const events = createEvents(quiet);
  let left = 0;
  let allEnded = (): void => {};
  events.on("run.finished", ({ job }) => {
    told.finished?.(job.name);
    if (--left === 0) allEnded();
  });
  events.on("run.launched", ({ trigger }) => {
    if (trigger.kind === "schedule") told.launched?.(trigger.slot, systemClock.wallNow());
  });
  let nextId = 0;
  const scheduler: Scheduler = createScheduler({
    ...alone,
    owners: standalone,
    clock: systemClock,
    log: quiet,
    launcher,
    reporting: { wouldAct: () => false, report: async () => undefined },
    events,
    newRunId: () => String(nextId++).padStart(32, "0"),
    onMinute: () => undefined,
  });
  scheduler.apply(configOf(jobs));
  if (store !== null) {
    scheduler.useJournal(
      createJournal({
        self: { host: "bench", proc: "abcdefabcdef" },
        boot: bootIdentity(systemClock.wallNow()),
        backend: () => store,
        settings: () => settings,
        processes: systemProcesses(systemClock),
        clock: systemClock,
        log: quiet,
      }),
    );
  }
  scheduler.start();
  return {
    scheduler,
    ended: (runs: number) =>
      new Promise<void>((resolve) => {
        left = runs;
        allEnded = resolve;
      }),
  };
}

const settings = {
  path: "",
  topology: "auto",
  deploymentId: null,
  maxRunsPerJob: 1000,
  onStoreUnavailable: "degrade",
  gcGraceSeconds: 0,
  maxOpsPerSecond: 0,
  slotTtlSeconds: 30,
  jobApi: {
    enabled: false,
    listen: null,
    maxValueBytes: 0,
    maxArtifactBytes: 0,
    lockTtlSeconds: 30,
    allowNonLoopbackBind: false,
    tls: null,
  },
} as const;

const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warning: () => {},
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
  baseEnvironment: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: "/root", HOSTNAME: "bench" },
});
