import { describe, expect, test } from "vitest";
import type { HistoryRow } from "../../../src/contract/history.ts";
import { runRecord } from "../../../src/journal/ledger/run-record.ts";
import { isObject, type JsonObject } from "../../../src/store/json.ts";
import { encodeJson, parseJson } from "../../../src/store/json-text.ts";
import { ran, skipped } from "../support/rows.ts";

function read(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error("not an object");
  return value;
}

const bytes = (row: HistoryRow): string => {
  const encoded = encodeJson(runRecord.encode(row));
  if (encoded.kind !== "text") throw new Error(encoded.problem);
  return encoded.text;
};

const decoded = (text: string): HistoryRow | string => {
  const found = runRecord.decode(read(text));
  return found.kind === "record" ? found.value : found.reason;
};

describe("RUN-2: rows of the ledger", () => {
  const finishedAt = Date.UTC(2026, 10, 30, 8, 49, 0, 32) + 0.813;
  const failure = ran(finishedAt, {
    runId: null,
    trigger: null,
    outcome: "failure",
    exitCode: 3,
    startedAt: Date.UTC(2026, 10, 30, 8, 49, 0, 8) + 0.467,
    failReason: "command exited with code 3",
  });

  test("a run has the bytes other implementations write", () => {
    expect(bytes(failure)).toBe(
      '{"duration":0.024346,"exit_code":3,"fail_reason":"command exited with code 3",' +
        '"finished_at":"2026-11-30T08:49:00.032813+00:00","outcome":"failure","ranAt":"2026-11-30T08:49:00.032813+00:00",' +
        '"resources":null,"skip_reason":null,"started_at":"2026-11-30T08:49:00.008467+00:00"}',
    );
  });

  test("a slot that a pause held has no start, no exit code and no ranAt", () => {
    const row: HistoryRow = {
      kind: "skipped",
      slot: null,
      finishedAt: Date.UTC(2026, 10, 30, 8, 50),
      skipReason: "paused",
    };
    expect(bytes(row)).toBe(
      '{"duration":null,"exit_code":null,"fail_reason":null,"finished_at":"2026-11-30T08:50:00+00:00","outcome":"skipped",' +
        '"resources":null,"skip_reason":"paused","started_at":null}',
    );
  });

  test("INF-8: an interrupted run stands at its start, as finished_at or, when its slot is owed, as interruptedAt", () => {
    const interruptedAt = Date.UTC(2026, 10, 30, 8, 48, 29, 237) + 0.263;
    const row = { kind: "interrupted", interruptedAt, failReason: "run interrupted: …" } as const;
    expect(bytes({ ...row, owed: true })).toBe(
      '{"duration":null,"exit_code":null,"fail_reason":"run interrupted: \\u2026",' +
        '"interruptedAt":"2026-11-30T08:48:29.237263+00:00","outcome":"unknown","started_at":null}',
    );
    expect(bytes({ ...row, owed: false })).toBe(
      '{"duration":null,"exit_code":null,"fail_reason":"run interrupted: \\u2026",' +
        '"finished_at":"2026-11-30T08:48:29.237263+00:00","outcome":"unknown","ranAt":"2026-11-30T08:48:29.237263+00:00","started_at":null}',
    );
  });

  const full = ran(finishedAt, {
    resources: {
      cpuUserSeconds: 1,
      cpuSystemSeconds: 0.5,
      maxRssBytes: 4096,
      samples: 2,
      series: [[1796028540, 12.5, 4096]],
    },
    verification: {
      outcome: "failed",
      exitCode: 1,
      startedAt: finishedAt - 1000,
      finishedAt,
      reason: "check exited with code 1",
      stdout: "no rows",
      stderr: null,
      outputTruncated: false,
    },
    limits: {
      requested: { cpu: 1, memoryBytes: 67_108_864 },
      enforced: ["memory"],
      notEnforced: [{ cap: "cpu", reason: "the cpu controller is not delegated" }],
      memoryExceeded: false,
      memoryPeakBytes: 4096,
      cpuThrottledSeconds: 0,
      processesPeak: 3,
    },
  });

  test.each<[string, HistoryRow]>([
    ["a run", failure],
    ["a run with all there is", full],
    ["a caught-up run", ran(finishedAt, { trigger: { kind: "catch-up", slot: finishedAt - 60_000 } })],
    ["an operator's run", ran(finishedAt, { trigger: { kind: "manual", by: "alice" } })],
    [
      "an abandoned retry",
      ran(finishedAt, {
        outcome: "cancelled",
        exitCode: null,
        startedAt: null,
        trigger: { kind: "retry", attempt: 2 },
      }),
    ],
    ["a skipped slot", skipped(finishedAt)],
    ["an owed interrupted run", { kind: "interrupted", interruptedAt: finishedAt, owed: true, failReason: "cut" }],
    ["an interrupted run", { kind: "interrupted", interruptedAt: finishedAt, owed: false, failReason: "cut" }],
  ])("%s is read back as it was", (_, row) => expect(decoded(bytes(row))).toEqual(row));

  test("floats stay floats: whole seconds are written as 1.0", () => {
    expect(bytes(full)).toContain('"cpu_total_seconds":1.5,"cpu_user_seconds":1.0,"max_rss_bytes":4096,"samples":2');
  });

  test("an outcome this build does not know is unknown, never a success; unknown fields are passed over", () => {
    const row = decoded(
      '{"outcome":"teleported","started_at":"2026-11-30T08:49:00Z","finished_at":"2026-11-30T08:49:01Z","colour":1}',
    );
    expect(row).toMatchObject({ kind: "ran", outcome: "unknown", runId: null, trigger: null });
    expect(decoded('{"started_at":"2026-11-30T08:49:00Z","finished_at":"2026-11-30T08:49:01Z"}')).toMatchObject({
      outcome: "unknown",
    });
  });

  test("a field another build writes differently does not take the row away", () => {
    const row = decoded(
      '{"outcome":"success","finished_at":"2026-11-30T08:49:01Z","started_at":"2026-11-30T08:49:00Z","exit_code":"zero",' +
        '"resources":{"cpu":1},"trigger":{"kind":"tide"},"limits":7}',
    );
    expect(row).toMatchObject({
      kind: "ran",
      outcome: "success",
      exitCode: null,
      resources: null,
      trigger: null,
      limits: null,
    });
  });

  test("foreign resource series are read in part: finite triples, at most 4096", () => {
    const points = [...Array.from({ length: 5000 }, (_, n) => [n, 1, 2]), "x"];
    const body = JSON.stringify({
      outcome: "success",
      finished_at: "2026-11-30T08:49:01Z",
      started_at: "2026-11-30T08:49:00Z",
      resources: {
        cpu_user_seconds: 1,
        cpu_system_seconds: 1,
        max_rss_bytes: 1,
        samples: 1,
        series: ["x", [1], ...points],
      },
    });
    const row = decoded(body);
    expect(row).toMatchObject({ resources: { series: expect.arrayContaining([[4093, 1, 2]]) } });
    expect(typeof row === "object" && row.kind === "ran" && row.resources?.series.length).toBe(4094);
  });

  test("REH-3: a row that stands at no instant is none", () => {
    expect(decoded('{"outcome":"success","started_at":"2026-11-30T08:49:00Z"}')).toBe("its fields mean nothing");
    expect(decoded('{"outcome":"success","finished_at":"soon"}')).toBe("its fields mean nothing");
  });
});
