import type { ControlPlane } from "../../contract/control-plane.ts";
import type { JobView } from "../../contract/job-view.ts";
import { version } from "../../contract/version.ts";
import {
  scheduleDuplicates,
  schedulePressure,
  schedulePreview,
  scheduleSuggestion,
  scheduleWhy,
} from "../../contract/wire/schedule.ts";
import { isoInstant } from "../../journal/instant.ts";
import { runStats } from "../../journal/ledger/run-stats.rules.ts";
import type { Clock } from "../../platform/clock.ts";
import { duplicates } from "../../schedule/duplicates.ts";
import type { FleetEntry, Sliced } from "../../schedule/fleet.ts";
import { type CalendarEntry, calendar } from "../../schedule/icalendar.ts";
import { calendarDays, calendarEventsPerEntry, pressureHours, previewFires } from "../../schedule/limits.ts";
import { pressure } from "../../schedule/pressure.ts";
import { preview } from "../../schedule/preview.ts";
import { askedZone, boundedCount, type Answer as Found } from "../../schedule/query.ts";
import { askedPeriod, suggestionHours, suggestSlot } from "../../schedule/suggest.ts";
import { type WhyJob, whyNoRun } from "../../schedule/why.ts";
import { utcZone } from "../../schedule/zone.ts";
import { type Answer, json, ownRefusal, refusal, text } from "../answer.ts";
import { firstGiven, type Query, type Route } from "../call.ts";
import { countDoc, errorDoc, jsonDoc, textDoc, zoneDoc } from "../docs.ts";
import { inTurns } from "../in-turns.ts";
import { quoted } from "../quoted.ts";

interface Parts {
  readonly control: ControlPlane;
  readonly clock: Clock;
}

const badQuestion = errorDoc("The question makes no sense.");

/** Questions about timetables, and calendars of them (http 7.4, 7.5; schedules 11 to 16). */
export function scheduleRoutes({ control, clock }: Parts): Route[] {
  return [
    {
      method: "GET",
      path: "/schedule/preview",
      scope: "view",
      doc: {
        operationId: "schedulePreview",
        tag: "schedule",
        summary: "What an expression means and when it fires next",
        query: {
          expr: { type: "string", about: "The expression.", required: true },
          tz: zoneDoc,
          limit: countDoc("How many fires to show.", previewFires),
          count: { type: "integer", about: "Older name of `limit`." },
          seed: { type: "string", about: "Job name that places H slots." },
        },
        answers: {
          200: jsonDoc("Also for an expression that is none: `valid` is false then.", schedulePreview),
          400: badQuestion,
        },
      },
      handle: ({ query }) =>
        answerOf(
          preview(
            {
              expr: query.get("expr"),
              tz: query.get("tz"),
              limit: query.get("limit"),
              count: query.get("count"),
              seed: query.get("seed"),
            },
            clock.wallNow(),
          ),
        ),
    },
    {
      method: "GET",
      path: "/schedule/pressure",
      scope: "view",
      doc: {
        operationId: "schedulePressure",
        tag: "schedule",
        summary: "How many fires fall into each minute of the day",
        query: { hours: countDoc("Length of the window.", pressureHours), tz: zoneDoc },
        answers: { 200: jsonDoc("Fires by hour and minute.", schedulePressure), 400: badQuestion },
      },
      async handle({ query }) {
        const zone = askedZone(query.get("tz"));
        if (zone.kind !== "answer") return answerOf(zone);
        const hours = boundedCount(query.get("hours"), pressureHours);
        const { entries, excluded } = await inTurns(clock, fleetOf(control));
        const asked = { entries, excluded, startMs: clock.wallNow(), hours, zone: zone.payload };
        return json(await inTurns(clock, pressure(asked)));
      },
    },
    {
      method: "GET",
      path: "/schedule/duplicates",
      scope: "view",
      doc: {
        operationId: "scheduleDuplicates",
        tag: "schedule",
        summary: "Jobs that are due at the same times",
        answers: { 200: jsonDoc("Groups of two and more.", scheduleDuplicates) },
      },
      async handle() {
        const { entries } = await inTurns(clock, fleetOf(control));
        return json(await inTurns(clock, duplicates(entries)));
      },
    },
    {
      method: "GET",
      path: "/schedule/suggest",
      scope: "view",
      doc: {
        operationId: "scheduleSuggest",
        tag: "schedule",
        summary: "A quiet slot for a new job",
        query: {
          period: { type: "string", about: "How often the job is to run.", values: ["hourly", "daily"] },
          tz: zoneDoc,
        },
        answers: { 200: jsonDoc("The slot, and two more.", scheduleSuggestion), 400: badQuestion },
      },
      async handle({ query }) {
        const zone = askedZone(query.get("tz"));
        if (zone.kind !== "answer") return answerOf(zone);
        const period = askedPeriod(query.get("period"));
        if (period.kind !== "answer") return answerOf(period);
        const { entries, excluded } = await inTurns(clock, fleetOf(control));
        const asked = { entries, excluded, startMs: clock.wallNow(), hours: suggestionHours, zone: zone.payload };
        return json(suggestSlot(period.payload, await inTurns(clock, pressure(asked))));
      },
    },
    {
      method: "GET",
      path: "/schedule/why",
      scope: "view",
      doc: {
        operationId: "scheduleWhy",
        tag: "schedule",
        summary: "Whether a job's schedule selects a moment, and if not, what is against it",
        query: {
          job: { type: "string", about: "A job, or a DAG as dag:<name>.", required: true },
          at: { type: "string", about: "ISO 8601; without an offset in the job's zone.", required: true },
        },
        answers: {
          200: jsonDoc("Field by field.", scheduleWhy),
          400: badQuestion,
          404: errorDoc("There is no job or DAG schedule of that name."),
        },
      },
      handle: ({ query }) =>
        answerOf(whyNoRun({ job: query.get("job"), at: query.get("at") }, (name) => whyJob(control, name))),
    },
    {
      method: "GET",
      path: "/calendar.ics",
      scope: "view",
      doc: {
        operationId: "getCalendar",
        tag: "calendar",
        summary: "Coming fires of all jobs as a calendar",
        access: "query token",
        query: calendarQuery,
        answers: { 200: textDoc("iCalendar.", "text/calendar") },
      },
      async handle({ query }) {
        const entries = await inTurns(clock, calendarEntries(control));
        return calendarAnswer(clock, query, entries, null);
      },
    },
    {
      method: "GET",
      path: "/jobs/{name}/calendar.ics",
      scope: "view",
      doc: {
        operationId: "getJobCalendar",
        tag: "calendar",
        summary: "Coming fires of one job, or of a DAG as dag:<name>, as a calendar",
        access: "query token",
        query: calendarQuery,
        answers: {
          200: textDoc("iCalendar.", "text/calendar"),
          404: errorDoc("There is no job or DAG schedule of that name."),
        },
      },
      handle({ params: { name = "" }, query }) {
        const entries = entriesOf(control, name);
        if (entries === null) return refusal(404, `no job or DAG schedule named ${quoted(name)}`);
        return calendarAnswer(clock, query, entries, name);
      },
    },
  ];
}

const calendarQuery = {
  days: countDoc("How far to look ahead.", calendarDays),
  limit: countDoc("How many events of each job to show.", calendarEventsPerEntry),
  per_job: { type: "integer", about: "Older name of `limit`." },
} as const;

function answerOf<T>(found: Found<T>): Answer {
  switch (found.kind) {
    case "answer":
      return json(found.payload);
    case "bad request":
      return ownRefusal(400, found.error);
    case "not found":
      return refusal(404, found.error);
  }
}

async function calendarAnswer(
  clock: Clock,
  query: Query,
  entries: readonly CalendarEntry[],
  job: string | null,
): Promise<Answer> {
  const days = boundedCount(query.get("days"), calendarDays);
  const eventsPerEntryMax = boundedCount(firstGiven(query, "limit", "per_job"), calendarEventsPerEntry);
  const asked = { entries, job, version, nowMs: clock.wallNow(), days, eventsPerEntryMax };
  const feed = await inTurns(clock, joined(calendar(asked)));
  return text(feed, "text/calendar; charset=utf-8", [["Content-Disposition", 'inline; filename="cronstable.ics"']]);
}

function* joined(pieces: Generator<string, void, undefined>): Sliced<string> {
  let whole = "";
  for (const piece of pieces) {
    whole += piece;
    yield;
  }
  return whole;
}

/** Enabled jobs with a timetable, then enabled DAGs with one (schedules 13). */
function* fleetOf(control: ControlPlane): Sliced<{
  readonly entries: readonly FleetEntry[];
  readonly excluded: { readonly disabled: number; readonly reboot: number };
}> {
  const entries: FleetEntry[] = [];
  const excluded = { disabled: 0, reboot: 0 };
  for (const { config } of control.jobs()) {
    const { name, enabled, timing } = config;
    if (!enabled) excluded.disabled++;
    else if (timing.kind === "reboot") excluded.reboot++;
    else if (timing.kind === "timetable") entries.push({ name, schedule: timing.schedule, zone: timing.zone });
    yield;
  }
  entries.push(...dagEntries(control));
  return { entries, excluded };
}

function dagEntries(control: ControlPlane): FleetEntry[] {
  return control
    .dagConfigs()
    .flatMap(({ name, enabled, timing }) =>
      enabled && timing !== null ? [{ name: `dag:${name}`, schedule: timing.schedule, zone: timing.zone }] : [],
    );
}

function* calendarEntries(control: ControlPlane): Sliced<CalendarEntry[]> {
  const entries: CalendarEntry[] = [];
  for (const view of control.jobs()) {
    entries.push(...calendarEntry(view));
    yield;
  }
  entries.push(...dagEntries(control).map((entry) => ({ ...entry, meanSeconds: null })));
  return entries;
}

/** None for a job that has no fires to come: its calendar is there and empty. */
function calendarEntry({ config, rows }: JobView): CalendarEntry[] {
  const { name, enabled, timing } = config;
  if (!enabled || timing.kind !== "timetable") return [];
  return [{ name, schedule: timing.schedule, zone: timing.zone, meanSeconds: runStats(rows).averageDurationSeconds }];
}

/** Null when there is neither such a job nor such a DAG with a schedule. */
function entriesOf(control: ControlPlane, name: string): CalendarEntry[] | null {
  const view = control.job(name);
  if (view !== null) return calendarEntry(view);
  const dag = scheduledDag(control, name);
  if (dag === null) return null;
  const { schedule, zone } = dag.timing;
  return dag.enabled ? [{ name, schedule, zone, meanSeconds: null }] : [];
}

function whyJob(control: ControlPlane, name: string): WhyJob | null {
  const view = control.job(name);
  if (view === null) {
    const dag = scheduledDag(control, name);
    if (dag === null) return null;
    return { name, enabled: dag.enabled, zone: dag.timing.zone, timetable: dag.timing.schedule, paused: null };
  }
  const { config, pause } = view;
  const paused = pause === null ? null : { until: isoInstant(pause.until), by: pause.by, note: pause.note };
  const { enabled, timing } = config;
  if (timing.kind !== "timetable") return { name, enabled, zone: utcZone, timetable: "@reboot", paused };
  return { name, enabled, zone: timing.zone, timetable: timing.schedule, paused };
}

function scheduledDag(control: ControlPlane, name: string) {
  if (!name.startsWith("dag:")) return null;
  const dag = control.dagConfigs().find((candidate) => candidate.name === name.slice(4));
  return dag === undefined || dag.timing === null ? null : { enabled: dag.enabled, timing: dag.timing };
}
