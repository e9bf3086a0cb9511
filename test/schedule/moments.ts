import { parseSchedule } from "../../src/schedule/expression.ts";
import { fires } from "../../src/schedule/fires.ts";
import { type Zone, zoneNamed } from "../../src/schedule/zone.ts";

/** How this room's tests write and read moments. */

export function zone(name: string): Zone {
  const found = zoneNamed(name);
  if (found === null) throw new Error(`the platform does not know ${name}`);
  return found;
}

/** A label written `2026-03-08T02:30[:00[.5]]`, in seconds. */
export function label(text: string): number {
  return Date.parse(`${text}Z`) / 1000;
}

export const iso = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

/** The first fires after an instant, as text; fewer when the schedule ends. */
export function upcoming(count: number, expression: string, zoneName: string, from: string, key?: string): string[] {
  const found: string[] = [];
  for (const fire of fires(parseSchedule(expression, key), zone(zoneName), Date.parse(from))) {
    found.push(iso(fire));
    if (found.length === count) break;
  }
  return found;
}
