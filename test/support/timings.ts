import type { Timing } from "../../src/config/model.ts";
import { parseSchedule } from "../../src/schedule/expression.ts";
import { utcZone, zoneNamed } from "../../src/schedule/zone.ts";

/** A timetable, in UTC unless a zone is named. */
export function timetable(expression: string, zoneName?: string): Extract<Timing, { kind: "timetable" }> {
  const zone = zoneName === undefined ? utcZone : zoneNamed(zoneName);
  if (zone === null) throw new Error(`no zone ${zoneName}`);
  return { kind: "timetable", schedule: parseSchedule(expression, "test"), zone };
}

export const everyMinute = timetable("* * * * *");
export const everyHour = timetable("0 * * * *");
export const atBoot: Timing = { kind: "reboot" };
