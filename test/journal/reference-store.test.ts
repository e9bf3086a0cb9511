import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { archiveRecord } from "../../src/journal/archive/archive-record.ts";
import { bootMarkerRecord } from "../../src/journal/boot/boot-marker.ts";
import { checkpointRecord } from "../../src/journal/catchup/checkpoint-record.ts";
import { createCheckpoints } from "../../src/journal/catchup/checkpoints.ts";
import { countersRecord } from "../../src/journal/counters/counters-record.ts";
import { createDrops } from "../../src/journal/drops.ts";
import { createInFlightRuns } from "../../src/journal/inflight/inflight.ts";
import { inFlightRecord } from "../../src/journal/inflight/inflight-record.ts";
import { latestOf } from "../../src/journal/ledger/latest.rules.ts";
import { createLedger } from "../../src/journal/ledger/ledger.ts";
import { runRecord } from "../../src/journal/ledger/run-record.ts";
import { pauseRecord } from "../../src/journal/pauses/pause-record.ts";
import type { RecordCodec } from "../../src/journal/record-codec.ts";
import { retryRecord } from "../../src/journal/retries/retry-record.ts";
import { createRetryStream } from "../../src/journal/retries/retry-stream.ts";
import { dagCatchupStream } from "../../src/journal/streams.ts";
import { manifestRecord } from "../../src/journal/upkeep/manifest-record.ts";
import { createWriteQueue } from "../../src/journal/write-queue.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { encodeEnvelope } from "../../src/store/envelope.ts";
import { openFilesystemStore } from "../../src/store/filesystem/open.ts";
import { isObject, type JsonObject } from "../../src/store/json.ts";
import { parseJson } from "../../src/store/json-text.ts";
import { writtenLog } from "../support/node.ts";

/** A store that the existing implementation wrote, and the files of it that are made by hand to be hostile. */
const archive = new URL("../data/reference-store.tar.gz", import.meta.url).pathname;
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "journal-"));
  execFileSync("tar", ["-xzf", archive, "-C", root]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const at = (time: string): number => Date.parse(`2026-11-30T${time.slice(0, 8)}Z`) + Number(time.slice(8) || 0) * 1000;

async function open(path: string, deploymentId: string) {
  const logged: string[] = [];
  const log = writtenLog(logged);
  const opened = await openFilesystemStore({
    path: join(root, path),
    deploymentId,
    topology: "single-node",
    maxOpsPerSecond: 0,
    clock: systemClock,
    log,
  });
  if (opened.kind !== "done") throw new Error("the store does not open");
  const store = opened.value;
  onTestFinished(async () => void (await store.close(5000)));
  const backend = () => store;
  const writes = createWriteQueue(systemClock, createDrops(log));
  const ledger = createLedger({ backend, writes, maxRunsPerJob: () => 1000 });
  return { store, backend, writes, ledger, log, logged };
}

/** Bodies of all records of a family, of every stream and namespace of the sample. */
function bodiesOf(family: string): { file: string; text: string; body: JsonObject }[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.includes(`/records/${family}%2F`) && file.endsWith(".json") && !file.includes("/poison/"))
    .map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const envelope = parseJson(text);
      if (!isObject(envelope) || !isObject(envelope.data)) throw new Error(`${file} is no record`);
      return { file, text, body: envelope.data };
    });
}

function rewritten<T>(codec: RecordCodec<T>, body: JsonObject): string {
  const found = codec.decode(body);
  if (found.kind === "damaged") return found.reason;
  const encoded = encodeEnvelope(codec.encode(found.value));
  return encoded.kind === "text" ? encoded.text : encoded.problem;
}

describe("interchange: every record of the sample is understood, and written as it stands there", () => {
  test.each<[string, (body: JsonObject) => string, number]>([
    ["runs", (body) => rewritten(runRecord, body), 80],
    ["logs", (body) => rewritten(archiveRecord, body), 8],
    ["catchup", (body) => rewritten(checkpointRecord, body), 2],
    ["catchup-dag", (body) => rewritten(checkpointRecord, body), 2],
    ["retries", (body) => rewritten(retryRecord, body), 20],
    ["paused", (body) => rewritten(pauseRecord, body), 3],
    ["reboot", (body) => rewritten(bootMarkerRecord, body), 1],
    ["inflight", (body) => rewritten(inFlightRecord, body), 50],
    ["manifests", (body) => rewritten(manifestRecord, body), 2],
  ])("%s", (family, rewrite, atLeast) => {
    const bodies = bodiesOf(family);
    expect(bodies.length).toBeGreaterThanOrEqual(atLeast);
    for (const { text, body, file } of bodies) expect(rewrite(body), file).toBe(text);
  });

  test("counters", () => {
    const bodies = bodiesOf("counters");
    expect(bodies.length).toBeGreaterThanOrEqual(2);
    for (const { text, body, file } of bodies) {
      const found = countersRecord.decode(body);
      const value = found.kind === "record" ? found.value : null;
      if (value === null) throw new Error(`${file} is not understood`);
      // The instant of a snapshot is for people; nothing reads it back. Times of runs are kept to the microsecond.
      const encoded = encodeEnvelope({ ...countersRecord.encode(value), at: body.at ?? null });
      expect(encoded.kind === "text" && toMilliseconds(encoded.text), file).toBe(toMilliseconds(text));
    }
  });
});

function toMilliseconds(text: string): string {
  return text.replace(/(?<=_time":)\d+\.\d+/g, (seconds) => Number(seconds).toFixed(3));
}

describe("a store of the existing implementation", () => {
  test("WM-1, WM-2: its watermarks", async () => {
    const { ledger } = await open("store", "Demo.App");
    const lastRun = async (job: string): Promise<unknown> =>
      (await ledger.lastRunAt(job)).kind === "done" && (await ledger.lastRunAt(job));
    expect(await lastRun("missed")).toEqual({ kind: "done", value: at("09:31:00.022635") });
    expect(await lastRun("slow")).toEqual({ kind: "done", value: at("09:27:05.733415") });
    expect(await lastRun("slow-once")).toEqual({ kind: "done", value: null });
    expect(await lastRun("paused-job")).toEqual({ kind: "done", value: at("09:31:00.018938") });
    expect(await ledger.lastCompletedAt("paused-job")).toEqual({ kind: "done", value: null });
  });

  test("RUN-2: its interrupted, cancelled and skipped rows", async () => {
    const { ledger } = await open("store", "Demo.App");
    const newest = async (job: string) => {
      const rows = await ledger.newest(job, 50);
      return rows.kind === "done" ? rows.value : [];
    };
    expect(await newest("slow")).toContainEqual(
      expect.objectContaining({ kind: "interrupted", owed: false, interruptedAt: at("09:27:05.733415") }),
    );
    expect(await newest("slow-once")).toContainEqual(expect.objectContaining({ kind: "interrupted", owed: true }));
    expect(await newest("cancel-me")).toContainEqual(expect.objectContaining({ kind: "ran", outcome: "cancelled" }));
    expect((await newest("paused-job")).every((row) => row.kind === "skipped")).toBe(true);
  });

  test("its retries, its checkpoints, also of a DAG", async () => {
    const { backend, writes } = await open("store", "Demo.App");
    const retries = createRetryStream({ host: "nodea", backend, writes, clock: systemClock });
    const newest = async (job: string) => {
      const found = await retries.newest(job);
      return found.kind === "done" ? found.value?.record : null;
    };
    expect(await newest("Flaky Job/1")).toMatchObject({ kind: "pending", attempt: 3, host: "nodea" });
    expect(await newest("exhaust")).toMatchObject({ kind: "settled", reason: "exhausted" });
    expect(await newest("second-time-lucky")).toMatchObject({ kind: "settled", reason: "succeeded" });
    expect(await newest("edited")).toMatchObject({ kind: "pending", jobDigest: expect.stringMatching(/^008c1f1a/) });
    const checkpoints = createCheckpoints({ backend, writes, clock: systemClock });
    expect(await checkpoints.open("catchup/missed")).toEqual({ kind: "done", value: null });
    expect(await checkpoints.write(dagCatchupStream("tick"), "open", at("09:30:00"))).toBe(true);
    expect(await checkpoints.open(dagCatchupStream("tick"))).toMatchObject({ value: { watermark: at("09:30:00") } });
  });

  test("INF-2: its crash: the runs it left open are closed, and which are owed depends on the job", async () => {
    const { backend, writes, ledger, log } = await open("crashed-store", "Demo.App");
    const inFlight = createInFlightRuns({
      self: { host: "nodea", proc: "0123456789ab" },
      backend,
      writes,
      ledger,
      processes: { look: () => ({ kind: "gone" }) },
      clock: systemClock,
      log,
    });
    const jobs = ["ok-job", "slow", "slow-once", "Flaky Job/1"].map(
      (name) => ({ name, onMissed: name === "slow-once" ? "run-once" : "skip" }) as const,
    );
    const found = await inFlight.reconcileHere(jobs, () => false);
    expect(found.map(({ job, row }) => [job, row.owed]).sort()).toEqual([
      ["slow", false],
      ["slow-once", true],
    ]);
    await writes.flush(5000);
    expect(await ledger.lastRunAt("slow")).toEqual({ kind: "done", value: at("09:27:05.733415") });
    expect(await inFlight.reconcileHere(jobs, () => false)).toEqual([]);
  });

  test("F31, F60: hostile files cost themselves only", async () => {
    const { ledger } = await open("store", "poison");
    expect((await ledger.lastRunAt("victim")).kind).toBe("failed"); // strict: a newer build's record stands there
    const rows = await ledger.newest("victim", 50);
    const value = rows.kind === "done" ? rows.value : [];
    expect(value.map((row) => (row.kind === "ran" ? row.outcome : row.kind))).toEqual([
      "success",
      "failure",
      "success",
      "skipped",
      "success",
    ]);
    expect(latestOf(value.filter((row) => row.kind === "ran"))).toMatchObject({ outcome: "failure" });
    expect(await ledger.lastRunAt("victim")).toEqual({ kind: "done", value: at("09:26:00") });
    expect(await ledger.lastCompletedAt("victim")).toEqual({ kind: "done", value: at("09:25:00.5") });
    expect(await ledger.lastRunAt("clean")).toEqual({ kind: "done", value: at("09:20:00.1") });
  });
});
