import { z } from "zod";
import { scheduleFinding } from "./job.ts";
import { instant, named, openEnum } from "./shape.ts";

const asked = { expression: z.string(), timezone: z.string(), seed: z.string().optional() };

export const schedulePreview = named(
  "SchedulePreview",
  z.object({
    ...asked,
    valid: z.boolean(),
    /** When `valid` is false. */
    error: z.string().optional(),
    reboot: z.boolean().optional(),
    normalized: z.string().optional(),
    description: z.string().optional(),
    fires: z.array(instant).optional(),
    never_fires: z.boolean().optional(),
    lint: z.array(scheduleFinding).optional(),
    resolved: z.string().optional(),
  }),
);

export const scheduleWhy = named(
  "ScheduleWhy",
  z.object({
    job: z.string(),
    enabled: z.boolean(),
    timezone: z.string(),
    at: z.string(),
    expression: z.string(),
    reboot: z.boolean(),
    description: z.string(),
    at_in_zone: instant.optional(),
    resolved: z.string().optional(),
    matches: z.boolean(),
    checks: z.array(
      z.object({
        field: openEnum(["second", "minute", "hour", "day-of-month", "month", "day-of-week", "year"]),
        value: z.int(),
        label: z.string(),
        allowed: z.string(),
        matched: z.boolean(),
      }),
    ),
    failed: z.array(z.string()),
    notes: z.array(scheduleFinding),
    previous_fire: instant.nullable(),
    next_fire: instant.nullable(),
  }),
);

export const schedulePressure = named(
  "SchedulePressure",
  z.object({
    start: instant,
    hours: z.int(),
    timezone: z.string(),
    jobs: z.int(),
    total_fires: z.int(),
    grid: z.array(z.array(z.int())),
    by_minute_fires: z.array(z.int()),
    by_minute_jobs: z.array(z.int()),
    by_hour: z.array(z.int()),
    busiest_minute: z.object({ minute: z.int(), jobs: z.int(), fires: z.int() }),
    empty_minutes: z.array(z.int()),
    top_cells: z.array(z.object({ hour: z.int(), minute: z.int(), fires: z.int(), jobs: z.array(z.string()) })),
    excluded: z.object({ disabled: z.int(), reboot: z.int() }),
  }),
);

export const scheduleDuplicates = named(
  "ScheduleDuplicates",
  z.object({
    jobs: z.int(),
    groups: z.array(
      z.object({
        expression: z.string(),
        description: z.string(),
        timezone: z.string(),
        count: z.int(),
        jobs: z.array(z.string()),
      }),
    ),
  }),
);

const slot = { hour: z.int().optional(), minute: z.int(), fires_in_window: z.int() };

export const scheduleSuggestion = named(
  "ScheduleSuggestion",
  z.object({
    period: openEnum(["hourly", "daily"]),
    timezone: z.string(),
    based_on: z.object({ jobs: z.int(), start: instant, hours: z.int() }),
    ...slot,
    expression: z.string(),
    busiest: z.object(slot),
    alternatives: z.array(z.object({ ...slot, expression: z.string() })),
    hash_hint: z.string(),
  }),
);
