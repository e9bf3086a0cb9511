import { dateText, labelOf, timeText } from "./civil.ts";
import { describe, rebootDescription } from "./describe.ts";
import type { Schedule } from "./expression.ts";
import { nextFire, previousFire } from "./fires.ts";
import type { Finding } from "./lint.ts";
import { isRoundTheClock, takesAllMonthDays, takesAllWeekdays } from "./parts.ts";
import { type Answer, badRequest } from "./query.ts";
import { readTimestamp, type Timestamp } from "./timestamp.ts";
import { type Check, checkFields } from "./why-fields.ts";
import { sentenceList } from "./wording.ts";
import { isoInZone, isoText, labelAt, offsetAt, resolve, type Zone } from "./zone.ts";

/** A job, or a DAG under its name `dag:<name>`, as far as its timetable goes. */
export interface WhyJob {
  readonly name: string;
  readonly enabled: boolean;
  readonly zone: Zone;
  readonly timetable: Schedule | "@reboot";
  /** The pause in force, `until` in ISO 8601; null when there is none. */
  readonly paused: { readonly until: string; readonly by: string; readonly note: string | null } | null;
}

/** What is asked (section 12): texts as they came. */
export interface WhyQuery {
  readonly job?: string | undefined;
  readonly at?: string | undefined;
}

export interface Why {
  readonly job: string;
  readonly enabled: boolean;
  readonly timezone: string;
  readonly at: string;
  readonly expression: string;
  readonly reboot: boolean;
  readonly description: string;
  /** Absent for `@reboot`. */
  readonly at_in_zone?: string;
  /** Present when an `H` was resolved. */
  readonly resolved?: string;
  readonly matches: boolean;
  readonly checks: readonly Check[];
  readonly failed: readonly string[];
  readonly notes: readonly Finding[];
  readonly previous_fire: string | null;
  readonly next_fire: string | null;
}

/** Why a job did or did not run at some moment, as far as its schedule decides it. */
export function whyNoRun(query: WhyQuery, find: (name: string) => WhyJob | null): Answer<Why> {
  const [name, at] = [(query.job ?? "").trim(), (query.at ?? "").trim()];
  if (name === "" || at === "") return badRequest("missing ?job= or ?at= query parameter");
  const job = find(name);
  if (job === null) return { kind: "not found", error: `no job or DAG schedule named '${name}'` };
  const { timetable } = job;
  if (timetable === "@reboot") return { kind: "answer", payload: whyReboot(job, at) };
  const timestamp = readTimestamp(at);
  const probe = timestamp === null ? null : probeOf(job.zone, timestamp);
  if (probe === null)
    return badRequest(
      `invalid timestamp '${at}': pass ISO 8601, e.g. 2026-07-14T09:00, 2026-07-14T09:00:00+02:00 or 2026-07-14T09:00:00Z`,
    );
  return { kind: "answer", payload: whyScheduled(job, timetable, at, probe) };
}

/** The moment asked about, as the job's zone shows it. */
interface Probe {
  readonly instantMs: number;
  readonly label: number;
  readonly iso: string;
}

/** Null when the zone shows it in a year that cannot be written. */
function probeOf(zone: Zone, { label, milliseconds, offset }: Timestamp): Probe | null {
  const instant = offset === null ? resolve(zone, label).instant : label - offset;
  const shown = offset === null ? label : labelAt(zone, instant);
  if (shown < labelOf(1, 1, 1) || shown >= labelOf(10_000, 1, 1)) return null;
  const fraction = milliseconds === 0 ? "" : `.${String(milliseconds).padStart(3, "0")}`;
  const shownOffset = offset === null ? label - instant : offsetAt(zone, instant);
  return { instantMs: instant * 1000 + milliseconds, label: shown, iso: isoText(shown, shownOffset, fraction) };
}

function whyScheduled(job: WhyJob, schedule: Schedule, at: string, { instantMs, label, iso }: Probe): Why {
  const checks = checkFields(schedule, label);
  const failed = checks.filter(({ matched }) => !matched).map(({ field }) => field);
  const matches = failed.length === 0;
  const inZone = (fire: number | null) => (fire === null ? null : isoInZone(job.zone, fire));
  return {
    ...headOf(job, at),
    expression: schedule.source,
    reboot: false,
    description: describe(schedule),
    at_in_zone: iso,
    ...(schedule.resolved === schedule.source ? {} : { resolved: schedule.resolved }),
    matches,
    checks,
    failed,
    notes: [
      ...bothDayFields(schedule, failed),
      ...(matches ? clockChange(schedule, job.zone, label) : []),
      ...paused(job),
    ],
    previous_fire: inZone(previousFire(schedule, job.zone, instantMs)),
    next_fire: inZone(nextFire(schedule, job.zone, instantMs)),
  };
}

function whyReboot(job: WhyJob, at: string): Why {
  const message = "@reboot runs once when the daemon starts; it never fires on a timetable, so no timestamp can match";
  return {
    ...headOf(job, at),
    expression: "@reboot",
    reboot: true,
    description: rebootDescription,
    matches: false,
    checks: [],
    failed: [],
    notes: [{ code: "reboot", level: "note", message }, ...paused(job)],
    previous_fire: null,
    next_fire: null,
  };
}

function headOf({ name, enabled, zone }: WhyJob, at: string) {
  return { job: name, enabled, timezone: zone.label, at };
}

/** Both day fields are restricted and one of them is all that stood in the way: another cron would have run it. */
function bothDayFields({ monthDays, weekDays }: Schedule, failed: readonly string[]): Finding[] {
  const [bad, ...others] = failed;
  if (others.length > 0 || (bad !== "day-of-month" && bad !== "day-of-week")) return [];
  if (takesAllMonthDays(monthDays) || takesAllWeekdays(weekDays)) return [];
  const good = bad === "day-of-month" ? "day-of-week" : "day-of-month";
  const message =
    `day-of-month and day-of-week are both restricted and a day must satisfy BOTH here: ${good} matched but ${bad} ` +
    "did not, so classic Vixie cron (which fires when either field matches) WOULD have run this schedule at this instant";
  return [{ code: "day-fields-and-rule", level: "note", message }];
}

function clockChange({ hours }: Schedule, zone: Zone, label: number): Finding[] {
  const moment = (what: string) => `the wall time ${timeText(label)} ${what} on ${dateText(label)} in ${zone.name}`;
  const resolved = resolve(zone, label);
  if (resolved.kind === "skipped") {
    const shifted = timeText(labelAt(zone, resolved.instant));
    const message =
      `${moment("did not exist")} (clocks jump forward); ` +
      `the scheduler fired once at the shifted wall time ${shifted} instead`;
    return [{ code: "dst-skipped-time", level: "note", message }];
  }
  if (resolved.kind === "once") return [];
  const fired = isRoundTheClock(hours)
    ? "the schedule is due in every hour of the day and fired on both occurrences"
    : "the schedule fired on the first occurrence only";
  const message = `${moment("occurred twice")} (clocks fall back); ${fired}`;
  return [{ code: "dst-repeated-time", level: "note", message }];
}

function paused({ paused }: WhyJob): Finding[] {
  if (paused === null) return [];
  const note = paused.note === null || paused.note === "" ? "" : `: ${paused.note}`;
  const message = `job is paused until ${paused.until} (by ${paused.by})${note}`;
  return [{ code: "paused", level: "note", message }];
}

/** The answer in one line. */
export function verdict(why: Why): string {
  if (why.reboot)
    return `job '${why.job}' is @reboot: it runs once when the daemon starts and never fires on a timetable`;
  if (!why.matches) {
    const matched = why.checks.filter((check) => check.matched).map(({ field }) => field);
    const unmet = why.checks
      .filter((check) => !check.matched)
      .map(({ field, label, allowed }) => `${field} ${label} is not in ${allowed}`);
    const disabled = why.enabled ? "" : " (the job is also disabled)";
    const good = matched.length === 0 ? "" : `${sentenceList(matched)} matched; `;
    return `NO: ${good}${unmet.join("; ")}${disabled}`;
  }
  const changes = why.notes
    .filter(({ code }) => code.startsWith("dst-"))
    .map(({ message }) => `; BUT ${message}`)
    .join("");
  const end = why.enabled
    ? "; if no run is on record (cron_list_runs), look at execution, not the schedule: daemon downtime, " +
      "concurrencyPolicy, or cluster leadership"
    : ", but the job is disabled, so it did not launch";
  return `YES: the schedule of job '${why.job}' selects ${why.at_in_zone}${changes}${end}`;
}
