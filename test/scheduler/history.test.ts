import { describe, expect, test } from "vitest";
import type { InterruptedRow } from "../../src/contract/history.ts";
import { jobHistory } from "../../src/scheduler/history.ts";
import { failed, ran, skipped } from "../journal/support/rows.ts";

const cut = (interruptedAt: number): InterruptedRow => ({
  kind: "interrupted",
  interruptedAt,
  owed: false,
  failReason: "cut",
});

describe("RUN-4, RUN-8: the last run", () => {
  test("is the one that finished last, of equals the later one; skipped slots are none", () => {
    const history = jobHistory();
    const [newer, older] = [ran(2000), failed(1000)];
    history.add(newer);
    history.add(older);
    history.add(skipped(9000));
    expect(history.lastRun()).toBe(newer);
    const equal = failed(2000);
    history.add(equal);
    expect(history.lastRun()).toBe(equal);
  });

  test("RUN-6: listings stay as they were observed", () => {
    const history = jobHistory();
    history.warm([ran(1000), ran(3000)]);
    history.add(ran(2000));
    expect(history.rows.map((row) => row.kind === "ran" && row.finishedAt)).toEqual([1000, 3000, 2000]);
  });

  test("RUN-5: a run of this node that a crash cut is the last one whatever its instant, until another run ends", () => {
    const history = jobHistory();
    history.warm([ran(5000)]);
    const row = cut(3000);
    history.addCut(row);
    expect(history.lastRun()).toBe(row);
    history.add(skipped(9000));
    expect(history.lastRun()).toBe(row);
    const next = ran(9000);
    history.add(next);
    expect(history.lastRun()).toBe(next);
  });

  test("RUN-5: one of another node takes its place by its instant", () => {
    const history = jobHistory();
    const newer = ran(5000);
    history.add(newer);
    history.add(cut(3000));
    expect(history.lastRun()).toBe(newer);
    const newest = cut(6000);
    history.add(newest);
    expect(history.lastRun()).toBe(newest);
  });
});

test("REH-1: what memory has wins over what is warmed", () => {
  const history = jobHistory();
  history.add(ran(5000));
  history.warm([ran(1000)]);
  expect(history.rows).toHaveLength(1);
});

test("fifty rows are kept, the oldest go", () => {
  const history = jobHistory();
  for (let n = 0; n < 60; n++) history.add(ran(n));
  expect([history.rows.length, history.lastRun()]).toEqual([50, ran(59)]);
});
