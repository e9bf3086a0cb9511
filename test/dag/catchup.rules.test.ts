import { expect, test } from "vitest";
import type { DagConfig } from "../../src/config/model.ts";
import { type CatchUpFacts, catchUpOf } from "../../src/dag/catchup.rules.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { utcZone } from "../../src/schedule/zone.ts";
import { dagOf } from "./run-on-paper.ts";

const hourly = (keys: Partial<DagConfig> = {}) =>
  dagOf([{ id: "a" }], {
    timing: { kind: "timetable", schedule: parseSchedule("0 * * * *"), zone: utcZone },
    onMissed: "run-all",
    ...keys,
  });
const at = (hour: number, minute = 0) => Date.UTC(2026, 0, 1, hour, minute);
const facts = (fields: Partial<CatchUpFacts> = {}): CatchUpFacts => ({
  dates: [at(8)],
  open: "none",
  closed: null,
  ...fields,
});
const now = at(12, 30);

function hours(outcome: ReturnType<typeof catchUpOf>): unknown {
  return outcome.kind === "replay" ? outcome.instants.map((instant) => (instant - at(0)) / 3_600_000) : outcome;
}

test("D-CAT-1: run-all owes every slot since the newest logical date, run-once the newest, skip none", () => {
  expect(hours(catchUpOf(hourly(), facts(), now))).toEqual([9, 10, 11, 12]);
  expect(hours(catchUpOf(hourly({ onMissed: "run-once" }), facts(), now))).toEqual([12]);
  expect(catchUpOf(hourly({ onMissed: "skip" }), facts(), now)).toEqual({ kind: "nothing", close: false });
  expect(catchUpOf(hourly({ timing: null }), facts(), now)).toEqual({ kind: "nothing", close: false });
});

test("the bounds: after the watermark, up to and including now", () => {
  expect(hours(catchUpOf(hourly(), facts({ dates: [at(11)] }), at(12)))).toEqual([12]);
});

test("D-CAT-1: the deadline drops what is older", () => {
  expect(hours(catchUpOf(hourly({ startingDeadlineSeconds: 7200 }), facts(), now))).toEqual([11, 12]);
});

test("a DAG of which nothing is known owes nothing", () => {
  expect(catchUpOf(hourly(), facts({ dates: [] }), now)).toEqual({ kind: "nothing", close: false });
});

test("more than 100: run-all takes the oldest 100 and says so; D-CAT-5: run-once still takes the newest", () => {
  const weekLater = now + 7 * 86_400_000;
  const all = catchUpOf(hourly(), facts(), weekLater);
  expect(all).toMatchObject({ truncated: true, instants: { length: 100, 0: at(9) } });
  const once = catchUpOf(hourly({ onMissed: "run-once" }), facts(), weekLater);
  expect(once).toMatchObject({ truncated: false, instants: [at(12) + 7 * 86_400_000] });
});

test("D-CAT-3: an open cycle is counted from its own watermark, also when retention took everything", () => {
  const resumed = catchUpOf(hourly(), facts({ dates: [at(11)], open: at(9) }), now);
  expect(resumed).toMatchObject({ resumed: true, watermark: at(9), instants: { length: 3 } });
  expect(catchUpOf(hourly(), facts({ open: at(11) }), now)).toMatchObject({ watermark: at(8) });
  expect(catchUpOf(hourly(), facts({ dates: [], open: at(11) }), now)).toMatchObject({ watermark: at(11) });
});

test("an open cycle of which nothing is left is closed", () => {
  expect(catchUpOf(hourly(), facts({ dates: [at(12)], open: at(12) }), now)).toEqual({ kind: "nothing", close: true });
  expect(catchUpOf(hourly(), facts({ dates: [], open: null }), now)).toEqual({ kind: "nothing", close: true });
});

test("D-CAT-6: a closed watermark counts where the runs it came from are gone", () => {
  expect(hours(catchUpOf(hourly(), facts({ dates: [at(1)], closed: at(10) }), now))).toEqual([11, 12]);
});

test("dates to come, which a backfill has run already, hide nothing that was missed", () => {
  expect(hours(catchUpOf(hourly(), facts({ dates: [at(10), at(20)] }), now))).toEqual([11, 12]);
});

test("D-CAT-2: the offset follows from the name alone, and stays below the jitter", () => {
  const offset = (name: string, jitter: number) => {
    const outcome = catchUpOf(hourly({ name, catchupJitterSeconds: jitter }), facts(), now);
    return outcome.kind === "replay" ? outcome.offsetMs : null;
  };
  expect(offset("d", 0)).toBe(0);
  expect(offset("nightly-etl", 30)).toBe(18_261);
  expect(offset("größe", 30)).toBe(8_153);
  for (const name of ["a", "b", "c", "größe"]) expect(offset(name, 30)).toBeLessThan(30_000);
});
