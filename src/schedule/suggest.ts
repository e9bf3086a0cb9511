import type { Pressure } from "./pressure.ts";
import { type Answer, badRequest } from "./query.ts";

export type Period = "hourly" | "daily";

interface Slot {
  /** Daily slots only. */
  readonly hour?: number;
  readonly minute: number;
  readonly expression: string;
  readonly fires_in_window: number;
}

export type Suggestion = Slot & {
  readonly period: Period;
  readonly timezone: string;
  readonly based_on: { readonly jobs: number; readonly start: string; readonly hours: number };
  readonly busiest: { readonly hour?: number; readonly minute: number; readonly fires_in_window: number };
  readonly alternatives: readonly Slot[];
  /** What to write to let the job's name choose instead. */
  readonly hash_hint: string;
};

/** Suggestions look at one day of pressure. */
export const suggestionHours = 24;

/** The period a query asks for; hourly when it asks for none. */
export function askedPeriod(text: string | null | undefined): Answer<Period> {
  if (text === null || text === undefined || text === "" || text === "hourly")
    return { kind: "answer", payload: "hourly" };
  if (text === "daily") return { kind: "answer", payload: "daily" };
  return badRequest(`period must be 'hourly' or 'daily', got '${text}'`);
}

/**
 * The least loaded slot, and of several such the one furthest around the clock from the busiest (section 15).
 * A daily slot is in the clock of the pressure's zone: the job needs that zone too.
 *
 * @param pressure over `suggestionHours`
 */
export function suggestSlot(period: Period, pressure: Pressure): Suggestion {
  const loads = period === "hourly" ? pressure.by_minute_fires : pressure.grid.flat();
  const busiest = loads.indexOf(Math.max(...loads));
  const distance = (slot: number) => {
    const apart = Math.abs(slot - busiest);
    return Math.min(apart, loads.length - apart);
  };
  const load = (slot: number) => loads[slot] ?? 0;
  const [best = 0, second = 0, third = 0] = loads
    .map((_, slot) => slot)
    .sort((a, b) => load(a) - load(b) || distance(b) - distance(a) || a - b);
  const slotAt = (slot: number): Slot => ({
    ...timeOf(period, slot),
    expression: period === "hourly" ? `${slot} * * * *` : `${slot % 60} ${Math.floor(slot / 60)} * * *`,
    fires_in_window: load(slot),
  });
  return {
    period,
    timezone: pressure.timezone,
    based_on: { jobs: pressure.jobs, start: pressure.start, hours: pressure.hours },
    ...slotAt(best),
    busiest: { ...timeOf(period, busiest), fires_in_window: load(busiest) },
    alternatives: [slotAt(second), slotAt(third)],
    hash_hint: period === "hourly" ? "H * * * *" : "H H * * *",
  };
}

function timeOf(period: Period, slot: number): { hour?: number; minute: number } {
  return period === "hourly" ? { minute: slot } : { hour: Math.floor(slot / 60), minute: slot % 60 };
}
