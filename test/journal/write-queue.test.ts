import { expect, test } from "vitest";
import { writeKinds } from "../../src/journal/drops.ts";
import { FLUSH_PATIENCE_MS, PENDING_WRITES_MAX } from "../../src/journal/limits.ts";
import { settled } from "../../src/platform/simulated-clock.ts";
import type { Outcome } from "../../src/store/store.ts";
import { journalBench } from "./support/journal-bench.ts";

const landed: Outcome<unknown> = { kind: "done", value: null };

/** A write that ends when told to. */
function held() {
  let end = (_: Outcome<unknown>): void => {};
  const answer = new Promise<Outcome<unknown>>((resolve) => {
    end = resolve;
  });
  return { write: () => answer, end };
}

test("WRT-4: writes of one chain begin one after the other, other chains do not wait", async () => {
  const { writes } = journalBench();
  const begun: string[] = [];
  const slow = held();
  const note = (name: string) => async (): Promise<Outcome<unknown>> => {
    begun.push(name);
    return landed;
  };
  void writes.add("runs/a", "run-record", "a", slow.write);
  void writes.add("runs/a", "run-record", "a", note("a2"));
  void writes.add("runs/b", "run-record", "b", note("b1"));
  await settled();
  expect(begun).toEqual(["b1"]);
  expect([writes.busy("runs/a"), writes.busy("runs/b")]).toEqual([true, false]);
  slow.end({ kind: "failed", failure: { reason: "io", message: "the disk is full" } });
  await writes.settled("runs/a");
  expect(begun).toEqual(["b1", "a2"]);
  expect(writes.pending).toBe(0);
});

test("WRT-1: a lost write is counted by its kind and warned of once", async () => {
  const { writes, drops, logged } = journalBench();
  await writes.add("c", "retry", "backup", async () => ({ kind: "failed", failure: { reason: "io", message: "EIO" } }));
  await writes.add("c", "retry", "backup", async () => ({ kind: "unknown", because: "no answer within 10 s" }));
  await writes.add("c", "retry", "backup", async () => landed);
  await writes.add("c", "manifest", "nodea", () => Promise.reject(new Error("the body is malformed")));
  expect(drops.counts()).toEqual({ ...Object.fromEntries(writeKinds.map((kind) => [kind, 0])), retry: 2, manifest: 1 });
  expect(logged).toEqual([
    "WARNING state: dropped a durable write (retry) of backup: EIO",
    "WARNING state: dropped a durable write (retry) of backup: no answer within 10 s",
    "WARNING state: dropped a durable write (manifest) of nodea: the body is malformed",
  ]);
});

test("WRT-3: with 8192 writes pending one more is shed as overflow and its caller is told at once", async () => {
  const { writes, drops } = journalBench();
  const stuck = held();
  for (let n = 0; n < PENDING_WRITES_MAX; n++) void writes.add(`runs/${n}`, "run-record", `${n}`, stuck.write);
  expect(await writes.add("runs/x", "run-record", "x", stuck.write)).toEqual({ kind: "shed" });
  expect([writes.pending, drops.counts().overflow, drops.counts()["run-record"]]).toEqual([PENDING_WRITES_MAX, 1, 0]);
  stuck.end(landed);
  expect(await writes.flush(0)).toBe(0);
});

test("WRT-3: what the store itself sheds counts as overflow, not as its kind", async () => {
  const { writes, drops } = journalBench();
  await writes.add("c", "run-record", "a", async () => ({
    kind: "failed",
    failure: { reason: "overflow", message: "8192 operations are waiting already" },
  }));
  expect([drops.counts().overflow, drops.counts()["run-record"]]).toEqual([1, 0]);
});

test("GEN-7: a flush ends when all is written, or after its patience with what is left", async () => {
  const { writes, pass } = journalBench();
  const slow = held();
  void writes.add("c", "counters", "nodea", slow.write);
  const inVain = writes.flush(FLUSH_PATIENCE_MS);
  await pass(FLUSH_PATIENCE_MS);
  expect(await inVain).toBe(1);
  const flushed = writes.flush(FLUSH_PATIENCE_MS);
  slow.end(landed);
  expect(await flushed).toBe(0);
});
