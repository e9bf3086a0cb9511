import { describe, isReboot, rebootDescription } from "./describe.ts";
import { parseSchedule, type Schedule } from "./expression.ts";
import { fires } from "./fires.ts";
import { previewFires } from "./limits.ts";
import { type Finding, lint } from "./lint.ts";
import { type Answer, askedZone, badRequest, boundedCount } from "./query.ts";
import { ScheduleError } from "./schedule-error.ts";
import { isoInZone, type Zone } from "./zone.ts";

/** What is asked (section 11): texts as they came; absent ones undefined. `count` is the older name of `limit`. */
export interface PreviewQuery {
  readonly expr?: string | undefined;
  readonly tz?: string | undefined;
  readonly limit?: string | undefined;
  readonly count?: string | undefined;
  readonly seed?: string | undefined;
}

interface Asked {
  readonly expression: string;
  readonly timezone: string;
  /** The hash key, when one was given. */
  readonly seed?: string;
}

export type Preview =
  | (Asked & { readonly valid: false; readonly error: string })
  | (Asked & {
      readonly valid: true;
      readonly reboot: boolean;
      /** Absent for `@reboot`, which is no timetable. */
      readonly normalized?: string;
      readonly description: string;
      readonly fires: readonly string[];
      readonly never_fires: boolean;
      readonly lint: readonly Finding[];
      /** Present when an `H` was resolved. */
      readonly resolved?: string;
    });

/** What an expression would do. One that does not parse is an answer too. */
export function preview(query: PreviewQuery, nowMs: number): Answer<Preview> {
  const expression = (query.expr ?? "").trim();
  if (expression === "") return badRequest("missing ?expr= query parameter");
  const zone = askedZone(query.tz);
  if (zone.kind !== "answer") return zone;
  const asked: Asked = {
    expression,
    timezone: zone.payload.label,
    ...(query.seed === undefined ? {} : { seed: query.seed }),
  };
  if (isReboot(expression)) return { kind: "answer", payload: { ...asked, ...rebootFacts } };
  const limit = boundedCount(query.limit ?? query.count, previewFires);
  try {
    const schedule = parseSchedule(expression, query.seed);
    return { kind: "answer", payload: { ...asked, ...facts(schedule, zone.payload, limit, nowMs) } };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { kind: "answer", payload: { ...asked, valid: false, error: error.message } };
  }
}

const rebootFacts = {
  valid: true,
  reboot: true,
  description: rebootDescription,
  fires: [],
  never_fires: false,
  lint: [],
} as const;

function facts(schedule: Schedule, zone: Zone, limit: number, nowMs: number) {
  const upcoming: string[] = [];
  for (const fire of fires(schedule, zone, nowMs)) {
    upcoming.push(isoInZone(zone, fire));
    if (upcoming.length === limit) break;
  }
  return {
    valid: true,
    reboot: false,
    normalized: schedule.source,
    description: describe(schedule),
    fires: upcoming,
    never_fires: upcoming.length === 0,
    lint: lint(schedule, zone, nowMs),
    ...(schedule.resolved === schedule.source ? {} : { resolved: schedule.resolved }),
  } as const;
}
