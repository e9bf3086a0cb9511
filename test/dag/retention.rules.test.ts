import { describe, expect, test } from "vitest";
import {
  dateToRemember,
  excessRuns,
  isStillListed,
  type ListedRun,
  referencedRuns,
} from "../../src/dag/retention.rules.ts";
import { freshRun } from "../../src/dag/run-document.ts";
import { dagOf, IDENTITY } from "./run-on-paper.ts";

const run = (n: number, fields: Partial<ListedRun> = {}): ListedRun => ({
  runKey: `k${n}`,
  runId: `id${n}`,
  createdAt: n,
  state: "success",
  logicalDate: null,
  ...fields,
});
const keys = (runs: readonly ListedRun[]) => runs.map(({ runKey }) => runKey);

test("D-RET-2: the newest finished runs stay, the others go, the oldest first", () => {
  const runs = [5, 1, 4, 2, 3].map((n) => run(n, { state: n === 4 ? "failed" : "success" }));
  expect(keys(excessRuns(runs, 3, new Set()))).toEqual(["k1", "k2"]);
  expect(excessRuns(runs, 5, new Set())).toEqual([]);
});

test("D-RET-1, D-RET-2: active runs neither count nor go, however old", () => {
  const runs = [run(1, { state: "running" }), run(2), run(3), run(4, { state: "running" })];
  expect(keys(excessRuns(runs, 1, new Set()))).toEqual(["k2"]);
});

test("D-RET-5: what a recovery references stays, even above the bound", () => {
  expect(keys(excessRuns([run(1), run(2), run(3)], 1, new Set(["k1"])))).toEqual(["k2"]);
});

test("of runs created at the same instant the order is that of their keys", () => {
  const runs = ["b", "a", "c"].map((runKey) => run(1, { runKey }));
  expect(keys(excessRuns(runs, 1, new Set()))).toEqual(["a", "b"]);
});

describe("D-RET-6: a run goes only while it still is the finished one that was listed", () => {
  const document = { ...freshRun(dagOf([{ id: "a" }]), IDENTITY, 7), state: "success" as const };
  const listed = run(7, { runId: IDENTITY.runId });
  test("the same", () => expect(isStillListed(document, listed)).toBe(true));
  test("created again by a backfill", () => expect(isStillListed({ ...document, runId: "other" }, listed)).toBe(false));
  test("a recovery accepted again: same run id, later creation", () =>
    expect(isStillListed({ ...document, createdAt: 8 }, listed)).toBe(false));
  test("active", () => expect(isStillListed({ ...document, state: "running" }, listed)).toBe(false));
});

test("D-RET-5: references are the sources of recoveries being prepared and of batches that are not through", () => {
  const recovery = (sourceRunKey: string, status: string) => ({
    state: "running" as const,
    recovery: { sourceRunKey, status },
  });
  const runs = [recovery("a", "preparing"), recovery("b", "ready"), { state: "running" as const, recovery: null }];
  const batches = [
    { complete: false, plans: [{ sourceRunKey: "c" }, { sourceRunKey: "d" }] },
    { complete: true, plans: [{ sourceRunKey: "e" }] },
    { complete: false },
  ];
  expect([...referencedRuns(runs, batches)]).toEqual(["a", "c", "d"]);
  expect([...referencedRuns([{ ...recovery("x", "preparing"), state: "failed" }], [])]).toEqual([]);
});

describe("D-CAT-6: the newest logical date is written down before its run goes", () => {
  const old = run(9, { logicalDate: "2026-01-01T02:00:00+00:00" });
  const newest = run(1, { logicalDate: "2026-09-01T02:00:00+00:00" });
  const manual = run(2);
  test("when it goes", () =>
    expect(dateToRemember([old, newest, manual], [newest, manual])).toBe(Date.UTC(2026, 8, 1, 2)));
  test("not when it stays", () => expect(dateToRemember([old, newest, manual], [old, manual])).toBeNull());
  test("not when there is none", () => expect(dateToRemember([manual], [manual])).toBeNull());
});
