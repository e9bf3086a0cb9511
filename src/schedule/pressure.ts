import { secondsPerDay } from "./civil.ts";
import type { Schedule } from "./expression.ts";
import { nextFire } from "./fires.ts";
import type { FleetEntry, Sliced } from "./fleet.ts";
import { entriesPerSlice, firesPerSlice, pressureNamesPerCell, pressureTopCells, searchesPerSlice } from "./limits.ts";
import { members, setOf } from "./value-set.ts";
import { isoInZone, offsetAt, type Zone } from "./zone.ts";

/** What is asked (section 13), over a snapshot of the fleet. */
export interface PressureQuery {
  readonly entries: readonly FleetEntry[];
  /** Jobs that are no entries: disabled ones, and enabled ones that run at start only. */
  readonly excluded: { readonly disabled: number; readonly reboot: number };
  readonly startMs: number;
  readonly hours: number;
  /** The zone whose wall clock the grid shows. */
  readonly zone: Zone;
}

export interface Pressure {
  readonly start: string;
  readonly hours: number;
  readonly timezone: string;
  readonly jobs: number;
  readonly total_fires: number;
  /** 24 hours of 60 minutes. */
  readonly grid: readonly (readonly number[])[];
  readonly by_minute_fires: readonly number[];
  readonly by_minute_jobs: readonly number[];
  readonly by_hour: readonly number[];
  readonly busiest_minute: { readonly minute: number; readonly jobs: number; readonly fires: number };
  readonly empty_minutes: readonly number[];
  readonly top_cells: readonly TopCell[];
  readonly excluded: { readonly disabled: number; readonly reboot: number };
}

interface TopCell {
  readonly hour: number;
  readonly minute: number;
  readonly fires: number;
  readonly jobs: readonly string[];
}

const minutesPerDay = 1440;

/** How many fires fall into each minute of the day during the window, and whose. */
export function* pressure(query: PressureQuery): Sliced<Pressure> {
  const groups = yield* groupAlike(query.entries);
  const tally: Tally = {
    cells: new Array<number>(minutesPerDay).fill(0),
    minuteJobs: new Array<number>(60).fill(0),
    groupsOfCell: Array.from({ length: minutesPerDay }, () => []),
  };
  let fires = 0;
  for (const [index, group] of groups.entries()) {
    if (index % searchesPerSlice === searchesPerSlice - 1) yield;
    for (const _ of countFires(query, group, tally)) {
      fires += 1;
      if (fires % firesPerSlice === 0) yield;
    }
  }
  return report(query, tally);
}

/** Entries that fire alike are walked once. */
interface Group {
  readonly schedule: Schedule;
  readonly zone: Zone;
  /** Positions of its entries in the fleet, in order. */
  readonly positions: number[];
}

interface Tally {
  readonly cells: number[];
  readonly minuteJobs: number[];
  /** The first groups that fire in each cell: as many as are needed to name the cell's first jobs. */
  readonly groupsOfCell: Group[][];
}

function* groupAlike(entries: readonly FleetEntry[]): Sliced<readonly Group[]> {
  const groups = new Map<string, Group>();
  for (const [position, { schedule, zone }] of entries.entries()) {
    if (position % entriesPerSlice === entriesPerSlice - 1) yield;
    const key = `${schedule.resolved} in ${zone.label}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { schedule, zone, positions: [position] });
    else group.positions.push(position);
  }
  return [...groups.values()];
}

/** Adds a group's fires to the tally, and pauses at each. Seconds are not shown: their number weighs their minute. */
function* countFires(query: PressureQuery, group: Group, tally: Tally): Generator<void, void, undefined> {
  const weight = members(group.schedule.seconds).length * group.positions.length;
  const byMinute: Schedule = { ...group.schedule, seconds: setOf([0]) };
  const endMs = query.startMs + query.hours * 3_600_000;
  const minutes = new Set<number>();
  let fire = nextFire(byMinute, group.zone, query.startMs);
  for (; fire !== null && fire < endMs; fire = nextFire(byMinute, group.zone, fire)) {
    const cell = minuteOfDay(query.zone, fire / 1000);
    tally.cells[cell] = (tally.cells[cell] ?? 0) + weight;
    minutes.add(cell % 60);
    const seen = tally.groupsOfCell[cell];
    if (seen !== undefined && seen.length < pressureNamesPerCell && seen.at(-1) !== group) seen.push(group);
    yield;
  }
  for (const minute of minutes) tally.minuteJobs[minute] = (tally.minuteJobs[minute] ?? 0) + group.positions.length;
}

function minuteOfDay(zone: Zone, instant: number): number {
  const label = instant + offsetAt(zone, instant);
  return Math.floor((label - Math.floor(label / secondsPerDay) * secondsPerDay) / 60);
}

function report({ entries, excluded, startMs, hours, zone }: PressureQuery, tally: Tally): Pressure {
  const grid = range(24).map((hour) => tally.cells.slice(hour * 60, hour * 60 + 60));
  const minuteFires = range(60).map((minute) => sum(grid.map((row) => row[minute] ?? 0)));
  const ranked = range(60).sort(
    (a, b) => at(tally.minuteJobs, b) - at(tally.minuteJobs, a) || at(minuteFires, b) - at(minuteFires, a) || a - b,
  );
  const busiest = ranked[0] ?? 0;
  return {
    start: isoInZone(zone, startMs),
    hours,
    timezone: zone.label,
    jobs: entries.length,
    total_fires: sum(tally.cells),
    grid,
    by_minute_fires: minuteFires,
    by_minute_jobs: tally.minuteJobs,
    by_hour: grid.map(sum),
    busiest_minute: { minute: busiest, jobs: at(tally.minuteJobs, busiest), fires: at(minuteFires, busiest) },
    empty_minutes: range(60).filter((minute) => at(minuteFires, minute) === 0),
    top_cells: topCells(entries, tally),
    excluded,
  };
}

function topCells(entries: readonly FleetEntry[], { cells, groupsOfCell }: Tally): TopCell[] {
  return range(minutesPerDay)
    .filter((cell) => at(cells, cell) > 0)
    .sort((a, b) => at(cells, b) - at(cells, a) || a - b)
    .slice(0, pressureTopCells)
    .map((cell) => ({
      hour: Math.floor(cell / 60),
      minute: cell % 60,
      fires: at(cells, cell),
      jobs: firstNames(entries, groupsOfCell[cell] ?? []),
    }));
}

function firstNames(entries: readonly FleetEntry[], groups: readonly Group[]): string[] {
  return groups
    .flatMap(({ positions }) => positions.slice(0, pressureNamesPerCell))
    .sort((a, b) => a - b)
    .slice(0, pressureNamesPerCell)
    .map((position) => entries[position]?.name ?? "");
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
