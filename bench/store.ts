import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "../src/platform/clock.ts";
import { tryLock, unlock } from "../src/platform/flock.ts";
import { wallMicros } from "../src/platform/wall-micros.ts";
import { openFilesystemStore } from "../src/store/filesystem/open.ts";
import { recordId } from "../src/store/record-id.ts";
import type { Lease, Outcome, Store } from "../src/store/store.ts";
import type { BenchRow } from "./row.ts";

/** One run record as the ledger holds it. */
const run = (n: number) => ({
  duration: 0.024346,
  exit_code: n % 7 === 0 ? 3 : 0,
  fail_reason: n % 7 === 0 ? "command exited with code 3" : null,
  finished_at: `2026-11-30T08:${String(n % 60).padStart(2, "0")}:00.032813+00:00`,
  outcome: n % 7 === 0 ? "failure" : "success",
  ranAt: `2026-11-30T08:${String(n % 60).padStart(2, "0")}:00.032813+00:00`,
  resources: null,
  skip_reason: null,
  started_at: `2026-11-30T08:${String(n % 60).padStart(2, "0")}:00.008467+00:00`,
});
const runText = (n: number): string => JSON.stringify({ data: run(n), schemaVersion: "v1" });

/** The durable store on the disk of the temporary directory: what it adds to the system calls it cannot do without. */
export async function storeRows(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), "cronstable-bench-"));
  try {
    return [
      ...(await appendRows(join(root, "append"))),
      ...(await leaseRows(join(root, "lease"))),
      ...(await foldRows(join(root, "fold"))),
      ...(await openRows(join(root, "open"))),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Appends one after the other beside the bare write, flush, rename and flush of the directory; then many at once. */
async function appendRows(path: string): Promise<BenchRow[]> {
  const store = await open(path);
  const bare = bareAppends(path);
  const ours: number[] = [];
  const floor: number[] = [];
  for (let n = 0; n < 1500; n++) {
    const fromOurs = performance.now();
    await value(store.records.append("runs/job", run(n), { keep: 1000 }));
    const fromFloor = performance.now();
    bare(n);
    ours.push(fromFloor - fromOurs);
    floor.push(performance.now() - fromFloor);
  }
  const many = 2000;
  const from = performance.now();
  await Promise.all(Array.from({ length: many }, (_, n) => store.records.append("runs/many", run(n), { keep: 1000 })));
  const oursPerSecond = (many / (performance.now() - from)) * 1000;
  const floorFrom = performance.now();
  for (let n = 0; n < many; n++) bare(n);
  const floorPerSecond = (many / (performance.now() - floorFrom)) * 1000;
  const callMs = await costOfCalls(store);
  await store.close(10_000);
  return [
    compared("durable append, p50", quantile(ours, 0.5), quantile(floor, 0.5), "ms", "at most 2 x"),
    compared("durable append, p99", quantile(ours, 0.99), quantile(floor, 0.99), "ms"),
    {
      ...compared("durable appends per second", oursPerSecond, floorPerSecond, "/s"),
      ratio: floorPerSecond / oursPerSecond,
      target: "at most 2 x",
    },
    alone("main thread's share of one append", callMs * 1000, "us"),
  ];
}

/** Longest the main thread is busy with handing over a batch, per append. */
async function costOfCalls(store: Store): Promise<number> {
  const many = 500;
  const from = performance.now();
  const appends = Array.from({ length: many }, (_, n) => store.records.append("runs/cost", run(n)));
  await Promise.resolve();
  const perCall = (performance.now() - from) / many;
  await Promise.all(appends);
  return perCall;
}

function bareAppends(path: string): (n: number) => void {
  const directory = join(path, "bare");
  mkdirSync(directory);
  return (n) => {
    writeFlushed(join(path, "bare.tmp"), runText(n));
    renameSync(join(path, "bare.tmp"), join(directory, `${recordId(wallMicros(), "000000000000", n)}.json`));
    flushDirectory(directory);
  };
}

/** Taking and giving back a lease beside flock and the two writes of its file, the first with the flush of its directory. */
async function leaseRows(path: string): Promise<BenchRow[]> {
  const store = await open(path);
  const directory = join(path, "bare");
  mkdirSync(directory);
  const bareLease = (flush: boolean): void => {
    const fd = openSync(join(directory, "x.lock"), "a+", 0o600);
    if (!tryLock(fd)) throw new Error("locked");
    statSync(join(directory, "x.lock"));
    writeFlushed(join(path, "bare.tmp"), leaseText);
    renameSync(join(path, "bare.tmp"), join(directory, "x.lease"));
    if (flush) flushDirectory(directory);
    readFileSync(join(directory, "x.lease"));
    unlock(fd);
    closeSync(fd);
  };
  const ours: number[] = [];
  const floor: number[] = [];
  for (let n = 0; n < 700; n++) {
    const fromOurs = performance.now();
    const acquired = await value(store.leases.acquire("slots/job", "host#0123456789ab", 30_000));
    if (acquired.kind !== "held") throw new Error(acquired.kind);
    await value(store.leases.release(acquired.lease satisfies Lease));
    const fromFloor = performance.now();
    bareLease(true);
    bareLease(false);
    ours.push(fromFloor - fromOurs);
    floor.push(performance.now() - fromFloor);
  }
  await store.close(10_000);
  return [
    compared("lease acquire and release, p50", quantile(ours, 0.5), quantile(floor, 0.5), "ms", "at most 2 x"),
    compared("lease acquire and release, p99", quantile(ours, 0.99), quantile(floor, 0.99), "ms"),
  ];
}

const leaseText = '{"expiresAt":1796028619.314004,"fence":1,"holder":"host#0123456789ab","name":"slots/job"}';

/** Listing 5,000 records and counting their outcomes, beside reading and parsing the files in the same thread. */
async function foldRows(path: string): Promise<BenchRow[]> {
  const records = 5000;
  const directory = join(path, "default/records/runs%2Fjob");
  writeRecords(directory, records);
  const store = await open(path);
  const ours: number[] = [];
  const floor: number[] = [];
  const maxima: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    const query = { order: "newest first", limit: records, reading: "tolerant" } as const;
    const listed = await value(store.records.list("runs/job", query));
    const failures = listed.filter(({ data }) => data.outcome === "failure").length;
    const fromFloor = performance.now();
    let bareFailures = 0;
    for (let n = 0; n < records; n++)
      if (JSON.parse(readFileSync(recordFile(directory, n), "utf8")).data.outcome === "failure") bareFailures++;
    ours.push(fromFloor - from);
    floor.push(performance.now() - fromFloor);
    if (failures !== bareFailures) throw new Error("the folds differ");
    const fromMax = performance.now();
    await value(store.records.max("runs/job", round % 2 === 0 ? "finished_at" : "ranAt"));
    if (round < 2) maxima.push(performance.now() - fromMax);
  }
  await store.close(10_000);
  return [
    compared("list and fold 5,000 records", quantile(ours, 0.5), quantile(floor, 0.5), "ms"),
    alone("greatest finish of 5,000 records, first time", quantile(maxima, 0.5), "ms"),
  ];
}

/** A store of 1,000 jobs with 1,000 records each: until it can be used, and until each job's newest 50 runs are read. */
async function openRows(path: string): Promise<BenchRow[]> {
  const jobs = 1000;
  const first = join(path, "default/records/runs%2Fjob-0");
  writeRecords(first, 1000);
  for (let job = 1; job < jobs; job++) {
    const directory = join(path, `default/records/runs%2Fjob-${job}`);
    writeRecords(directory, 1000, 950);
    // The older ones are only listed, so they may be the same files.
    for (let n = 0; n < 950; n++) linkSync(recordFile(first, n), recordFile(directory, n));
  }
  const from = performance.now();
  const store = await open(path);
  const openMs = performance.now() - from;
  const query = { order: "newest first", limit: 50, reading: "tolerant", deadlineMs: 60_000 } as const;
  const lists = await Promise.all(
    Array.from({ length: jobs }, (_, job) => value(store.records.list(`runs/job-${job}`, query))),
  );
  const readyMs = performance.now() - from;
  if (lists.flat().length !== jobs * 50) throw new Error("records are missing");
  await store.close(10_000);
  return [
    alone("open a store of 1,000 jobs x 1,000 records", openMs, "ms"),
    alone("the same, with the newest 50 runs of each job read", readyMs, "ms"),
  ];
}

function recordFile(directory: string, n: number): string {
  return join(directory, `${recordId(1_796_028_540_000_000 + n * 60_000_000, "028c48ae53c0", n)}.json`);
}

/** Unflushed: what is measured is reading them. */
function writeRecords(directory: string, count: number, from = 0): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let n = from; n < count; n++) writeFileSync(recordFile(directory, n), runText(n), { mode: 0o600 });
}

function writeFlushed(path: string, text: string): void {
  const fd = openSync(path, "wx", 0o600);
  writeSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
}

function flushDirectory(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}

async function open(path: string): Promise<Store> {
  return value(
    openFilesystemStore({
      path,
      deploymentId: null,
      topology: "auto",
      maxOpsPerSecond: 0,
      clock: systemClock,
      log: { info: () => undefined, warning: console.error },
      // The built thread, as an installation starts it; from source it would load a compiler first.
      spawn: (_, workerData) =>
        new Worker(new URL("../dist/store-lane.worker.js", import.meta.url), { workerData, execArgv: [] }),
    }),
  );
}

async function value<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const found = await outcome;
  if (found.kind !== "done") throw new Error(JSON.stringify(found));
  return found.value;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function compared(name: string, ours: number, floor: number, unit: string, target?: string): BenchRow {
  return { name, ours, floor, unit, ratio: ours / floor, ...(target !== undefined && { target }) };
}

function alone(name: string, ours: number, unit: string): BenchRow {
  return { name, ours, floor: null, unit, ratio: null };
}
