import { describe, expect, test } from "vitest";
import { isSameProcess, openRecords } from "../../../src/journal/inflight/inflight.rules.ts";
import type {
  CloseReason,
  DaemonProcess,
  InFlightRecord,
  OpenRecord,
} from "../../../src/journal/inflight/inflight-record.ts";

const open = (host: string, proc: string, startedAt = 0): OpenRecord => ({
  kind: "open",
  host,
  proc,
  pid: 7,
  startedAt,
  jobDigest: "d",
  pidIdentity: null,
  runId: null,
});
const closed = (
  host: string,
  proc: string,
  reason: CloseReason = "finished",
  of: DaemonProcess | null = null,
): InFlightRecord => ({
  kind: "closed",
  host,
  proc,
  at: 0,
  reason,
  of,
});
const left = (...records: InFlightRecord[]): string[] =>
  openRecords(records).map(({ host, proc }) => `${host} ${proc}`);

describe("INF-5: which runs a stream leaves open", () => {
  test("peers interleave, and each daemon's pair is matched by itself", () => {
    expect(left(open("a", "1"), open("b", "2"), closed("a", "1"))).toEqual(["b 2"]);
    expect(left(open("a", "1"), closed("b", "2"))).toEqual(["a 1"]);
    expect(left(open("a", "1"), closed("a", "1"))).toEqual([]);
  });

  test("F57: the end of a new daemon's run does not close what survives of the old one's", () => {
    expect(left(open("a", "old"), open("a", "new"), closed("a", "new"))).toEqual(["a old"]);
  });

  test("a reconciliation closes the run it names", () => {
    expect(
      left(open("a", "1"), open("a", "2"), closed("a", "3", "reconciled-crash", { host: "a", proc: "1" })),
    ).toEqual(["a 2"]);
    expect(
      left(open("a", "1"), open("b", "2"), closed("c", "3", "reconciled-takeover", { host: "a", proc: "1" })),
    ).toEqual(["b 2"]);
  });

  test("one of another build names nobody: after a crash it settles its host's earlier daemons", () => {
    expect(left(open("a", "1"), open("b", "2"), closed("a", "3", "reconciled-crash"))).toEqual(["b 2"]);
    expect(left(open("a", "3"), closed("a", "3", "reconciled-crash"))).toEqual(["a 3"]);
  });

  test("one of another build after a takeover settles the newest foreign run", () => {
    expect(left(open("a", "1"), open("b", "2"), closed("c", "3", "reconciled-takeover"))).toEqual(["a 1"]);
    expect(left(open("c", "3"), closed("c", "3", "reconciled-takeover"))).toEqual(["c 3"]);
  });
});

describe("INF-4: whether a pid is still the recorded run's", () => {
  const record = open("a", "1", 1_000_000);
  const exists = (startedAt: number | null, identity: string | null = null) =>
    ({ kind: "exists", startedAt, identity }) as const;

  test.each([
    ["nothing has the pid", { kind: "gone" } as const, false],
    ["it started before the record", exists(900_000), true],
    ["it started 60 s after the record", exists(1_060_000), true],
    ["it started later than that: a recycled pid", exists(1_060_001), false],
    ["its start cannot be told", exists(null), true],
  ])("%s", (_, sight, same) => expect(isSameProcess(record, sight)).toBe(same));

  test("F58: an innocent process that is older than the record is told apart by its identity", () => {
    const identified = { ...record, pidIdentity: "boot-1/4711" };
    expect(isSameProcess(identified, exists(900_000, "boot-1/12"))).toBe(false);
    expect(isSameProcess(identified, exists(2_000_000, "boot-1/4711"))).toBe(true);
    expect(isSameProcess(identified, exists(900_000, null))).toBe(true);
  });
});
