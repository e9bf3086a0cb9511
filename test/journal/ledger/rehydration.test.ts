import { describe, expect, test } from "vitest";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { rehydrate, type WarmedHistory } from "../../../src/journal/ledger/rehydration.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { failing, hanging, journalBench, NOON } from "../support/journal-bench.ts";
import { failed, ran, skipped } from "../support/rows.ts";

const second = 1000;

function start() {
  const bench = journalBench();
  const { backend, writes, log } = bench;
  const ledger = createLedger({ backend, writes, maxRunsPerJob: () => 1000 });
  const warmed = new Map<string, WarmedHistory>();
  const warm = (names: readonly string[], wantsLastSuccess = false): Promise<void> =>
    rehydrate(
      { backend, ledger, log },
      names.map((name) => ({ name, wantsLastSuccess })),
      (job, history) => warmed.set(job, history),
    );
  return { ...bench, warmed, warm };
}

describe("REH-1: history comes back from the ledger", () => {
  test("REH-3: the newest fifty rows of each job, in finish order", async () => {
    const { warm, warmed, put, logged } = start();
    for (let n = 0; n < 60; n++) await put("runs/backup", runRecord.encode(ran(NOON + n * second)));
    await put("runs/backup", runRecord.encode(failed(NOON + 30.5 * second)));
    await put("runs/other", runRecord.encode(ran(NOON)));
    await warm(["backup", "other", "never-ran"]);
    const rows = warmed.get("backup")?.rows ?? [];
    expect(rows).toHaveLength(50);
    expect(rows.at(-1)).toMatchObject({ finishedAt: NOON + 59 * second });
    expect(rows[20]).toMatchObject({ outcome: "failure" });
    expect([...warmed.keys()].sort()).toEqual(["backup", "other"]);
    expect(logged).toEqual(["INFO state: rehydrated run history for 2 job(s) from the ledger"]);
  });

  test("REH-3: a row without finished_at is ordered by interruptedAt", async () => {
    const { warm, warmed, put } = start();
    await put("runs/backup", runRecord.encode(ran(NOON)));
    await put(
      "runs/backup",
      runRecord.encode({ kind: "interrupted", interruptedAt: NOON - second, owed: true, failReason: "cut" }),
    );
    await warm(["backup"]);
    expect(warmed.get("backup")?.rows.map(({ kind }) => kind)).toEqual(["interrupted", "ran"]);
  });

  test("REH-4: with the watermarks they add up to", async () => {
    const { warm, warmed, put } = start();
    for (const row of [failed(NOON + 2 * second), ran(NOON + second), skipped(NOON + 3 * second)])
      await put("runs/backup", runRecord.encode(row));
    await warm(["backup"]);
    expect(warmed.get("backup")).toMatchObject({
      lastVerdict: { outcome: "failure" },
      lastCompletedAt: NOON + 2 * second,
      successReference: { at: NOON + second, isSuccess: true },
    });
  });

  test("REH-4: the last success of a maxTimeSinceSuccess job is looked for deeper, else the oldest record stands for it", async () => {
    const { warm, warmed, put } = start();
    await put("runs/backup", runRecord.encode(failed(NOON - second)));
    await put("runs/backup", runRecord.encode(ran(NOON)));
    for (let n = 1; n <= 60; n++) await put("runs/backup", runRecord.encode(failed(NOON + n * second)));
    await put("runs/broken", runRecord.encode(failed(NOON)));
    await put("runs/broken", runRecord.encode(failed(NOON + second)));
    await warm(["backup", "broken"], true);
    expect(warmed.get("backup")?.successReference).toEqual({ at: NOON, isSuccess: true });
    expect(warmed.get("broken")?.successReference).toEqual({ at: NOON, isSuccess: false });
    await warm(["backup"], false);
    expect(warmed.get("backup")?.successReference).toEqual({ at: NOON + 11 * second, isSuccess: false });
  });

  test("at most sixteen jobs are read at a time", async () => {
    const { warm, put, behave, pass } = start();
    const names = Array.from({ length: 40 }, (_, n) => `job-${n}`);
    for (const name of names) await put(`runs/${name}`, runRecord.encode(ran(NOON)));
    let asked = 0;
    behave((operation) => {
      if (operation !== "listRecords") return { kind: "answer" };
      asked++;
      return { kind: "silent", lands: false };
    });
    const warming = warm(names);
    await pass(9_999);
    expect(asked).toBe(16);
    await pass(1);
    await warming;
  });
});

describe("REH-2: a slow store is no reason to wait", () => {
  test("one read without an answer ends the whole pass, said once", async () => {
    const { warm, warmed, put, behave, pass, logged } = start();
    for (const name of ["a", "b", "c"]) await put(`runs/${name}`, runRecord.encode(ran(NOON)));
    behave(hanging("listRecords"));
    const warming = warm(["a", "b", "c"]);
    await pass(10_000);
    await warming;
    expect(warmed.size).toBe(0);
    expect(logged).toEqual([
      "WARNING state: rehydration timed out reading a; skipping the rest of the warm-up (store unhealthy?)",
    ]);
  });

  test("REH-3: an error of one job skips that job", async () => {
    const { warm, warmed, put, behave } = start();
    for (const name of ["a", "b"]) await put(`runs/${name}`, runRecord.encode(ran(NOON)));
    let first = true;
    behave((operation) => {
      if (operation !== "listRecords" || !first) return { kind: "answer" };
      first = false;
      return { kind: "fail", message: "stale file handle" };
    });
    await warm(["a", "b"]);
    expect([...warmed.keys()]).toEqual(["b"]);
  });

  test("a store that cannot list its streams skips everything with a warning", async () => {
    const { warm, behave, logged } = start();
    behave(failing());
    await warm(["a"]);
    expect(logged).toEqual([
      "WARNING state: run history cannot be rehydrated (the disk is full); it fills in as jobs run",
    ]);
  });
});
