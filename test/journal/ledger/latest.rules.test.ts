import { describe, expect, test } from "vitest";
import type { HistoryRow } from "../../../src/contract/history.ts";
import {
  inFinishOrder,
  latestCompletionAt,
  latestOf,
  latestSlot,
  latestSuccessAt,
  latestVerdict,
} from "../../../src/journal/ledger/latest.rules.ts";
import { failed, ran, skipped } from "../support/rows.ts";

const cut = (at: number, owed: boolean): HistoryRow => ({
  kind: "interrupted",
  interruptedAt: at,
  owed,
  failReason: "cut",
});

describe("RUN-4: the latest is the one that finished last", () => {
  const inverted = [ran(2000), failed(1000)];

  test("whatever the order of the stream", () => {
    expect(latestOf(inverted)).toBe(inverted[0]);
    expect(latestVerdict(inverted)).toBe(inverted[0]);
    expect(inFinishOrder(inverted)).toEqual([inverted[1], inverted[0]]);
  });

  test("and of one instant the later in the stream", () => {
    const rows = [ran(1000), failed(1000)];
    expect(latestOf(rows)).toBe(rows[1]);
    expect(inFinishOrder(rows)).toEqual(rows);
  });
});

test("DEP-2: cancelled, skipped, interrupted and unknown rows are no verdict", () => {
  const rows = [failed(1), ran(2, { outcome: "cancelled" }), skipped(3), cut(4, false), ran(5, { outcome: "unknown" })];
  expect(latestVerdict(rows)).toBe(rows[0]);
  expect(latestVerdict(rows.slice(1))).toBeNull();
});

test("the last success passes over everything else", () => {
  expect(latestSuccessAt([ran(3), ran(1), failed(9)])).toBe(3);
  expect(latestSuccessAt([failed(9)])).toBeNull();
});

describe("WM-2: the last completion", () => {
  test("is the end of the run, not its record's", () => {
    expect(latestCompletionAt([ran(9000, { ranAt: 5000 })])).toBe(5000);
  });

  test("counts an interrupted run unless its slot is still owed", () => {
    expect(latestCompletionAt([ran(1), cut(5, false)])).toBe(5);
    expect(latestCompletionAt([ran(1), cut(5, true)])).toBe(1);
    expect(latestCompletionAt([skipped(9)])).toBeNull();
  });
});

test("15: the slot that fired last is the newest one that a row tells of, not the last row's", () => {
  const retry = ran(9000, { trigger: { kind: "retry", attempt: 1 } });
  const caughtUp = ran(8000, { trigger: { kind: "catch-up", slot: 1000 } });
  expect(latestSlot([ran(15_000), caughtUp, retry, skipped(20_000), cut(21_000, true)])).toBe(5000);
  expect(latestSlot([retry, ran(3, { trigger: null })])).toBeNull();
});
