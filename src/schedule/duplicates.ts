import { describeExpression } from "./describe.ts";
import { partsKey } from "./expression.ts";
import type { FleetEntry, Sliced } from "./fleet.ts";
import { descriptionsPerSlice, entriesPerSlice } from "./limits.ts";

export interface Duplicates {
  readonly jobs: number;
  readonly groups: readonly DuplicateGroup[];
}

interface DuplicateGroup {
  readonly expression: string;
  readonly description: string;
  readonly timezone: string;
  readonly count: number;
  readonly jobs: readonly string[];
}

/** Which entries are due at the same labels in the same zone, largest groups first (section 14). */
export function* duplicates(entries: readonly FleetEntry[]): Sliced<Duplicates> {
  const alike = new Map<string, FleetEntry[]>();
  for (const [position, entry] of entries.entries()) {
    if (position % entriesPerSlice === entriesPerSlice - 1) yield;
    const key = `${partsKey(entry.schedule)} in ${entry.zone.label}`;
    const group = alike.get(key);
    if (group === undefined) alike.set(key, [entry]);
    else group.push(entry);
  }
  const groups: DuplicateGroup[] = [];
  for (const group of alike.values()) {
    if (group.length < 2) continue;
    if (groups.length % descriptionsPerSlice === descriptionsPerSlice - 1) yield;
    groups.push(describeGroup(group));
  }
  groups.sort((a, b) => b.count - a.count || compare(a.expression, b.expression));
  return { jobs: entries.length, groups };
}

function describeGroup(group: readonly FleetEntry[]): DuplicateGroup {
  return {
    expression: mostFrequent(group.map(({ schedule }) => schedule.source)),
    description: describeExpression(mostFrequent(group.map(({ schedule }) => schedule.resolved))),
    timezone: group[0]?.zone.label ?? "",
    count: group.length,
    jobs: group.map(({ name }) => name).sort(compare),
  };
}

/** The first seen of those that come most often. */
function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  let [winner, most] = ["", 0];
  for (const [text, count] of counts) if (count > most) [winner, most] = [text, count];
  return winner;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
