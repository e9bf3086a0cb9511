import { labelOf } from "./civil.ts";
import { offsetAt, type Zone, zoneNamed } from "./zone.ts";

/** Facts that came with releases of the time zone database, oldest first: from then on a zone keeps that offset in summer or winter. */
const facts: readonly {
  readonly release: string;
  readonly zone: string;
  readonly at: number;
  readonly hours: number;
}[] = [
  { release: "2007", zone: "America/New_York", at: labelOf(2026, 3, 20), hours: -4 },
  { release: "2022f", zone: "America/Mexico_City", at: labelOf(2023, 7, 1), hours: -6 },
  { release: "2023c", zone: "Africa/Cairo", at: labelOf(2023, 7, 1), hours: 3 },
  { release: "2024a", zone: "Asia/Almaty", at: labelOf(2024, 7, 1), hours: 5 },
];

/**
 * What is wrong with the platform's time zone database, for the operator to read at start; null when nothing is.
 * A zone it lacks or has old rules of would otherwise show at a fire, an hour off.
 *
 * @param find how zones are found
 */
export function tzdataProblem(find: (name: string) => Zone | null = zoneNamed): string | null {
  for (const { release, zone: name, at, hours } of facts) {
    const zone = find(name);
    if (zone === null)
      return `the time zone database of this Node.js lacks ${name}: install a Node.js with full ICU data`;
    if (offsetAt(zone, at) !== hours * 3600)
      return `the time zone database of this Node.js is older than ${release} (${name} is out of date): update Node.js`;
  }
  return null;
}
