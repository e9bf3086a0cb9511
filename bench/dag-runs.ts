import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../src/config/model.ts";
import type { Launcher } from "../src/contract/launcher.ts";
import type { Logger } from "../src/contract/log.ts";
import { createEvents } from "../src/daemon/event-bus.ts";
import { standaloneGate } from "../src/dag/cluster-gate.ts";
import { createDagControl } from "../src/dag/dag-control.ts";
import { createDagEngine } from "../src/dag/engine.ts";
import { encodeRun } from "../src/dag/run-document-codec.ts";
import { createRunStore } from "../src/dag/run-store.ts";
import { readingPace } from "../src/execution/capture/pace.ts";
import { createLauncher } from "../src/execution/launcher.ts";
import { systemProcesses } from "../src/journal/inflight/system-processes.ts";
import { systemClock } from "../src/platform/clock.ts";
import { systemSpawner } from "../src/platform/spawn/system-spawner.ts";
import { openFilesystemStore } from "../src/store/filesystem/open.ts";
import type { Store } from "../src/store/store.ts";
import { configOf } from "../test/config/loading.ts";
import type { BenchRow } from "./row.ts";

const INSTANCES = 1_000;
const CHAIN = 200;
const ROUNDS = 3;

const environment = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" };

/** Whole runs: the engine on a store of files, each task a process, beside nothing but the processes. */
export async function dagRunRows(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  try {
    await bareBurst(10); // what is loaded at the first start is no part of the figures
    return [...(await fanOutRows(folder)), ...(await chainRows(folder))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function fanOutRows(folder: string): Promise<BenchRow[]> {
  const config = configOf(`state: {path: /nowhere}
dags:
  - name: bench
    tasks:
      - {id: list, command: "true"}
      - {id: each, dependsOn: [list], expand: {fromTask: list, key: items}, command: "true"}
      - {id: join, dependsOn: [each], command: "true"}
`);
  return rows(`a fan-out of ${INSTANCES}`, INSTANCES, config, folder, () => bareBurst(INSTANCES));
}

async function chainRows(folder: string): Promise<BenchRow[]> {
  const tasks = Array.from(
    { length: CHAIN },
    (_, n) => `      - {id: t${n}, command: "true"${n === 0 ? "" : `, dependsOn: [t${n - 1}]`}}\n`,
  );
  const config = configOf(`state: {path: /nowhere}\ndags:\n  - name: bench\n    tasks:\n${tasks.join("")}`);
  const what = `a chain of ${CHAIN}`;
  const figures = await rows(what, CHAIN, config, folder, async () => {
    for (let task = 0; task < CHAIN; task++) await bareBurst(1);
  });
  return [...figures, flushedRow(what, figures, folder)];
}

/**
 * Between one task of a chain and the next there is a write that must have reached the disk (D-INT-8): no scheduler that keeps its
 * promises is faster than a process and such a write, of a file of half the size the document has in the end.
 */
function flushedRow(what: string, figures: readonly BenchRow[], folder: string): BenchRow {
  const [task] = figures;
  const kib = figures.find(({ unit }) => unit === "KiB")?.ours ?? Number.NaN;
  const bytes = Buffer.alloc(Math.round((kib * 1024) / 2));
  const started = performance.now();
  for (let write = 0; write < CHAIN; write++) replaceFlushed(folder, bytes);
  const floor = (task?.floor ?? Number.NaN) + (performance.now() - started) / CHAIN;
  const ours = task?.ours ?? Number.NaN;
  return {
    name: `${what}: a task of it, beside a process and one flushed write`,
    ours,
    floor,
    unit: "ms",
    ratio: ours / floor,
  };
}

/** A whole file in the place of another, and certainly there afterwards. */
function replaceFlushed(folder: string, bytes: Uint8Array): void {
  const temporary = join(folder, "new");
  const file = openSync(temporary, "w");
  writeSync(file, bytes);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, join(folder, "whole"));
  const directory = openSync(folder, "r");
  fsyncSync(directory);
  closeSync(directory);
}

async function rows(
  what: string,
  tasks: number,
  config: Config,
  folder: string,
  bare: () => Promise<void>,
): Promise<BenchRow[]> {
  const floors: number[] = [];
  const runs: RunFigures[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    await bare();
    floors.push(performance.now() - from);
    runs.push(await wholeRun(config, join(folder, `${tasks}-${round}`)));
  }
  const floor = Math.min(...floors) / tasks;
  const [best] = runs.toSorted((a, b) => a.wallMs - b.wallMs);
  if (best === undefined) throw new Error("nothing was run");
  const ours = best.wallMs / tasks;
  const alone = (name: string, figure: number, unit: string): BenchRow => ({
    name: `${what}: ${name}`,
    ours: figure,
    floor: null,
    unit,
    ratio: null,
  });
  return [
    { name: `${what}: a task of it`, ours, floor, unit: "ms", ratio: ours / floor, target: "at most 2 x" },
    alone("writes of its document, per task", best.writes / tasks, "writes"),
    alone("one such write, flushed", best.writeMs, "ms"),
    alone("its document at the end", best.bytes / 1024, "KiB"),
  ];
}

interface RunFigures {
  readonly wallMs: number;
  readonly writes: number;
  /** Middle of what a write took, asked to confirmed. */
  readonly writeMs: number;
  readonly bytes: number;
}

/** One run by an engine of its own on a store of its own, from its trigger to its end. */
async function wholeRun(config: Config, path: string): Promise<RunFigures> {
  const opened = await openFilesystemStore({
    path,
    deploymentId: null,
    topology: "single-node",
    maxOpsPerSecond: 0,
    clock: systemClock,
    log: quiet,
  });
  if (opened.kind !== "done") throw new Error("the store did not open");
  await allThreadsStarted(opened.value);
  const writeMs: number[] = [];
  const store = counted(opened.value, writeMs);
  const events = createEvents(quiet);
  const over = new Promise<string>((resolve) => events.on("dag.run.ended", ({ state }) => resolve(state)));
  let next = 1;
  const parts = {
    clock: systemClock,
    log: quiet,
    host: "bench",
    proc: "0123456789ab",
    events,
    randomHex: (bytes: number) => (next++).toString(16).padStart(bytes * 2, "0"),
  };
  const engine = createDagEngine({
    ...parts,
    launcher: publishing(store),
    reporting: { wouldAct: () => false, report: async () => {} },
    processes: systemProcesses(systemClock),
    gate: standaloneGate,
    store: () => store,
    pools: () => null,
    random: () => 0.5,
  });
  const control = createDagControl({ ...parts, engine, holder: "bench#0123456789ab" });
  engine.start(config);
  const from = performance.now();
  const triggered = await control.trigger("bench", null);
  if (triggered.kind !== "triggered") throw new Error(`not triggered: ${triggered.kind}`);
  const state = await over;
  const wallMs = performance.now() - from;
  if (state !== "success") throw new Error(`the run ended as ${state}`);
  const { runKey } = triggered;
  const read = await createRunStore(
    () => store,
    () => {},
  ).read({ dag: "bench", runKey });
  const bytes =
    read.kind === "done" && read.value.kind === "run" ? JSON.stringify(encodeRun(read.value.run)).length : 0;
  await engine.stop();
  await store.close(5_000);
  const sorted = writeMs.toSorted((a, b) => a - b);
  return { wallMs, writes: writeMs.length, writeMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, bytes };
}

/** A daemon's store has been at work for long: that its threads start is no part of a run. */
async function allThreadsStarted({ leases, documents }: Store): Promise<void> {
  await leases.read("none");
  await documents.read("none", "none");
}

/** The store, with the time of each change of a run's document that wrote something. */
function counted(store: Store, writeMs: number[]): Store {
  return {
    ...store,
    documents: {
      ...store.documents,
      async mutate(namespace, key, decide, patience) {
        let writes = false;
        const from = performance.now();
        const outcome = await store.documents.mutate(
          namespace,
          key,
          (body) => {
            const change = decide(body);
            writes = change.kind === "put";
            return change;
          },
          patience,
        );
        if (writes && namespace.startsWith("dagrun/")) writeMs.push(performance.now() - from);
        return outcome;
      },
    },
  };
}

const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warning: (message) => console.error(message),
  error: (message) => console.error(message),
  critical: (message) => console.error(message),
  enabled: () => false,
};

const spawner = systemSpawner((reason) => console.error(reason));

/** As many at a time as the spawn gate lets begin. */
async function bareBurst(processes: number): Promise<void> {
  let left = processes;
  const one = async (): Promise<void> => {
    while (left-- > 0) await bareTrue();
  };
  await Promise.all(Array.from({ length: Math.min(processes, 16) }, one));
}

async function bareTrue(): Promise<void> {
  const outcome = await spawner.spawn({
    argv: ["/bin/sh", "-c", "true"],
    environment: { base: environment, added: {} },
    workingDirectory: null,
    stdout: "inherit",
    stderr: "inherit",
  });
  if (outcome.kind === "failed") throw new Error(outcome.message);
  await outcome.child.exit;
}

const launcher = createLauncher({
  clock: systemClock,
  log: quiet,
  spawner,
  mirror: { write: () => {}, drain: () => Promise.resolve() },
  pace: readingPace(systemClock),
  monitor: null,
  limits: null,
  baseEnvironment: environment,
});

/** Before the task `list` is started its items are published, as its command would do. */
function publishing(store: Store): Launcher {
  return {
    launch(request, onEvent) {
      if (request.injectedEnvironment.CRONSTABLE_DAG_TASKKEY !== "list") return launcher.launch(request, onEvent);
      return launcher.launch(request, (event) => {
        if (event.kind !== "finished") return onEvent(event);
        void publishItems(store, request.stateScope ?? "").then(() => onEvent(event));
      });
    },
  };
}

async function publishItems(store: Store, scope: string): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(Array.from({ length: INSTANCES }, (_, n) => n)));
  const sha256 = await store.blobs.put(bytes);
  if (sha256.kind !== "done") throw new Error("the list could not be published");
  const data = { at: systemClock.wallNow() / 1000, name: "list/items", sha256: sha256.value, size: bytes.length };
  await store.records.publish(`artifacts/${scope}`, "name", data);
}
