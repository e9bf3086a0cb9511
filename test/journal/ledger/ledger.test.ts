import { describe, expect, test } from "vitest";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { failing, hanging, journalBench, NOON } from "../support/journal-bench.ts";
import { failed, ran, skipped } from "../support/rows.ts";

const second = 1000;

function start(maxRunsPerJob = 1000) {
  const bench = journalBench();
  const { backend, writes } = bench;
  return { ...bench, ledger: createLedger({ backend, writes, maxRunsPerJob: () => maxRunsPerJob }) };
}

describe("RUN-1: every finished run is appended", () => {
  test("and pruned to maxRunsPerJob", async () => {
    const { ledger, bodies, writes } = start(5);
    for (let n = 0; n < 20; n++) ledger.record("backup", ran(NOON + n * second));
    await writes.settled("runs/backup");
    const rows = await bodies("runs/backup");
    expect(rows.length).toBeLessThanOrEqual(12);
    expect(rows.at(-1)).toMatchObject({ outcome: "success", finished_at: "2026-11-30T12:00:19+00:00" });
  });

  test("OPS-4: of maxRunsPerJob 1 two records stay", async () => {
    const { ledger, bodies, writes } = start(1);
    for (let n = 0; n < 4; n++) ledger.record("backup", ran(NOON + n * second));
    await writes.settled("runs/backup");
    expect(await bodies("runs/backup")).toHaveLength(2);
  });

  test("maxRunsPerJob 0 keeps all", async () => {
    const { ledger, bodies, writes } = start(0);
    for (let n = 0; n < 30; n++) ledger.record("backup", ran(NOON + n * second));
    await writes.settled("runs/backup");
    expect(await bodies("runs/backup")).toHaveLength(30);
  });

  test("GEN-6: while the backend is away the row is dropped and counted, and the next one lands when it is back", async () => {
    const { ledger, bodies, writes, drops, unplug, plugIn } = start();
    unplug();
    ledger.record("backup", ran(NOON));
    await writes.settled("runs/backup");
    plugIn();
    ledger.record("backup", ran(NOON + second));
    await writes.settled("runs/backup");
    expect(drops.counts()["run-record"]).toBe(1);
    expect(await bodies("runs/backup")).toHaveLength(1);
  });
});

describe("WM-1: when the last slot was dealt with", () => {
  test("counts skipped slots: a pause leaves nothing owed", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON)));
    await put("runs/backup", runRecord.encode(skipped(NOON + second)));
    expect(await ledger.lastRunAt("backup")).toEqual({ kind: "done", value: NOON + second });
  });

  test("RUN-3: is the newest finish, not the last record", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON + second)));
    await put("runs/backup", runRecord.encode(ran(NOON)));
    expect(await ledger.lastRunAt("backup")).toEqual({ kind: "done", value: NOON + second });
  });

  test("is nothing for a job nobody ran, and no answer is no nothing", async () => {
    const { ledger, behave } = start();
    expect(await ledger.lastRunAt("backup")).toEqual({ kind: "done", value: null });
    behave(failing("maxOfField"));
    expect((await ledger.lastRunAt("backup")).kind).toBe("failed");
  });

  test("INF-8: an interrupted run whose slot is owed leaves it where it was", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON)));
    const cut = { kind: "interrupted", interruptedAt: NOON + 60 * second, failReason: "cut" } as const;
    await put("runs/backup", runRecord.encode({ ...cut, owed: true }));
    expect(await ledger.lastRunAt("backup")).toEqual({ kind: "done", value: NOON });
    await put("runs/backup", runRecord.encode({ ...cut, owed: false }));
    expect(await ledger.lastRunAt("backup")).toEqual({ kind: "done", value: NOON + 60 * second });
  });
});

describe("WM-2: when a run last ended", () => {
  test("passes over skipped slots", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON)));
    await put("runs/backup", runRecord.encode(skipped(NOON + second)));
    expect(await ledger.lastCompletedAt("backup")).toEqual({ kind: "done", value: NOON });
  });

  test("understands rows of builds that did not write ranAt, also far back", async () => {
    const { ledger, put } = start();
    await put("runs/backup", {
      outcome: "failure",
      finished_at: "2026-11-30T11:00:00+00:00",
      started_at: "2026-11-30T10:59:00+00:00",
    });
    for (let n = 0; n < 60; n++) await put("runs/backup", runRecord.encode(skipped(NOON + n * second)));
    expect(await ledger.lastCompletedAt("backup")).toEqual({ kind: "done", value: Date.parse("2026-11-30T11:00:00Z") });
  });

  test("F-47: is the instant the run ended, not the one it was recorded at", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON + 30 * second, { ranAt: NOON })));
    expect(await ledger.lastCompletedAt("backup")).toEqual({ kind: "done", value: NOON });
  });
});

describe("DEP-7: the newest verdict on record", () => {
  test("is taken by finish instant among the newest eight", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(failed(NOON + second)));
    await put("runs/backup", runRecord.encode(ran(NOON)));
    expect(await ledger.lastVerdict("backup")).toMatchObject({
      value: { outcome: "failure", finishedAt: NOON + second },
    });
  });

  test("is looked for deeper when those are all skipped, cancelled or unknown", async () => {
    const { ledger, put } = start();
    await put("runs/backup", runRecord.encode(failed(NOON)));
    for (let n = 1; n <= 20; n++) await put("runs/backup", runRecord.encode(skipped(NOON + n * second)));
    await put("runs/backup", runRecord.encode(ran(NOON + 30 * second, { outcome: "cancelled" })));
    expect(await ledger.lastVerdict("backup")).toMatchObject({ value: { outcome: "failure" } });
  });

  test("WRT-2: is nothing for a job without one, and no answer within ten seconds is no answer", async () => {
    const { ledger, behave, pass } = start();
    expect(await ledger.lastVerdict("backup")).toEqual({ kind: "done", value: null });
    behave(hanging("listRecords"));
    const asked = ledger.lastVerdict("backup");
    await pass(10_000);
    expect((await asked).kind).toBe("unknown");
  });
});
