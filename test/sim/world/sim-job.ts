import type { JobConfig, PoolConfig } from "../../../src/config/model.ts";
import { parseSchedule } from "../../../src/schedule/expression.ts";
import { utcZone } from "../../../src/schedule/zone.ts";
import { jobConfig } from "../../support/job-config.ts";
import type { Random } from "./random.ts";

/** How one run of a command goes. */
export interface Behaviour {
  readonly exitCode: number;
  readonly lastsMs: number;
  /** How long it takes to die of a stop. */
  readonly diesInMs: number;
  readonly fails: "never" | "to launch";
  /** What a task pushes right before it ends. */
  readonly publishes: { readonly key: string; readonly text: string } | null;
}

/** A job of a simulated world: its configuration, when it is due as plain arithmetic, and what its command does. */
export interface SimJob {
  readonly config: JobConfig;
  /** Due at every instant with `(instant - offsetMs) % periodMs === 0`; null: at boot only. */
  readonly timetable: Timetable | null;
  behave(random: Random): Behaviour;
}

export interface Timetable {
  readonly periodMs: number;
  readonly offsetMs: number;
}

/** The slots after `after` up to and including `upTo`, by arithmetic alone: what the real calendar is judged by. */
export function slotsOf({ periodMs, offsetMs }: Timetable, after: number, upTo: number): number[] {
  const slots: number[] = [];
  let slot = Math.floor((after - offsetMs) / periodMs) * periodMs + offsetMs;
  for (; slot <= upTo; slot += periodMs) if (slot > after) slots.push(slot);
  return slots;
}

const MINUTE = 60_000;

/** The same job, let in by a pool. What the queue does with retries and missed slots is not counted by plain arithmetic. */
export function inPool(job: SimJob, pool: PoolConfig, random: Random): SimJob {
  const { config } = job;
  const { concurrencyPolicy, launch, retry } = config;
  return {
    ...job,
    config: {
      ...config,
      concurrencyPolicy: concurrencyPolicy === "Replace" ? "Allow" : concurrencyPolicy,
      concurrencyScope: "node",
      onMissed: "skip",
      onlyIfLastSucceeded: false,
      retry: { ...retry, maximumRetries: 0 },
      launch: {
        ...launch,
        pool: {
          pool: pool.name,
          slots: random.between(1, pool.slots),
          priority: random.between(0, 2),
          timeoutSeconds: random.pick([300, 3600]),
        },
      },
    },
  };
}

interface JobFrame {
  /** There are several hosts. */
  readonly fleet: boolean;
  /** Instead of a drawn one. */
  readonly timetable?: Timetable | null;
}

/** Draws a job. Most of what makes the rules interesting is likely: short periods, long runs, failures, few retries. */
export function drawJob(
  name: string,
  random: Random,
  { fleet, timetable = random.chance(0.08) ? null : drawTimetable(random) }: JobFrame,
): SimJob {
  const concurrencyPolicy = random.pick(["Allow", "Forbid", "Forbid", "Replace"] as const);
  const onMissed = timetable === null ? "skip" : random.pick(["skip", "run-once", "run-all", "run-all"] as const);
  const retries = random.pick([0, 0, 1, 3, 5, "unlimited"] as const);
  const failureRate = random.pick([0, 0.1, 0.5, 0.9]);
  const typicalMs = random.pick([200, 5_000, 30_000, 90_000, 400_000]);
  const clusterScope = fleet && concurrencyPolicy !== "Allow" && random.chance(0.5);
  const text = timetable === null ? "@reboot" : cronText(timetable);
  const config = jobConfig({
    name,
    scheduleText: text,
    timing:
      timetable === null
        ? { kind: "reboot" }
        : { kind: "timetable", schedule: parseSchedule(text, name), zone: utcZone },
    concurrencyPolicy,
    concurrencyScope: clusterScope ? "cluster" : "node",
    clusterPolicy: fleet && !random.chance(0.3) ? "Leader" : "EveryNode",
    onMissed,
    startingDeadlineSeconds: random.chance(0.2) ? random.pick([60, 600, 3600]) : null,
    catchupJitterSeconds: random.chance(0.3) ? random.pick([5, 60, 300]) : 0,
    onlyIfLastSucceeded: random.chance(0.15),
    retry: {
      maximumRetries: retries,
      initialDelaySeconds: random.pick([1, 20, 70, 600]),
      maximumDelaySeconds: 900,
      backoffMultiplier: random.pick([1, 2]),
    },
  });
  return {
    config,
    timetable,
    behave: (draw) => ({
      exitCode: draw.chance(failureRate) ? 1 : 0,
      lastsMs: Math.round(typicalMs * (0.2 + 1.6 * draw.next())),
      diesInMs: draw.chance(0.8) ? draw.between(0, 500) : draw.between(500, 30_000),
      fails: draw.chance(0.01) ? "to launch" : "never",
      publishes: null,
    }),
  };
}

function drawTimetable(random: Random): Timetable {
  const periodMs = random.pick([
    random.chance(0.3) ? 20_000 : 15 * MINUTE,
    MINUTE,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    120 * MINUTE,
  ]);
  const unit = periodMs < MINUTE ? 1000 : MINUTE;
  return { periodMs, offsetMs: unit * random.between(0, Math.min(periodMs / unit, 60) - 1) };
}

/** The same timetable in the words of a crontab. */
export function cronText({ periodMs, offsetMs }: Timetable): string {
  if (periodMs < MINUTE) return `${offsetMs / 1000}-59/${periodMs / 1000} * * * * * *`;
  const minute = offsetMs / MINUTE;
  const minutes = periodMs / MINUTE;
  if (minutes < 60) return `${minute}-59/${minutes} * * * *`;
  return minutes === 60 ? `${minute} * * * *` : `${minute} */${minutes / 60} * * *`;
}
