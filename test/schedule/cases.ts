import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

/** The calendar's reference data: cases made by the system that this one replaces, and the rows where ours differs on purpose. */

const fires = z.object({
  g: z.string().optional(),
  e: z.string(),
  key: z.string().optional(),
  tz: z.string(),
  from: z.string(),
  fires: z.array(z.string()),
  end: z.boolean().optional(),
});
const previous = z.object({
  e: z.string(),
  key: z.string().optional(),
  tz: z.string(),
  at: z.string(),
  prev: z.string().nullable(),
});
const numbers = z.array(z.number());
const note = z.tuple([z.string(), z.string(), z.string()]);
const fleetJob = z.tuple([z.string(), z.string(), z.string()]);

const caseFile = z.object({
  fires: z.array(fires),
  divergent: z.array(fires),
  prev: z.array(previous),
  parse: z.array(
    z.object({
      e: z.string(),
      key: z.string().optional(),
      norm: z.string(),
      resolved: z.string().optional(),
      desc: z.string(),
      s: numbers.optional(),
      m: numbers.optional(),
      h: numbers.optional(),
      dom: numbers.optional(),
      mon: numbers.optional(),
      dow: numbers.optional(),
      lastOff: numbers.optional(),
      near: numbers.optional(),
      lw: z.boolean().optional(),
      lastDow: numbers.optional(),
      nth: z.array(numbers).optional(),
      years: numbers.optional(),
    }),
  ),
  errors: z.array(z.object({ e: z.string(), key: z.string().optional(), error: z.string() })),
  equal: z.array(z.object({ a: z.string(), b: z.string(), equal: z.boolean() })),
  lint: z.array(
    z.object({
      e: z.string(),
      key: z.string().optional(),
      tz: z.string().nullable(),
      now: z.string(),
      findings: z.array(note),
    }),
  ),
  why: z.array(
    z.object({
      e: z.string(),
      tz: z.string(),
      civil: z.string(),
      matches: z.boolean(),
      failed: z.array(z.string()),
      values: numbers,
      labels: z.array(z.string()),
      allowed: z.array(z.string()),
      notes: z.array(note),
    }),
  ),
  fleets: z.array(
    z.object({
      name: z.string(),
      jobs: z.array(fleetJob),
      start: z.string(),
      tz: z.string(),
      hours: z.number(),
      pressure: z.looseObject({ gridNonzero: z.array(numbers).nullable() }),
      duplicates: z.array(z.unknown()),
      hourly: z.unknown(),
      daily: z.unknown(),
    }),
  ),
  ical: z.array(
    z.object({
      name: z.string(),
      jobs: z.array(z.tuple([z.string(), z.string(), z.string(), z.number().nullable()])),
      start: z.string(),
      now: z.string(),
      days: z.number(),
      cap: z.number(),
      calname: z.string(),
      version: z.string(),
      text: z.string(),
    }),
  ),
});
const overrideFile = z.object({
  fires: z.array(fires),
  prev: z.array(previous),
  golden: z.array(z.object({ e: z.string(), now: z.number(), delta: z.number().nullable() })),
});
const delays = z.array(z.number().nullable());
const goldenFile = z.object({
  naive_next_nows: z.array(z.string()),
  aware_next_nows: z.array(z.object({ tz: z.string(), dt: z.string(), fold: z.number() })),
  test_dts: z.array(z.string()),
  exprs: z.record(
    z.string(),
    z.union([
      z.object({ ok: z.literal(false) }),
      z.object({ ok: z.literal(true), next: delays, aware_next: delays, test: z.array(z.boolean()) }),
    ]),
  ),
  equality: z.array(z.object({ a: z.string(), b: z.string(), equal: z.boolean() })),
});

const read = (path: string | URL): unknown => JSON.parse(readFileSync(path, "utf8"));

export const cases = caseFile.parse(read(new URL("../data/schedule_cases.json", import.meta.url)));
export const overrides = overrideFile.parse(read(new URL("../data/schedule_overrides.json", import.meta.url)));

const goldenPath = process.env.CRONSTABLE_GOLDEN ?? new URL("../../../shared/data/cron_golden.json", import.meta.url);

/** Vectors of the library that the replaced system took its dialect from. They live beside the repository, not in it; null when they are not there. */
export const golden = existsSync(goldenPath) ? goldenFile.parse(read(goldenPath)) : null;
