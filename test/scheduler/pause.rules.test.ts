import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decidePause,
  excuses,
  pauseInForce,
  pauseRequestFrom,
  readPauseRequest,
  readResumeRequest,
} from "../../src/scheduler/pause.rules.ts";

const NOW = Date.UTC(2026, 10, 30, 8, 51, 37, 158);
const HOUR_MS = 3_600_000;

/** The pause a body makes, or the text of its refusal. */
function paused(body: string) {
  const read = readPauseRequest(body);
  const decided = read.kind === "ok" ? decidePause(read.value, "api", NOW) : read;
  return decided.kind === "ok" ? decided.value : decided.error;
}

const upTo = (until: number, facts: { note?: string; by?: string } = {}) => ({
  since: NOW,
  until,
  note: "",
  by: "api",
  channel: "api",
  ...facts,
});

describe("a pause that is granted", () => {
  test.each([
    { body: "", pause: upTo(NOW + HOUR_MS) },
    { body: "{}", pause: upTo(NOW + HOUR_MS) },
    { body: '{"durationSeconds": null, "until": null, "note": null, "by": null}', pause: upTo(NOW + HOUR_MS) },
    { body: '{"durationSeconds": 1}', pause: upTo(NOW + 1000) },
    { body: '{"durationSeconds": 2592000}', pause: upTo(NOW + 2_592_000_000) },
    {
      body: '{"durationSeconds": 60, "note": "upstream", "by": "alice"}',
      pause: upTo(NOW + 60_000, { note: "upstream", by: "alice" }),
    },
    { body: '{"by": ""}', pause: upTo(NOW + HOUR_MS) },
    { body: '{"until": "2026-11-30T09:00:00"}', pause: upTo(Date.UTC(2026, 10, 30, 9)) },
    { body: '{"until": "2026-11-30T09:00:00Z"}', pause: upTo(Date.UTC(2026, 10, 30, 9)) },
    { body: '{"until": "2026-11-30T10:00:00.5+01:00"}', pause: upTo(Date.UTC(2026, 10, 30, 9, 0, 0, 500)) },
    { body: '{"until": "2026-12-01"}', pause: upTo(Date.UTC(2026, 11, 1)) },
    { body: '{"unknown": 1}', pause: upTo(NOW + HOUR_MS) },
  ])("$body", ({ body, pause }) => {
    expect(paused(body)).toEqual(pause);
  });

  test("long texts are counted in characters, not in code units", () => {
    expect(paused(JSON.stringify({ note: "🌍".repeat(500), by: "é".repeat(100) }))).toMatchObject({
      note: "🌍".repeat(500),
    });
  });
});

describe("a pause that is refused", () => {
  test.each([
    { body: "{", error: "request body is not valid JSON" },
    { body: "[]", error: "request body must be a JSON object" },
    { body: "null", error: "request body must be a JSON object" },
    { body: '"60"', error: "request body must be a JSON object" },
    { body: '{"durationSeconds": true}', error: "durationSeconds must be an integer" },
    { body: '{"durationSeconds": 1.5}', error: "durationSeconds must be an integer" },
    { body: '{"durationSeconds": "60"}', error: "durationSeconds must be an integer" },
    { body: '{"durationSeconds": 1e999}', error: "durationSeconds must be an integer" },
    { body: '{"until": 1796028448}', error: "until must be an ISO-8601 timestamp string" },
    { body: '{"until": "tomorrow"}', error: "until is not a valid ISO-8601 timestamp" },
    { body: '{"until": "2026-02-30T00:00:00Z"}', error: "until is not a valid ISO-8601 timestamp" },
    { body: '{"note": 5}', error: "note must be a string" },
    { body: '{"by": ["x"]}', error: "by must be a string" },
    {
      body: '{"durationSeconds": 60, "until": "2026-11-30T09:00:00Z"}',
      error: "give durationSeconds or until, not both",
    },
    { body: '{"durationSeconds": 0}', error: "durationSeconds must be between 1 and 2592000" },
    { body: '{"durationSeconds": -5}', error: "durationSeconds must be between 1 and 2592000" },
    { body: '{"durationSeconds": 2592001}', error: "durationSeconds must be between 1 and 2592000" },
    { body: '{"until": "2026-11-30T08:51:37.158Z"}', error: "until is in the past" },
    { body: '{"until": "2027-01-30"}', error: "until is more than 2592000 seconds away" },
    { body: JSON.stringify({ note: "x".repeat(501) }), error: "note is longer than 500 characters" },
    { body: JSON.stringify({ by: "x".repeat(101) }), error: "by is longer than 100 characters" },
  ])("$body", ({ body, error }) => {
    expect(paused(body)).toBe(error);
  });

  test("of several faults the first in the documented order is told", () => {
    const faults: [string, unknown, string][] = [
      ["durationSeconds", "x", "durationSeconds must be an integer"],
      ["until", "soon", "until is not a valid ISO-8601 timestamp"],
      ["note", 1, "note must be a string"],
      ["by", 1, "by must be a string"],
    ];
    for (let first = 0; first < faults.length; first += 1) {
      const body = Object.fromEntries(faults.slice(first).reverse());
      expect(paused(JSON.stringify(body))).toBe(faults[first]?.[2]);
    }
    expect(paused(JSON.stringify({ durationSeconds: 0, until: "2020-01-01", note: "x".repeat(501) }))).toBe(
      "give durationSeconds or until, not both",
    );
  });

  test("types are refused before the job is looked for, sense after it", () => {
    expect(readPauseRequest('{"durationSeconds": 0}').kind).toBe("ok");
    expect(readPauseRequest('{"durationSeconds": "0"}').kind).toBe("bad");
  });
});

test("a request that comes as values is read alike, and keeps its channel", () => {
  const read = pauseRequestFrom({ durationSeconds: 60, note: "n" });
  expect(read.kind === "ok" && decidePause(read.value, "mcp", NOW)).toMatchObject({ value: { channel: "mcp" } });
});

test("whatever the body, the answer is a pause of 1 to 2592000 seconds or a text", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.integer().map((n) => `{"durationSeconds":${n}}`),
      ),
      (body) => {
        const answer = paused(body);
        if (typeof answer === "string") return;
        expect(answer.until - answer.since).toBeGreaterThanOrEqual(1000);
        expect(answer.until - answer.since).toBeLessThanOrEqual(2_592_000_000);
      },
    ),
  );
});

test.each([
  { body: "", answer: { kind: "ok", value: { by: "api" } } },
  { body: '{"by": "bob"}', answer: { kind: "ok", value: { by: "bob" } } },
  { body: JSON.stringify({ by: "x".repeat(200) }), answer: { kind: "ok", value: { by: "x".repeat(200) } } },
  { body: '{"by": 1}', answer: { kind: "bad", error: "by must be a string" } },
  { body: "[", answer: { kind: "bad", error: "request body is not valid JSON" } },
])("a resume with $body", ({ body, answer }) => {
  expect(readResumeRequest(body)).toEqual(answer);
});

test("a pause is in force from its start until just before its end, by the clock alone", () => {
  const pause = { since: NOW, until: NOW + 1000, note: "", by: "api", channel: "api" as const };
  expect(pauseInForce(pause, NOW + 999)).toBe(pause);
  expect(pauseInForce(pause, NOW + 1000)).toBeNull();
  expect(pauseInForce(null, NOW)).toBeNull();
  expect([-1, 0, 999, 1000].map((after) => excuses(pause, NOW + after))).toEqual([false, true, true, false]);
});
