import { describe, expect, test } from "vitest";
import { duplicates } from "../../src/schedule/duplicates.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { type FleetEntry, finish } from "../../src/schedule/fleet.ts";
import { type PressureQuery, pressure } from "../../src/schedule/pressure.ts";
import { askedPeriod, suggestionHours, suggestSlot } from "../../src/schedule/suggest.ts";
import { utcZone } from "../../src/schedule/zone.ts";
import { cases } from "./cases.ts";
import { zone } from "./moments.ts";

const entry = (name: string, expression: string, tz = "UTC"): FleetEntry => ({
  name,
  schedule: parseSchedule(expression, name),
  zone: zone(tz),
});

const query = (entries: readonly FleetEntry[], more: Partial<PressureQuery> = {}): PressureQuery => ({
  entries,
  excluded: { disabled: 0, reboot: 0 },
  startMs: Date.parse("2026-07-20T00:00:00Z"),
  hours: 24,
  zone: utcZone,
  ...more,
});

/** The data's one fleet that is looked at over a repeated hour, where ours differs on purpose. */
const throughRepeatedHour = cases.fleets.filter(({ name }) => name === "fallback");
const ordinary = cases.fleets.filter(({ name }) => name !== "fallback");

describe.each(ordinary)("the fleet $name", ({ jobs, start, tz, hours, pressure: facts, ...others }) => {
  const entries = jobs.map(([job, expression, zoneName]) => entry(job, expression, zoneName));
  const asked = query(entries, { startMs: Date.parse(start), zone: zone(tz), hours });

  test("is under the pressure of the data", () => {
    const { grid, excluded, ...rest } = finish(pressure(asked));
    const { gridNonzero, ...expected } = facts;
    expect(rest).toEqual(expected);
    expect(excluded).toEqual(asked.excluded);
    if (gridNonzero !== null) expect(nonzero(grid)).toEqual(gridNonzero);
  });

  test("has the duplicates of the data", () => {
    expect(finish(duplicates(entries))).toEqual({ jobs: entries.length, groups: others.duplicates });
  });

  test("gets the suggestions of the data", () => {
    const day = finish(pressure({ ...asked, hours: suggestionHours }));
    expect(suggestSlot("hourly", day)).toEqual(others.hourly);
    expect(suggestSlot("daily", day)).toEqual(others.daily);
  });
});

const nonzero = (grid: readonly (readonly number[])[]) =>
  grid.flatMap((row, hour) => row.flatMap((fires, minute) => (fires > 0 ? [[hour, minute, fires]] : [])));

test.each(throughRepeatedHour)(
  "a half-hourly rhythm weighs both passes of a repeated hour, everything else one",
  (fleet) => {
    const entries = fleet.jobs.map(([job, expression, zoneName]) => entry(job, expression, zoneName));
    const asked = query(entries, { startMs: Date.parse(fleet.start), zone: zone(fleet.tz), hours: fleet.hours });
    const day = finish(pressure(asked));
    expect(finish(duplicates(entries)).groups).toEqual(fleet.duplicates);
    // The data counts the repeated 01:00 and 01:30 once; its other cells stand.
    const again = new Map([
      ["1:0", 1],
      ["1:30", 1],
    ]);
    expect(nonzero(day.grid)).toEqual(
      fleet.pressure.gridNonzero?.map(([hour = 0, minute = 0, fires = 0]) => [
        hour,
        minute,
        fires + (again.get(`${hour}:${minute}`) ?? 0),
      ]),
    );
    expect(day.total_fires).toBe(24);
    expect(day.top_cells.slice(0, 2)).toEqual([
      { hour: 1, minute: 30, fires: 3, jobs: ["ny", "nyq"] },
      { hour: 1, minute: 0, fires: 2, jobs: ["nyq"] },
    ]);
  },
);

describe("pressure", () => {
  test("counts strictly inside the window: an hourly job aligned to its start counts 23 times a day", () => {
    expect(finish(pressure(query([entry("hourly", "0 * * * *")]))).total_fires).toBe(23);
    const startMs = Date.parse("2026-07-20T00:00:00.001Z");
    expect(finish(pressure(query([entry("hourly", "0 * * * *")], { startMs }))).total_fires).toBe(24);
  });

  test("weighs a minute by its selected seconds", () => {
    const { grid, top_cells } = finish(pressure(query([entry("secs", "*/20 30 3 * * * *")])));
    expect(nonzero(grid)).toEqual([[3, 30, 3]]);
    expect(top_cells).toEqual([{ hour: 3, minute: 30, fires: 3, jobs: ["secs"] }]);
  });

  test("counts dead schedules as entries and says what is left out", () => {
    const asked = query([entry("dead", "0 0 30 2 *")], { excluded: { disabled: 2, reboot: 1 } });
    expect(finish(pressure(asked))).toMatchObject({
      jobs: 1,
      total_fires: 0,
      excluded: { disabled: 2, reboot: 1 },
      busiest_minute: { minute: 0, jobs: 0, fires: 0 },
    });
  });

  test("names a cell's first ten jobs in the order of the fleet, however they are spelled", () => {
    const entries = Array.from({ length: 30 }, (_, index) =>
      entry(`job-${index}`, index % 2 === 0 ? "0 5 * * *" : `${"0,".repeat(index % 5)}0 5 * * *`),
    );
    const [cell] = finish(pressure(query(entries))).top_cells;
    expect(cell).toEqual({ hour: 5, minute: 0, fires: 30, jobs: entries.slice(0, 10).map(({ name }) => name) });
  });

  test("shows the window's start and the clock of the zone that was asked for", () => {
    const asked = query([entry("noon", "0 12 * * *")], {
      zone: zone("Asia/Kathmandu"),
      startMs: Date.parse("2026-11-30T08:58:38.049Z"),
    });
    const shown = finish(pressure(asked));
    expect(shown.start).toBe("2026-11-30T14:43:38.049+05:45");
    expect(shown.timezone).toBe("Asia/Kathmandu");
    expect(nonzero(shown.grid)).toEqual([[17, 45, 1]]);
  });

  test("can be put down after every few thousand fires and every few dozen searches", () => {
    const minutely = Array.from({ length: 20 }, (_, index) => entry(`m${index}`, `${index}-59 * * * *`));
    const steps = (entries: readonly FleetEntry[]) => {
      const work = pressure(query(entries, { hours: 24 }));
      let count = 0;
      while (!work.next().done) count += 1;
      return count;
    };
    const fires = finish(pressure(query(minutely))).total_fires;
    expect(steps(minutely)).toBeGreaterThanOrEqual(Math.floor(fires / 2000));
    const dead = Array.from({ length: 500 }, (_, index) =>
      entry(`d${index}`, `${index % 60} ${Math.floor(index / 60)} * * L3-1`),
    );
    expect(steps(dead)).toBeGreaterThan(4);
  });
});

describe("duplicates", () => {
  test("are equal schedules in one zone, under the spelling that comes most often", () => {
    const entries = [
      entry("b", "0-59/5 * * * *"),
      entry("a", "*/5 * * * *"),
      entry("c", "*/5 * * * *"),
      entry("etc", "*/5 * * * *", "Etc/UTC"),
      entry("ny", "*/5 * * * *", "America/New_York"),
    ];
    expect(finish(duplicates(entries))).toEqual({
      jobs: 5,
      groups: [
        {
          expression: "*/5 * * * *",
          description: "Every 5 minutes, every day",
          timezone: "UTC",
          count: 3,
          jobs: ["a", "b", "c"],
        },
      ],
    });
  });

  test("of hashed schedules are described by what they resolved to", () => {
    const slot = parseSchedule("H * * * *", "x").resolved;
    const [group] = finish(duplicates([entry("x", "H * * * *"), entry("y", slot)])).groups;
    expect(group).toMatchObject({ expression: "H * * * *", description: "Every hour at :16, every day" });
  });

  test("come in order of their number, then of their expression", () => {
    const entries = ["0 2 * * *", "0 1 * * *", "0 3 * * *", "0 3 * * *", "0 3 * * *", "0 1 * * *", "0 2 * * *"].map(
      (expression, index) => entry(`j${index}`, expression),
    );
    expect(finish(duplicates(entries)).groups.map(({ expression }) => expression)).toEqual([
      "0 3 * * *",
      "0 1 * * *",
      "0 2 * * *",
    ]);
  });
});

describe("a suggestion", () => {
  test("for an empty fleet lies half way round", () => {
    const empty = finish(pressure(query([])));
    expect(suggestSlot("hourly", empty)).toMatchObject({
      expression: "30 * * * *",
      alternatives: [{ expression: "29 * * * *" }, { expression: "31 * * * *" }],
      hash_hint: "H * * * *",
    });
    expect(suggestSlot("daily", empty)).toMatchObject({
      hour: 12,
      minute: 0,
      expression: "0 12 * * *",
      alternatives: [{ expression: "59 11 * * *" }, { expression: "1 12 * * *" }],
      hash_hint: "H H * * *",
    });
  });

  test("is hourly unless daily is asked for", () => {
    expect([undefined, null, "", "hourly", "daily"].map(askedPeriod)).toMatchObject([
      { payload: "hourly" },
      { payload: "hourly" },
      { payload: "hourly" },
      { payload: "hourly" },
      { payload: "daily" },
    ]);
    expect(askedPeriod("weekly")).toEqual({
      kind: "bad request",
      error: "period must be 'hourly' or 'daily', got 'weekly'",
    });
  });
});
