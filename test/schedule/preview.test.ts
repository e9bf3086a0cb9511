import { expect, test } from "vitest";
import { type PreviewQuery, preview } from "../../src/schedule/preview.ts";

const now = Date.parse("2026-11-30T08:58:38.049Z");
const answer = (query: PreviewQuery, at = now) => preview(query, at);
const upcoming = (query: PreviewQuery): readonly string[] => {
  const shown = preview(query, now);
  return shown.kind === "answer" && shown.payload.valid ? shown.payload.fires : [];
};

test("an accepted expression is shown with its fires in the zone's own clock", () => {
  expect(answer({ expr: " H  H/6 * * * ", seed: "report-gen", limit: "2" })).toEqual({
    kind: "answer",
    payload: {
      expression: "H  H/6 * * *",
      timezone: "UTC",
      seed: "report-gen",
      valid: true,
      reboot: false,
      normalized: "H H/6 * * *",
      description: "At minute 43 past hours 03, 09, 15, 21, every day (H slots hashed from the job name)",
      fires: ["2026-11-30T09:43:00+00:00", "2026-11-30T15:43:00+00:00"],
      never_fires: false,
      lint: [
        {
          code: "hashed-slot",
          level: "note",
          message: expect.stringContaining("'H' resolves to '43 3,9,15,21 * * *' for this job"),
        },
      ],
      resolved: "43 3,9,15,21 * * *",
    },
  });
  expect(upcoming({ expr: "H H * * *", seed: "hashed", tz: "Europe/Paris", limit: "2" })).toEqual([
    "2026-11-30T14:16:00+01:00",
    "2026-12-01T14:16:00+01:00",
  ]);
});

test("a refused expression is an answer with the reason", () => {
  expect(answer({ expr: "61 * * * *" })).toEqual({
    kind: "answer",
    payload: {
      expression: "61 * * * *",
      timezone: "UTC",
      valid: false,
      error: "minute value 61 out of range [0, 59]",
    },
  });
  expect(answer({ expr: "H * * * *" })).toMatchObject({ payload: { valid: false } });
  expect(answer({ expr: "H * * * *", seed: "" })).toMatchObject({ payload: { valid: true, seed: "" } });
});

test("@reboot is shown in any case, without a timetable", () => {
  expect(answer({ expr: "@REBOOT" })).toEqual({
    kind: "answer",
    payload: {
      expression: "@REBOOT",
      timezone: "UTC",
      valid: true,
      reboot: true,
      description: "Once, when cronstable starts (@reboot)",
      fires: [],
      never_fires: false,
      lint: [],
    },
  });
});

test("what cannot be asked is a bad request, the expression first", () => {
  expect(answer({})).toEqual({ kind: "bad request", error: "missing ?expr= query parameter" });
  expect(answer({ expr: "  ", tz: "x" })).toEqual({ kind: "bad request", error: "missing ?expr= query parameter" });
  expect(answer({ expr: "bad", tz: "x" })).toEqual({ kind: "bad request", error: "unknown timezone: x" });
});

test("the number of fires is bounded, and its older name counts only alone", () => {
  const count = (query: PreviewQuery) => upcoming({ expr: "* * * * *", ...query }).length;
  expect(count({})).toBe(12);
  expect(count({ limit: "0" })).toBe(1);
  expect(count({ limit: "999" })).toBe(60);
  expect(count({ limit: "abc", count: "3" })).toBe(12);
  expect(count({ limit: "5", count: "3" })).toBe(5);
  expect(count({ count: "3" })).toBe(3);
});

test("a dead schedule says so", () => {
  expect(answer({ expr: "0 0 1 1 * 2020" })).toMatchObject({
    payload: { fires: [], never_fires: true, lint: [{ code: "never-fires", level: "warning" }] },
  });
});
