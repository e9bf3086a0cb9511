import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { startOffsetMs } from "../../../src/journal/catchup/jitter.ts";
import { lastMissedSlot, missedSlots } from "../../../src/journal/catchup/missed.rules.ts";
import {
  type CatchUpFacts,
  type CatchUpPolicy,
  type CatchUpWindow,
  owedRuns,
  pinWatermark,
} from "../../../src/journal/catchup/owed.rules.ts";
import { parseSchedule } from "../../../src/schedule/expression.ts";
import { fires } from "../../../src/schedule/fires.ts";
import { utcZone, type Zone, zoneNamed } from "../../../src/schedule/zone.ts";

const at = (time: string): number => Date.parse(`2026-11-30T${time}Z`);
const clock = (slots: readonly number[]): string[] => slots.map((slot) => new Date(slot).toISOString().slice(11, 19));

function zone(name: string): Zone {
  const found = zoneNamed(name);
  if (found === null) throw new Error(`there is no zone ${name}`);
  return found;
}

const policy: CatchUpPolicy = {
  onMissed: "run-all",
  schedule: parseSchedule("* * * * *"),
  zone: utcZone,
  startingDeadlineSeconds: null,
};
const facts: CatchUpFacts = { lastRunAt: null, lastCompletedAt: null, open: "none", pause: null };
const now = at("12:05:30");
const start: CatchUpWindow = { kind: "start", now };
const owed = (
  over: Partial<CatchUpFacts>,
  window: CatchUpWindow = start,
  over2: Partial<CatchUpPolicy> = {},
): string[] => clock(owedRuns(window, { ...facts, ...over }, { ...policy, ...over2 }).slots);

describe("CAT-4: the offset of a backfill", () => {
  test.each([
    ["missed", 3, 507],
    ["nightly-report", 300, 164_496],
    ["naïve", 10, 3_174],
    ["missed", 0, 0],
  ])("of %s within %i s is %i ms", (name, jitter, offset) => expect(startOffsetMs(name, jitter)).toBe(offset));
});

describe("CAT-1: missed slots are what the live scheduler would have fired", () => {
  test("everything after the last run, up to now", () => {
    expect(owed({ lastRunAt: at("12:02:00") + 33 })).toEqual(["12:03:00", "12:04:00", "12:05:00"]);
    expect(owed({ lastRunAt: at("12:02:00") + 33 }, { kind: "start", now: at("12:05:00") })).toHaveLength(3);
  });

  test("across a change of the clocks, each real minute once", () => {
    const newYork = zone("America/New_York");
    const before = Date.parse("2026-03-08T05:00:00Z");
    const rules = {
      schedule: parseSchedule("30 2 * * *"),
      zone: newYork,
      startingDeadlineSeconds: null,
      onMissed: "run-all" as const,
    };
    const slots = owedRuns(
      { kind: "start", now: Date.parse("2026-03-10T05:00:00Z") },
      { ...facts, lastRunAt: before },
      rules,
    ).slots;
    expect(slots.map((slot) => new Date(slot).toISOString())).toEqual([
      "2026-03-08T07:30:00.000Z",
      "2026-03-09T06:30:00.000Z",
    ]);
  });

  test("run-once owes one, for the newest of them, however many there are", () => {
    expect(owed({ lastRunAt: at("11:00:00") }, start, { onMissed: "run-once" })).toEqual(["12:05:00"]);
    expect(owed({ lastRunAt: Date.parse("1990-01-01T00:00:00Z") }, start, { onMissed: "run-once" })).toEqual([
      "12:05:00",
    ]);
    expect(owed({ lastRunAt: at("12:05:00") }, start, { onMissed: "run-once" })).toEqual([]);
  });

  test("run-all owes a hundred at most, the oldest ones, and says that there were more", () => {
    const { slots, truncated } = owedRuns(start, { ...facts, lastRunAt: at("00:00:00") }, policy);
    expect([slots.length, clock(slots)[99], truncated]).toEqual([100, "01:40:00", true]);
    expect(
      owedRuns({ kind: "start", now: at("01:40:00") }, { ...facts, lastRunAt: at("00:00:00") }, policy).truncated,
    ).toBe(false);
  });
});

describe("CAT-2: the point of reference", () => {
  test("without a run and without a checkpoint nothing is owed", () => {
    expect(owed({})).toEqual([]);
    expect(owed({ open: null })).toEqual([]);
  });

  test("CAT-6: an open checkpoint that is older counts, or one without any run", () => {
    expect(owed({ open: at("12:03:00") })).toEqual(["12:04:00", "12:05:00"]);
    expect(owed({ lastRunAt: at("12:05:10"), open: at("12:03:00") })).toEqual(["12:04:00", "12:05:00"]);
    expect(owed({ lastRunAt: at("12:04:10"), open: at("12:04:30") })).toEqual(["12:05:00"]);
  });
});

describe("CAT-3: startingDeadlineSeconds", () => {
  test("drops what is older", () => {
    expect(owed({ lastRunAt: at("11:00:00") }, start, { startingDeadlineSeconds: 120 })).toEqual([
      "12:04:00",
      "12:05:00",
    ]);
    expect(owed({ lastRunAt: at("11:00:00") }, start, { startingDeadlineSeconds: 20 })).toEqual([]);
  });

  test("F07: after five days with a deadline of 300 s at most five runs; without, run-once one", () => {
    const lastRunAt = now - 5 * 86_400_000;
    expect(owed({ lastRunAt }, start, { startingDeadlineSeconds: 300 })).toHaveLength(5);
    expect(owed({ lastRunAt }, start, { onMissed: "run-once" })).toHaveLength(1);
  });

  test("does not move what the checkpoint remembers: a restart counts from the same point", () => {
    expect(
      owedRuns(start, { ...facts, lastRunAt: at("11:00:00") }, { ...policy, startingDeadlineSeconds: 120 }).watermark,
    ).toBe(at("11:00:00"));
  });
});

describe("CAT-13: a pause excuses only its own window", () => {
  const pause = { since: at("12:02:30"), until: at("12:04:00") };

  test("slots inside are not owed; the slot at its end is, and so is the backlog from before it", () => {
    expect(owed({ lastRunAt: at("12:00:00"), pause })).toEqual(["12:01:00", "12:02:00", "12:04:00", "12:05:00"]);
    expect(owed({ lastRunAt: at("12:00:00"), pause: { since: null, until: at("12:04:00") } })).toEqual([
      "12:04:00",
      "12:05:00",
    ]);
    expect(owed({ lastRunAt: at("12:00:00"), pause: { since: null, until: at("13:00:00") } })).toEqual([]);
  });

  test("skipped slots do not swallow what was owed from before the pause", () => {
    const seen = { lastRunAt: at("12:03:00"), lastCompletedAt: at("12:00:00"), pause };
    expect(owed(seen)).toEqual(["12:01:00", "12:02:00", "12:04:00", "12:05:00"]);
    expect(owed({ ...seen, lastCompletedAt: null })).toEqual(["12:04:00", "12:05:00"]);
  });

  test("run-once sees the newest slot outside it", () => {
    const once = { onMissed: "run-once" as const };
    expect(
      owed({ lastRunAt: at("12:00:00"), pause: { since: at("12:02:30"), until: at("13:00:00") } }, start, once),
    ).toEqual(["12:02:00"]);
    expect(
      owed({ lastRunAt: at("12:02:10"), pause: { since: at("12:02:30"), until: at("13:00:00") } }, start, once),
    ).toEqual([]);
  });
});

describe("CAT-25: a resume window", () => {
  const window: CatchUpWindow = {
    kind: "resume",
    after: at("12:01:00") - 0.001,
    before: at("12:04:00"),
    observed: at("12:04:20"),
  };

  test("is the skipped slots and not the current one, whatever the ledger says", () => {
    expect(owed({}, window)).toEqual(["12:01:00", "12:02:00", "12:03:00"]);
    expect(owed({ lastRunAt: at("12:03:30"), lastCompletedAt: at("10:00:00") }, window)).toEqual([
      "12:01:00",
      "12:02:00",
      "12:03:00",
    ]);
    expect(owed({}, window, { onMissed: "run-once" })).toEqual(["12:03:00"]);
  });

  test("an older open checkpoint still counts, and the deadline from when the gap was noticed", () => {
    expect(owed({ open: at("11:59:00") }, window)).toHaveLength(4);
    expect(owed({}, window, { startingDeadlineSeconds: 90 })).toEqual(["12:03:00"]);
  });

  test("of a paused job is pinned by its own start", () => {
    expect(pinWatermark(window, facts)).toBe(window.kind === "resume" ? window.after : 0);
    expect(pinWatermark(start, { ...facts, lastCompletedAt: 5 })).toBe(5);
  });
});

test("CAT-1: both ways of looking agree with every fire of the stretch, one by one", () => {
  const from = Date.parse("2026-10-24T00:00:00Z");
  const hours = fc.integer({ min: 0, max: 72 });
  const expression = fc.constantFrom("* * * * *", "*/7 1-5 * * *", "30 2 * * *", "0 0 * * 0", "*/20 * * * *");
  fc.assert(
    fc.property(expression, hours, hours, hours, hours, (text, afterHours, spanHours, sinceHours, pausedHours) => {
      const schedule = parseSchedule(text);
      const berlin = zone("Europe/Berlin");
      const after = from + afterHours * 3600_000;
      const upTo = after + spanHours * 3600_000;
      const pause = { since: from + sinceHours * 3600_000, until: from + (sinceHours + pausedHours) * 3600_000 };
      const expected: number[] = [];
      for (const fire of fires(schedule, berlin, after)) {
        if (fire > upTo) break;
        if (fire < pause.since || fire >= pause.until) expected.push(fire);
      }
      const stretch = { schedule, zone: berlin, after, upTo, pause };
      expect(missedSlots(stretch, 10_000)).toEqual(expected);
      expect(lastMissedSlot(stretch)).toBe(expected.at(-1) ?? null);
    }),
    { numRuns: 60 },
  );
});
