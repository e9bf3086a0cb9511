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
  const newYork = zoneNamed("America/New_York") ?? utcZone;
  const every = parseSchedule("*/5 8-18 * * 1-5");
  return [
    {
      name: "next fire of 100,000 mixed schedules in 20 zones, cold",
      ours: coldMs,
      floor: null,
      unit: "ms",
      ratio: null,
    },
    {
      name: "next(), warm, UTC, median",
      ours: medianMicros(every, utcZone, from),
      floor: null,
      unit: "us",
      ratio: null,
    },
    {
      name: "next(), warm, zone with DST, median",
      ours: medianMicros(every, newYork, from),
      floor: null,
      unit: "us",
      ratio: null,
    },
  ];
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

/** Median over batches of 1,000, each walking on from fire to fire. */
function medianMicros(schedule: Schedule, zone: Zone, from: number): number {
  const batches: number[] = [];
  let at = from;
  for (let batch = 0; batch < 101; batch++) {
    batches.push(
      timed(() => {
        for (let step = 0; step < 1000; step++) at = nextFire(schedule, zone, at) ?? from;
      }),
    );
  }
  batches.sort((a, b) => a - b);
  return batches[50] ?? 0; // ms per 1,000 = us each
}
