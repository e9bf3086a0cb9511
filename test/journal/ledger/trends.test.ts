import { expect, test } from "vitest";
import { createLedger } from "../../../src/journal/ledger/ledger.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { createTrendBook } from "../../../src/journal/ledger/trends.ts";
import { failing, hanging, journalBench, NOON } from "../support/journal-bench.ts";
import { failed, ran } from "../support/rows.ts";

function start() {
  const bench = journalBench();
  const ledger = createLedger({ backend: bench.backend, writes: bench.writes, maxRunsPerJob: () => 1000 });
  let reads = 0;
  const counted: Pick<typeof ledger, "newest"> = {
    newest(job, limit) {
      reads++;
      return ledger.newest(job, limit);
    },
  };
  return { ...bench, trends: createTrendBook(counted, bench.clock), reads: () => reads };
}

test("TRD-1: answers from the ledger, every window", async () => {
  const { trends, put } = start();
  await put("runs/backup", runRecord.encode(ran(NOON - 2 * 3600_000)));
  await put("runs/backup", runRecord.encode(failed(NOON - 60_000)));
  const answer = await trends.of("backup", () => []);
  expect(answer).toMatchObject({ source: "durable", generatedAt: NOON });
  expect([answer.windows["1h"].total, answer.windows["24h"].total, answer.windows.all.successRate]).toEqual([
    1, 2, 0.5,
  ]);
});

test("TRD-3: is kept for five seconds, shared by those who ask at once, and forgotten when the job finishes a run here", async () => {
  const { trends, put, reads, pass } = start();
  await put("runs/backup", runRecord.encode(ran(NOON)));
  await Promise.all([trends.of("backup", () => []), trends.of("backup", () => [])]);
  await pass(4_999);
  await trends.of("backup", () => []);
  expect(reads()).toBe(1);
  await pass(1);
  await trends.of("backup", () => []);
  expect(reads()).toBe(2);
  trends.forget("backup");
  await trends.of("backup", () => []);
  expect(reads()).toBe(3);
});

test("TRD-3: without the store it answers from memory, and asks the store again the next time", async () => {
  const { trends, put, behave } = start();
  await put("runs/backup", runRecord.encode(ran(NOON)));
  behave(failing());
  expect(await trends.of("backup", () => [failed(NOON)])).toMatchObject({
    source: "memory",
    windows: { all: { failure: 1 } },
  });
  behave(null);
  expect(await trends.of("backup", () => [])).toMatchObject({ source: "durable" });
});

test("TRD-3: a store that hangs costs ten seconds, not the answer", async () => {
  const { trends, behave, pass } = start();
  behave(hanging());
  const asked = trends.of("backup", () => [ran(NOON)]);
  await pass(10_000);
  expect(await asked).toMatchObject({ source: "memory", windows: { all: { success: 1 } } });
});
