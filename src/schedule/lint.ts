import { dateText, timeText } from "./civil.ts";
import { comingChanges } from "./clock-changes.ts";
import { columnTexts } from "./columns.ts";
import type { Schedule } from "./expression.ts";
import { type FieldLabel, year } from "./fields.ts";
import { nextFire } from "./fires.ts";
import { firstLabelFrom } from "./labels.ts";
import { isRoundTheClock, takesAllMonthDays, takesAllWeekdays } from "./parts.ts";
import { atOrAfter, has, members } from "./value-set.ts";
import { monthName, sentenceList } from "./wording.ts";
import type { Zone } from "./zone.ts";

/** Something about an accepted schedule that its author may not expect. It is told, and never stops anything. */
export interface Finding {
  readonly code: string;
  readonly level: "warning" | "note";
  readonly message: string;
}

/**
 * What the linter has to say about a schedule (section 9), in the order of its table.
 *
 * @param zone the rules about clock changes are for zones named by the user: not for the default, not for the local one
 * @param nowMs milliseconds since 1970; "dead" and the dates of clock changes depend on it
 */
export function lint(schedule: Schedule, zone: Zone, nowMs: number): Finding[] {
  const isDead = nextFire(schedule, zone, nowMs) === null;
  return [
    ...hashedSlot(schedule),
    ...(isDead ? [neverFires(schedule, zone)] : []),
    ...dayFields(schedule),
    ...unevenSteps(schedule),
    ...(isDead ? [] : monthsMissed(schedule)),
    ...(isDead ? [] : clockChanges(schedule, zone, nowMs)),
  ];
}

function hashedSlot({ source, resolved }: Schedule): Finding[] {
  if (source === resolved) return [];
  const message =
    `'H' resolves to '${resolved}' for this job: the slot is a stable hash of the job name, ` +
    "so it survives restarts and reloads, but renaming the job re-hashes it";
  return [{ code: "hashed-slot", level: "note", message }];
}

function neverFires(schedule: Schedule, zone: Zone): Finding {
  const hasEnded = schedule.columns > 5 && nextFire(schedule, zone, 0) !== null;
  const message = hasEnded
    ? `the year column ends at ${schedule.years?.at(-1) ?? year.high}, so this schedule will never fire again`
    : "the day, month and weekday fields never all line up on a real date, so this schedule will never fire";
  return { code: "never-fires", level: "warning", message: `no future occurrence: ${message}` };
}

function dayFields({ monthDays, weekDays }: Schedule): Finding[] {
  if (takesAllMonthDays(monthDays) || takesAllWeekdays(weekDays)) return [];
  const message =
    "day-of-month and day-of-week are both restricted, and a day must satisfy BOTH here ('0 0 13 * 5' is Friday " +
    "the 13th); classic Vixie cron fires when either field matches, so a schedule imported from a system crontab " +
    "fires less often than it did there";
  return [{ code: "day-fields-both-restricted", level: "warning", message }];
}

/** What wraps around in each field, and after how many. */
const cycles: ReadonlyMap<FieldLabel, readonly [span: number, unit: string]> = new Map([
  ["second", [60, "second"]],
  ["minute", [60, "minute"]],
  ["hour", [24, "hour"]],
  ["month", [12, "month"]],
  ["day-of-week", [7, "day"]],
]);

function unevenSteps({ source }: Schedule): Finding[] {
  return [...columnTexts(source)].flatMap(([label, text]) =>
    text
      .toLowerCase()
      .split(",")
      .flatMap((item) => unevenStep(label, item)),
  );
}

function unevenStep(label: FieldLabel, item: string): Finding[] {
  const step = Number(/^[*h]\/([0-9]+)$/.exec(item)?.[1] ?? 1);
  if (step < 2) return [];
  if (label === "day-of-month") {
    const message =
      `'${item}' in the day-of-month field restarts at day 1 every month, and month lengths differ, ` +
      "so the interval between runs varies at month boundaries";
    return [{ code: "uneven-step", level: "note", message }];
  }
  const [span, unit] = cycles.get(label) ?? [step, ""];
  if (span % step === 0) return [];
  const gap = span - Math.floor((span - 1) / step) * step;
  const message =
    `'${item}' in the ${label} field: ${step} does not divide the field's span of ${span}, ` +
    `so one interval at the wrap is only ${gap} ${unit}${gap === 1 ? "" : "s"}`;
  return [{ code: "uneven-step", level: "warning", message }];
}

const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Months that no selected day ever lies in, whatever their weekdays. */
function monthsMissed({ monthDays, months }: Schedule): Finding[] {
  const { plain, beforeLast, nearestWeekdayTo, lastWeekday } = monthDays;
  if (has(beforeLast, 0) || lastWeekday || takesAllMonthDays(monthDays)) return [];
  const days = [atOrAfter(plain, 1), atOrAfter(nearestWeekdayTo, 1)].filter((day) => day > 0);
  const day = days.length === 0 ? null : Math.min(...days);
  const offset = members(beforeLast)[0] ?? null;
  const reaches = (length: number) => (day !== null && day <= length) || (offset !== null && offset < length);
  const missed = members(months).filter((month) => !reaches(longestMonths[month - 1] ?? 0));
  const findings: Finding[] = [];
  if (missed.length > 0) {
    const reasons = [
      ...(day === null ? [] : [`the smallest selected day of month is ${day}`]),
      ...(offset === null ? [] : [`the smallest 'L-' offset counts back ${offset} days`]),
    ].join(" and ");
    const skipped = missed.length === 1 ? "that month is skipped entirely" : "those months are skipped entirely";
    const message = `${reasons}, which never lands in ${sentenceList(missed.map(monthName))}; ${skipped}`;
    findings.push({ code: "skipped-months", level: "warning", message });
  }
  if (has(months, 2) && reaches(29) && !reaches(28)) {
    const message =
      "in February only the leap 29th makes the selected days land, so February runs occur only in leap years";
    findings.push({ code: "leap-day-only", level: "note", message });
  }
  return findings;
}

/** At most this many changes are told: one year has two. */
const changesToldMax = 2;

/** For schedules that do not run round the clock: those keep their rhythm, and nothing is shifted or left out. */
function clockChanges(schedule: Schedule, zone: Zone, nowMs: number): Finding[] {
  if (zone.label !== zone.name || isRoundTheClock(schedule.hours)) return [];
  const findings: Finding[] = [];
  for (const { kind, firstLabel, endLabel } of comingChanges(zone, nowMs)) {
    const label = firstLabelFrom(schedule, firstLabel);
    if (label >= endLabel || findings.length === changesToldMax) continue;
    const moment = `on ${dateText(label)} the wall time ${timeText(label).slice(0, 5)}`;
    findings.push(
      kind === "skipped"
        ? {
            code: "dst-skipped-time",
            level: "note",
            message:
              `${moment} does not exist in ${zone.label} (clocks jump forward); ` +
              "that run fires at the shifted wall time instead of being skipped",
          }
        : {
            code: "dst-repeated-time",
            level: "note",
            message:
              `${moment} occurs twice in ${zone.label} (clocks fall back); ` +
              "the run fires on the first occurrence only",
          },
    );
  }
  return findings;
}
