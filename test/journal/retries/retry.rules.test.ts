import { describe, expect, test } from "vitest";
import type { RetryFacts } from "../../../src/journal/retries/retry.rules.ts";
import { claimability, launchOwner, rearmament } from "../../../src/journal/retries/retry.rules.ts";
import {
  type HandoffRecord,
  type PendingRecord,
  type RetryRecord,
  retryRecord,
} from "../../../src/journal/retries/retry-record.ts";
import { encodeJson } from "../../../src/store/json-text.ts";
import { NOON } from "../support/journal-bench.ts";

const second = 1000;

const pending: PendingRecord = {
  kind: "pending",
  attempt: 2,
  notBefore: NOON + 30 * second,
  jobDigest: "d1",
  host: "nodea",
  at: NOON,
  claimedFrom: null,
};
const handoff: HandoffRecord = {
  kind: "handoff",
  attempt: 2,
  notBefore: NOON + 20 * second,
  jobDigest: "d1",
  fromHost: "nodea",
  at: NOON + 20 * second,
  armedAt: NOON,
};
const settled: RetryRecord = { kind: "settled", reason: "launched", host: "nodea", at: NOON, attempt: 2 };

const facts: RetryFacts = {
  host: "nodea",
  now: NOON + 10 * second,
  jobDigest: "d1",
  enabled: true,
  maximumRetries: 5,
  startingDeadlineSeconds: null,
  busy: false,
  lastCompletedAt: NOON,
};

describe("state 12: records", () => {
  const bytes = (record: RetryRecord): string => {
    const encoded = encodeJson(retryRecord.encode(record));
    return encoded.kind === "text" ? encoded.text : encoded.problem;
  };

  test.each<[RetryRecord, string]>([
    [
      {
        ...pending,
        at: Date.UTC(2026, 10, 30, 8, 49, 0, 33) + 0.785,
        notBefore: Date.UTC(2026, 10, 30, 8, 49, 2, 33) + 0.759,
      },
      '{"at":"2026-11-30T08:49:00.033785+00:00","attempt":2,"host":"nodea","jobDigest":"d1","kind":"pending","notBefore":"2026-11-30T08:49:02.033759+00:00"}',
    ],
    [settled, '{"at":"2026-11-30T12:00:00+00:00","attempt":2,"host":"nodea","kind":"settled","reason":"launched"}'],
    [
      handoff,
      '{"armedAt":"2026-11-30T12:00:00+00:00","at":"2026-11-30T12:00:20+00:00","attempt":2,"fromHost":"nodea","jobDigest":"d1","kind":"handoff","notBefore":"2026-11-30T12:00:20+00:00"}',
    ],
    [
      { ...pending, claimedFrom: "nodeb" },
      '{"at":"2026-11-30T12:00:00+00:00","attempt":2,"claimedFrom":"nodeb","host":"nodea","jobDigest":"d1","kind":"pending","notBefore":"2026-11-30T12:00:30+00:00"}',
    ],
  ])("are written as other implementations write them, and read back: %#", (record, text) => {
    expect(bytes(record)).toBe(text);
    expect(retryRecord.decode(retryRecord.encode(record))).toEqual({ kind: "record", value: record });
  });

  test("RSM-7, F-48: a kind this build does not know is no retry", () => {
    expect(retryRecord.decode({ kind: "lent", attempt: 1 }).kind).toBe("damaged");
  });
});

describe("RET-9: what becomes of a record at start", () => {
  test("RET-5: a pending retry goes on where it was, at its absolute instant", () => {
    expect(rearmament(pending, facts, null)).toEqual({
      next: "arm",
      retry: { attempt: 2, dueAt: NOON + 30 * second, armedAt: NOON },
    });
  });

  test.each<[string, RetryRecord | null, Partial<RetryFacts>]>([
    ["busy", pending, { busy: true }],
    ["nothing pending", null, {}],
    ["nothing pending", settled, {}],
    ["nothing pending", handoff, {}],
    ["another host's", { ...pending, host: "nodeb" }, { jobDigest: "d2" }],
    ["another host's", { kind: "invalid pending", host: "nodeb" }, {}],
  ])("left alone: %s", (because, record, over) =>
    expect(rearmament(record, { ...facts, ...over }, null)).toEqual({ next: "leave", because }),
  );

  test.each<[string, RetryRecord, Partial<RetryFacts>]>([
    ["invalid-record", { kind: "invalid pending", host: "nodea" }, {}],
    ["invalid-record", { kind: "invalid pending", host: null }, {}],
    ["config-changed", pending, { jobDigest: "d2" }],
    ["config-changed", pending, { maximumRetries: 0 }],
    ["superseded-by-run", pending, { lastCompletedAt: NOON + 1 }],
    ["disabled", pending, { enabled: false }],
    ["exhausted", pending, { maximumRetries: 1 }],
    ["deadline-passed", pending, { startingDeadlineSeconds: 60, now: NOON + 91 * second }],
  ])("RET-6: settled as %s", (reason, record, over) =>
    expect(rearmament(record, { ...facts, ...over }, null)).toMatchObject({ next: "settle", reason }),
  );

  test("the first that applies is the reason", () => {
    const all = { jobDigest: "d2", lastCompletedAt: NOON + 1, enabled: false, maximumRetries: 1 };
    expect(rearmament(pending, { ...facts, ...all }, null)).toMatchObject({ reason: "config-changed" });
    expect(rearmament(pending, { ...facts, ...all, jobDigest: "d1" }, null)).toMatchObject({
      reason: "superseded-by-run",
    });
    expect(rearmament(pending, { ...facts, enabled: false, maximumRetries: 1 }, null)).toMatchObject({
      reason: "disabled",
    });
  });

  test("the last attempt of the budget and unlimited retries are armed", () => {
    expect(rearmament(pending, { ...facts, maximumRetries: 2 }, null).next).toBe("arm");
    expect(rearmament({ ...pending, attempt: 4000 }, { ...facts, maximumRetries: "unlimited" }, null).next).toBe("arm");
  });

  test("RET-11: a run that ended before the retry was armed leaves it, whenever it was recorded", () => {
    expect(rearmament(pending, { ...facts, lastCompletedAt: NOON }, null).next).toBe("arm");
  });

  test("the deadline is met on the second, and none means none", () => {
    const late = { startingDeadlineSeconds: 60, now: NOON + 90 * second };
    expect(rearmament(pending, { ...facts, ...late }, null).next).toBe("arm");
    expect(rearmament(pending, { ...facts, now: NOON + 1e9 }, null).next).toBe("arm");
  });

  test("RET-8: of an @reboot job only while its boot run has been this boot", () => {
    expect(rearmament(pending, facts, { covered: true }).next).toBe("arm");
    expect(rearmament(pending, facts, { covered: false })).toMatchObject({ reason: "superseded-by-reboot" });
  });
});

describe("RSM-3, F-44: what a new owner may claim", () => {
  const here: RetryFacts = { ...facts, host: "nodeb" };

  test("a handoff at once", () => {
    expect(claimability(handoff, here)).toEqual({ next: "claim", record: handoff, from: "nodea" });
  });

  test("a foreign pending retry thirty seconds after it was due, or after it was armed if that is later", () => {
    const due = NOON + 60 * second;
    expect(claimability(pending, { ...here, now: due - 1 }).next).toBe("leave");
    expect(claimability(pending, { ...here, now: due })).toEqual({ next: "claim", record: pending, from: "nodea" });
    const armedLate = { ...pending, at: NOON + 300 * second };
    expect(claimability(armedLate, { ...here, now: NOON + 329 * second }).next).toBe("leave");
    expect(claimability(armedLate, { ...here, now: NOON + 330 * second }).next).toBe("claim");
  });

  test.each<[string, RetryRecord | null, Partial<RetryFacts>]>([
    ["its own", { ...pending, host: "nodeb" }, { now: NOON + 1e6 }],
    ["one that is settled", settled, {}],
    ["one that says nothing", { kind: "invalid pending", host: "nodea" }, {}],
    ["none", null, {}],
    ["one of a job that runs or retries here", handoff, { busy: true }],
    ["a pending one of another definition", pending, { jobDigest: "d2", now: NOON + 1e6 }],
    ["a pending one of a disabled job", pending, { enabled: false, now: NOON + 1e6 }],
    ["a pending one beyond the budget", pending, { maximumRetries: 1, now: NOON + 1e6 }],
    ["a pending one past the deadline", pending, { startingDeadlineSeconds: 5, now: NOON + 1e6 }],
    ["a pending one that a newer run here has superseded", pending, { lastCompletedAt: NOON + 1, now: NOON + 1e6 }],
  ])("RSM-4: never %s, and it settles nothing", (_, record, over) =>
    expect(claimability(record, { ...here, ...over })).toEqual({ next: "leave" }),
  );
});

test.each<[string, Partial<RetryFacts>]>([
  ["deadline-passed", { startingDeadlineSeconds: 5, now: NOON + 26 * second }],
  ["superseded-by-run", { lastCompletedAt: NOON + 1 }],
  ["config-changed", { jobDigest: "d2" }],
  ["disabled", { enabled: false }],
  ["exhausted", { maximumRetries: 1 }],
])("RSM-4: a handoff, which is nobody's, is settled when its owner cannot go on with it: %s", (reason, over) => {
  expect(claimability(handoff, { ...facts, host: "nodeb", ...over })).toEqual({
    next: "settle",
    record: handoff,
    reason,
  });
});

describe("RSM-5, F-46: who may launch a due retry", () => {
  test.each<[RetryRecord | null, ReturnType<typeof launchOwner>]>([
    [pending, "ours"],
    [settled, "ours"],
    [handoff, "ours"],
    [null, "ours"],
    [{ kind: "invalid pending", host: null }, "ours"],
    [{ ...pending, host: "nodeb" }, { foreign: "nodeb" }],
    [{ kind: "settled", reason: "launched", host: "nodeb", at: 0, attempt: 2 }, { foreign: "nodeb" }],
  ])("%j: %j", (record, owner) => expect(launchOwner(record, "nodea")).toEqual(owner));
});
