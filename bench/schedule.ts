import { parseSchedule, type Schedule } from "../src/schedule/expression.ts";
import { nextFire } from "../src/schedule/fires.ts";
import { utcZone, type Zone, zoneNamed } from "../src/schedule/zone.ts";
import type { BenchRow } from "./row.ts";

const zoneNames = [
  "UTC",
  "America/New_York",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/Sao_Paulo",
  "Pacific/Apia",
  "Africa/Casablanca",
  "Asia/Tokyo",
  "Europe/London",
  "America/Los_Angeles",
  "Asia/Kolkata",
  "Australia/Sydney",
  "Africa/Cairo",
  "America/Chicago",
  "Europe/Paris",
  "Asia/Shanghai",
  "America/Denver",
  "Pacific/Auckland",
  "Europe/Moscow",
];

/** Searches for next fires: many schedules once, from nothing, and one schedule again and again. */
export function scheduleRows(): BenchRow[] {
  const zones = zoneNames.map((name) => zoneNamed(name) ?? utcZone);
  const from = Date.parse("2026-11-30T12:34:56Z");
  const schedules: [Schedule, Zone][] = Array.from({ length: 100_000 }, (_, index) => [
    parseSchedule(expressionOf(index), `job-${index}`),
    zones[index % zones.length] ?? utcZone,
  ]);
  const coldMs = timed(() => {
    for (const [schedule, zone] of schedules) nextFire(schedule, zone, from);
  });
  // The least anybody could do: ask Intl for each zone once, and take one date apart and put it together per schedule.
  const coldFloorMs = timed(() => {
    for (const name of zoneNames)
      new Intl.DateTimeFormat("en", { timeZone: name, timeZoneName: "longOffset" }).format(from);
    for (let index = 0; index < schedules.length; index++) civilRoundTrip(from + index * 1000);
  });
  const newYork = zoneNamed("America/New_York") ?? utcZone;
  const every = parseSchedule("*/5 8-18 * * 1-5");
  const floor = medianMicros((at) => civilRoundTrip(at) + 300_000, from);
  const next = (zone: Zone) => medianMicros((at) => nextFire(every, zone, at) ?? from, from);
  const row = (name: string, ours: number, least: number, unit: string): BenchRow => ({
    name,
    ours,
    floor: least,
    unit,
    ratio: ours / least,
  });
  return [
    row("next fire of 100,000 mixed schedules in 20 zones, cold", coldMs, coldFloorMs, "ms"),
    row("next(), warm, UTC, median", next(utcZone), floor, "us"),
    row("next(), warm, zone with DST, median", next(newYork), floor, "us"),
  ];
}

/** An instant taken apart into its UTC fields and put together again. */
function civilRoundTrip(at: number): number {
  const date = new Date(at);
  return Date.UTC(
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
  );
}

function expressionOf(index: number): string {
  const minute = index % 60;
  const hour = (index * 7) % 24;
  const forms = [
    `${minute} ${hour} * * *`,
    `*/${(minute % 10) + 5} * * * *`,
    `${minute} ${hour} ${(index % 28) + 1} * *`,
    `${minute} ${hour} L * *`,
    `${minute} ${hour} * * ${index % 7}`,
    `H ${hour} * * 1-5`,
    `${minute},${(minute + 13) % 60} ${hour} * */3 *`,
    `${index % 60} ${minute} ${hour} * * * *`,
    `${minute} ${hour} * * 5#3`,
    `0 0 29 2 *`,
  ];
  return forms[index % forms.length] ?? "* * * * *";
}

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

/** Median over batches of 1,000, each walking on from where the one before ended. */
function medianMicros(walk: (at: number) => number, from: number): number {
  const batches: number[] = [];
  let at = from;
  for (let batch = 0; batch < 101; batch++) {
    batches.push(
      timed(() => {
        for (let count = 0; count < 1000; count++) at = walk(at);
      }),
    );
  }
  batches.sort((a, b) => a - b);
  return batches[50] ?? 0; // ms per 1,000 = us each
}
