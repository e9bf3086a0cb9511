import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobConfig } from "../../src/config/model.ts";
import { simulatedClock } from "../../src/platform/simulated-clock.ts";
import { nextFire } from "../../src/schedule/fires.ts";
import { createFireLoop, type FireLoop } from "../../src/scheduler/fire-loop.ts";
import { jobConfig } from "../support/job-config.ts";
import { writtenLog } from "../support/node.ts";
import { timetable } from "../support/timings.ts";

const at = (text: string): number => Date.parse(text);

function startLoop(
  startAt: string,
  jobs: readonly JobConfig[],
  clock = simulatedClock(at(startAt)),
): {
  readonly loop: FireLoop;
  readonly clock: typeof clock;
  fired: [name: string, slot: string, at: string][];
  readonly log: string[];
} {
  const fired: [string, string, string][] = [];
  const log: string[] = [];
  const iso = (ms: number): string => new Date(ms).toISOString();
  const loop = createFireLoop(clock, writtenLog(log), {
    onDue: (name, slot) => fired.push([name, iso(slot), iso(clock.wallNow())]),
    onGap: () => {},
    onMinute: () => {},
  });
  loop.setJobs(jobs);
  loop.start();
  return { loop, clock, fired, log };
}

const timed = (name: string, expression: string, zone?: string): JobConfig =>
  jobConfig({ name, scheduleText: expression, timing: timetable(expression, zone) });

describe("firing", () => {
  test("a slot under way at the start is not run; each later one runs once, in configuration order", () => {
    const { clock, fired } = startLoop("2026-03-01T12:00:00Z", [timed("b", "* * * * *"), timed("a", "* * * * *")]);
    clock.runUntil(at("2026-03-01T12:02:30Z"));
    expect(fired.map(([name, slot]) => `${name} ${slot.slice(11, 19)}`)).toEqual([
      "b 12:01:00",
      "a 12:01:00",
      "b 12:02:00",
      "a 12:02:00",
    ]);
  });

  test("F01: a fire more than 25 days away waits", () => {
    const { clock, fired, loop } = startLoop("2026-11-01T00:00:00Z", [timed("newyear", "0 0 1 1 *")]);
    clock.runUntil(at("2026-12-31T23:59:59Z"));
    expect(fired).toEqual([]);
    expect(loop.nextFire("newyear")).toBe(at("2027-01-01T00:00:00Z"));
    clock.runUntil(at("2027-01-01T00:00:01Z"));
    expect(fired).toHaveLength(1);
  });

  test("F03, F04: a timer that returns early, and a clock that is slewed back at the slot, delay the run and repeat nothing", () => {
    const real = simulatedClock(at("2026-03-01T11:59:30Z"));
    const early: typeof real = {
      ...real,
      after: (delayMs, run) => real.after(delayMs > 1000 ? delayMs - 0.4 : delayMs, run),
    };
    const { fired } = startLoop("", [timed("m", "* * * * *")], early);
    real.runUntil(at("2026-03-01T11:59:59.900Z"));
    real.step(-300);
    real.runUntil(at("2026-03-01T12:03:30Z"));
    expect(fired.map(([, slot]) => slot.slice(11, 19))).toEqual(["12:00:00", "12:01:00", "12:02:00", "12:03:00"]);
    for (const [, slot, when] of fired) expect(when >= slot).toBe(true);
  });

  test("F05: after a step back by 90 s nothing runs twice; after a step back by decades jobs run again within a minute", () => {
    const { clock, fired, log } = startLoop("2026-03-01T12:00:30Z", [timed("m", "* * * * *")]);
    clock.runUntil(at("2026-03-01T12:05:30Z"));
    clock.step(-90_000);
    clock.runUntil(at("2026-03-01T12:07:30Z"));
    expect(fired.map(([, slot]) => slot.slice(14, 16))).toEqual(["01", "02", "03", "04", "05", "06", "07"]);

    clock.step(at("1999-03-01T00:00:00Z") - clock.wallNow());
    const before = fired.length;
    clock.runUntil(at("1999-03-01T00:03:30Z"));
    expect(fired.slice(before).map(([, slot]) => slot.slice(0, 16))).toEqual([
      "1999-03-01T00:01",
      "1999-03-01T00:02",
      "1999-03-01T00:03",
    ]);
    expect(log.join("\n")).toMatch(/WARNING the wall clock stepped back by \d+s/);
  });

  test("F05: a slot of the very instant at which a step back is noticed runs", () => {
    const { clock, fired } = startLoop("2026-03-01T12:00:30Z", [timed("m", "* * * * *")]);
    clock.runUntil(at("2026-03-01T12:05:40Z"));
    clock.step(-20 * 60_000); // the next look falls on 11:46:00 sharp
    clock.runUntil(at("2026-03-01T11:46:30Z"));
    expect(fired.at(-1)?.[1]).toBe("2026-03-01T11:46:00.000Z");
  });

  test("F06: a jump over decades costs one warning per job and resumes at the current slot", () => {
    const { clock, fired, log } = startLoop("2000-01-01T00:00:00Z", [
      timed("s", "* * * * * * *"),
      timed("m", "* * * * *"),
    ]);
    clock.runUntil(at("2000-01-01T00:00:02Z"));
    clock.step(at("2026-03-01T12:00:40Z") - clock.wallNow());
    clock.runUntil(at("2026-03-01T12:00:42.500Z"));
    expect(fired.slice(2).map(([name, slot]) => `${name} ${slot.slice(0, 19)}`)).toMatchInlineSnapshot(`
      [
        "s 2026-03-01T12:00:41",
        "m 2026-03-01T12:00:00",
        "s 2026-03-01T12:00:42",
      ]
    `);
    expect(log.filter((line) => line.includes("fell behind"))).toHaveLength(2);
  });

  test("less than ten seconds late every slot is replayed, one by one", () => {
    const { clock, fired } = startLoop("2026-03-01T12:00:00Z", [timed("s", "* * * * * * *")]);
    clock.runUntil(at("2026-03-01T12:00:01Z"));
    clock.step(6000);
    clock.runUntil(at("2026-03-01T12:00:08Z"));
    expect(fired.map(([, slot]) => slot.slice(17, 19))).toEqual(["01", "02", "03", "04", "05", "06", "07", "08"]);
  });

  test("a late second-level job runs only if this very second is its own; a minute-level one if this minute is", () => {
    const { clock, fired } = startLoop("2026-03-01T02:00:00Z", [
      timed("minute", "0 3 * * *"),
      timed("second", "0 0 3 * * * *"),
    ]);
    clock.runUntil(at("2026-03-01T02:59:50Z"));
    clock.step(50_000);
    clock.runUntil(at("2026-03-01T04:00:00Z"));
    expect(fired.map(([name]) => name)).toEqual(["minute"]);
  });

  test("a dead schedule is told once at the start, and when its last slot has run", () => {
    const { clock, loop, log } = startLoop("2026-03-01T00:00:00Z", [
      timed("dead", "0 0 30 2 *"),
      timed("last", "0 1 1 3 * 2026"),
    ]);
    expect(log).toEqual([
      "WARNING job 'dead': schedule '0 0 30 2 *' has no future occurrence and will NEVER fire; fix the schedule or disable the job (its status reports never_fires)",
    ]);
    clock.runUntil(at("2026-03-01T02:00:00Z"));
    expect(log[1]).toBe(
      "WARNING job 'last': schedule '0 1 1 3 * 2026' has no further occurrence and will NEVER fire again; fix the schedule or disable the job (its status reports never_fires)",
    );
    expect(loop.neverFires("last")).toBe(true);
  });
});

describe("reload", () => {
  test("F18: an edited schedule or zone does not run the job and shows its next fire at once", () => {
    const { clock, fired, loop } = startLoop("2026-03-01T12:00:20Z", [timed("nightly", "0 23 * * *")]);
    loop.setJobs([timed("nightly", "0 9 * * *")]);
    expect(loop.nextFire("nightly")).toBe(at("2026-03-02T09:00:00Z"));
    loop.setJobs([timed("nightly", "0 9 * * *", "Asia/Tokyo")]);
    expect(loop.nextFire("nightly")).toBe(at("2026-03-02T00:00:00Z"));
    clock.runUntil(at("2026-03-02T00:00:01Z"));
    expect(fired).toHaveLength(1);
  });

  test("F30: a reload in the second before a minute, every minute, neither skips nor repeats a fire", () => {
    const jobs = (): JobConfig[] => [timed("a", "* * * * *"), timed("b", "0-59 * * * *", "Europe/Berlin")];
    const { clock, fired, loop } = startLoop("2026-03-01T11:59:30Z", jobs());
    for (let minute = 0; minute < 10; minute++) {
      clock.runUntil(at("2026-03-01T11:59:59Z") + minute * 60_000);
      loop.setJobs(jobs());
      clock.runUntil(at("2026-03-01T12:00:00Z") + minute * 60_000);
      loop.setJobs(jobs());
    }
    expect(fired.filter(([name]) => name === "a")).toHaveLength(10);
    expect(fired.filter(([name]) => name === "b")).toHaveLength(10);
  });

  test("a removed, disabled or re-enabled job leaves and enters the agenda", () => {
    const { clock, fired, loop } = startLoop("2026-03-01T12:00:00Z", [
      timed("a", "* * * * *"),
      timed("b", "* * * * *"),
    ]);
    loop.setJobs([{ ...timed("a", "* * * * *"), enabled: false }]);
    clock.runUntil(at("2026-03-01T12:05:00Z"));
    expect(fired).toEqual([]);
    loop.setJobs([timed("a", "* * * * *")]);
    clock.runUntil(at("2026-03-01T12:06:00Z"));
    expect(fired.map(([name]) => name)).toEqual(["a"]);
  });
});

test("many jobs due at once are spread over turns of the event loop", () => {
  const clock = simulatedClock(at("2026-03-01T12:00:00Z"));
  const perTurn: number[] = [];
  let elapsed = 0;
  const loop = createFireLoop(
    {
      wallNow: clock.wallNow,
      elapsedNow: () => {
        elapsed += 0.5; // every look at the clock costs half a millisecond, as work would
        return elapsed;
      },
      after: (delayMs, run) =>
        clock.after(delayMs, () => {
          perTurn.push(0);
          run();
        }),
    },
    writtenLog([]),
    {
      onDue: () => {
        perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
      },
      onGap: () => {},
      onMinute: () => {},
    },
  );
  loop.setJobs(Array.from({ length: 200 }, (_, index) => timed(`j${index}`, "* * * * *")));
  loop.start();
  clock.runUntil(at("2026-03-01T12:01:30Z"));
  expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(20);
});

const zones = [
  "UTC",
  "America/New_York",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
  "Pacific/Apia",
  "Africa/Casablanca",
];

const sparseExpression = fc
  .tuple(
    fc.constantFrom("0", "30", "*/20", "7,52", "59"),
    fc.constantFrom("*/6", "2", "1,2,3", "0", "23", "1-4", "12"),
    fc.constantFrom("*", "1", "L", "15W", "8,31", "*/9"),
    fc.constantFrom("*", "3,10,11", "2", "*/4"),
    fc.constantFrom("*", "0", "1-5", "5#3", "L0"),
  )
  .map((fields) => fields.join(" "));

test("soak: a year of 500 random schedules in 8 zones fires exactly the fire set, across reloads and clock steps", () => {
  const sample = fc.sample(fc.tuple(sparseExpression, fc.constantFrom(...zones)), { seed: 20260301, numRuns: 500 });
  const jobs = sample.map(([expression, zone], index) => timed(`j${index}`, expression, zone));
  const startAt = at("2026-01-01T00:00:30Z");
  const endAt = at("2027-01-01T00:00:00Z");
  const clock = simulatedClock(startAt);
  const fired = new Map<string, number[]>(jobs.map(({ name }) => [name, []]));
  const loop = createFireLoop(clock, writtenLog([]), {
    onDue: (name, slot) => fired.get(name)?.push(slot),
    onGap: () => expect.unreachable("no gap is due: the clock only steps by seconds"),
    onMinute: () => {},
  });
  loop.setJobs(jobs);
  loop.start();
  const random = fc.sample(fc.integer({ min: -8000, max: 8000 }), { seed: 7, numRuns: 400 });
  for (const [index, stepMs] of random.entries()) {
    clock.runUntil(startAt + ((endAt - startAt) * (index + 1)) / random.length);
    if (index % 3 === 0) loop.setJobs(jobs.map((job) => ({ ...job })));
    else clock.step(stepMs);
  }
  clock.runUntil(endAt);
  const seen = clock.wallNow();
  for (const job of jobs) {
    if (job.timing.kind !== "timetable") continue;
    const expected: number[] = [];
    for (let slot = nextFire(job.timing.schedule, job.timing.zone, startAt); slot !== null && slot <= seen; ) {
      expected.push(slot);
      slot = nextFire(job.timing.schedule, job.timing.zone, slot);
    }
    expect(fired.get(job.name), `${job.scheduleText} ${job.timing.zone.label}`).toEqual(expected);
  }
});
